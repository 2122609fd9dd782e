// The cache may be missing, old, broken or read-only: an index is then built as if there were none.
#include "layouts/type_index_cache.h"

#include <gelf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "types/raw_entry.h"
#include "types/type_reader.h"

namespace cacheline::layouts {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "cacheline types";
constexpr uint32_t kVersion = 10;
constexpr uint64_t kWorthKeeping = 1 << 18;  ///< bytes of debug information; less is read faster than found
constexpr size_t kMostKept = 64;             ///< files in the folder

class Writer {
 public:
  template <typename T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes.append(value);
  }
  void die(const types::DieReference& die) {
    number(static_cast<uint8_t>(die.section));
    number(die.skeleton);
    number(die.offset);
  }
  std::string bytes;
};

/// Reads what Writer wrote; past the end everything is 0 and `good` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    T value{};
    if (bytes_.size() < sizeof value) {
      good = false;
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<uint32_t>();
    if (size > bytes_.size()) good = false;
    if (!good) return {};
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  types::DieReference die() {
    types::DieReference die;
    const auto section = number<uint8_t>();
    good = good && section <= static_cast<uint8_t>(types::DieReference::Section::supplement);
    die.section = static_cast<types::DieReference::Section>(section);
    die.skeleton = number<uint64_t>();
    die.offset = number<uint64_t>();
    return die;
  }
  /// Calls `each` as often as the count that is next says; every record takes at least four bytes.
  template <typename Each>
  void list(Each&& each) {
    const auto count = number<uint32_t>();
    if (count > bytes_.size() / 4) good = false;
    for (uint32_t i = 0; i < count && good; i++) each();
  }
  std::string_view rest() const { return bytes_; }
  bool good = true;

 private:
  std::string_view bytes_;
};

/// Every build of a program has an index of its own: the oldest go.
void prune(const std::string& folder) {
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.is_regular_file(ec)) files.emplace_back(entry.last_write_time(ec), entry.path());
  if (files.size() <= kMostKept) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i < files.size() - kMostKept; i++) fs::remove(files[i].second, ec);
}

}  // namespace

std::string typeIndexFolder() {
  const std::string folder = cacheFolder();
  return folder.empty() ? folder : folder + "/types";
}

DebugSections debugSections(Dwarf* dwarf) {
  DebugSections found;
  Elf* elf = dwarf_getelf(dwarf);
  size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return found;
  std::string text;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strstr(name, "debug_") == nullptr) continue;
    text += std::string(name) + " " + std::to_string(header.sh_size) + "\n";
    const std::string_view plain(name);
    if (plain.ends_with("debug_info") || plain.ends_with("debug_types")) found.debugBytes += header.sh_size;
  }
  found.fingerprint = mix(types::kHashStart, text);
  return found;
}

std::string writeTypeIndex(const TypeIndex& index, uint64_t fingerprint) {
  Writer body;
  const auto count = [&](size_t size) { body.number(static_cast<uint32_t>(size)); };
  count(index.files.size());
  for (const std::string& file : index.files) body.text(file);
  count(index.types.size());
  for (const IndexedType& type : index.types) {
    body.text(type.name);
    body.number(type.file);
    body.number(type.line);
    body.number(static_cast<uint8_t>(type.kind));
    body.number(static_cast<uint8_t>(type.variants));
    body.number(type.size);
    body.number(type.hash);
    body.die(type.die);
  }
  count(index.declared.size());
  for (const std::string& name : index.declared) body.text(name);
  count(index.variables.size());
  for (const IndexedVariable& variable : index.variables) {
    body.number(variable.file);
    body.number(variable.line);
    body.die(variable.die);
  }
  count(index.units.size());
  for (const IndexedUnit& unit : index.units) {
    body.number(unit.file);
    body.die(unit.die);
  }
  Writer whole;
  whole.text(kMagic);
  whole.number(kVersion);
  whole.number(fingerprint);
  whole.number(mix(types::kHashStart, body.bytes));
  return whole.bytes + body.bytes;
}

std::optional<TypeIndex> readTypeIndex(std::string_view bytes, uint64_t fingerprint) {
  Reader reader(bytes);
  if (reader.text() != kMagic || reader.number<uint32_t>() != kVersion ||
      reader.number<uint64_t>() != fingerprint)
    return std::nullopt;
  const auto hash = reader.number<uint64_t>();
  if (!reader.good || hash != mix(types::kHashStart, reader.rest())) return std::nullopt;
  TypeIndex index;
  const auto file = [&] {
    const auto id = reader.number<uint32_t>();
    if (id >= index.files.size()) reader.good = false;
    return id;
  };
  reader.list([&] { index.files.push_back(reader.text()); });
  reader.list([&] {
    IndexedType type;
    type.name = reader.text();
    type.file = file();
    type.line = reader.number<uint32_t>();
    type.kind = static_cast<types::Kind>(reader.number<uint8_t>());
    type.variants = reader.number<uint8_t>() != 0;
    type.size = reader.number<uint64_t>();
    type.hash = reader.number<uint64_t>();
    type.die = reader.die();
    // The search by name needs them in order.
    reader.good = reader.good && types::isAggregate(type.kind) &&
                  (index.types.empty() || index.types.back().name <= type.name);
    index.types.push_back(std::move(type));
  });
  reader.list([&] { index.declared.push_back(reader.text()); });
  reader.list([&] {
    IndexedVariable variable;
    variable.file = file();
    variable.line = reader.number<uint32_t>();
    variable.die = reader.die();
    index.variables.push_back(variable);
  });
  reader.list([&] {
    IndexedUnit unit;
    unit.file = file();
    unit.die = reader.die();
    index.units.push_back(unit);
  });
  if (!reader.good || !reader.rest().empty() || index.files.empty()) return std::nullopt;
  return index;
}

TypeIndex typeIndexOf(symbols::DwarfIndex& file, const std::string& buildId) {
  const std::string folder = typeIndexFolder();
  const DebugSections sections = debugSections(file.handle());
  const bool plain = std::all_of(buildId.begin(), buildId.end(),
                                 [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  if (buildId.empty() || !plain || folder.empty() || sections.debugBytes < kWorthKeeping)
    return buildTypeIndex(file);
  const std::string path = folder + "/" + buildId;
  try {
    const MappedFile kept = MappedFile::open(path);
    const std::string_view bytes(reinterpret_cast<const char*>(kept.bytes().data()), kept.bytes().size());
    if (auto index = readTypeIndex(bytes, sections.fingerprint)) return std::move(*index);
  } catch (const Error&) {
    // Not there yet, or not ours to read.
  }
  TypeIndex index = buildTypeIndex(file);
  if (index.missing.empty()) {
    try {
      keepFile(path, writeTypeIndex(index, sections.fingerprint));
    } catch (const Error&) {
      // It is built again the next time.
    }
    prune(folder);
  }
  return index;
}

}  // namespace cacheline::layouts
