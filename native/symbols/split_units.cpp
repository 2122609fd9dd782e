// libdw finds the files and opens them; it gets another one where it would leave out a part.
#include "symbols/split_units.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "symbols/die.h"
#include "symbols/joined_sections.h"
#include "symbols/raw_sections.h"
#include "symbols/symbol_search.h"

namespace cacheline::symbols {
namespace {

namespace fs = std::filesystem;

/// As the compiler wrote it.
std::string splitName(Dwarf_Die& skeleton) {
  for (const unsigned attribute : {DW_AT_dwo_name, DW_AT_GNU_dwo_name})
    if (const char* name = stringAttribute(skeleton, attribute)) return name;
  return "(unnamed)";
}

/// The ids of the units of a file that skeletons may continue in.
std::unordered_set<uint64_t> unitIds(int file) {
  std::unordered_set<uint64_t> ids;
  const DwarfHandle dwarf(dwarf_begin(file, DWARF_C_READ));
  Dwarf_CU* cu = nullptr;
  uint8_t kind = 0;
  uint64_t id = 0;
  while (dwarf != nullptr && dwarf_get_units(dwarf.get(), cu, &cu, nullptr, &kind, nullptr, nullptr) == 0)
    if (kind == DW_UT_split_compile &&
        dwarf_cu_info(cu, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr) == 0)
      ids.insert(id);
  return ids;
}

/// As a rule libelf maps files privately and for reading: pages that are changed become this process's own.
/// What it read or inflated is writable already.
bool makeWritable(std::span<uint8_t> place) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(place.data()) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(place.data() + place.size());
  return ::mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) == 0;
}

/// Whether more than one section has these bytes of an open file, which is a lie.
bool isShared(Elf* elf, Bytes bytes) {
  int owners = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const auto* begin = static_cast<const uint8_t*>(data->d_buf);
    owners += begin < bytes.data() + bytes.size() && bytes.data() < begin + data->d_size ? 1 : 0;
  }
  return owners != 1;
}

/// Makes a skeleton name another file while this lives: libdw opens the file of that name itself, and has no
/// other way to be given one. The name is written over the first strings of .debug_str.
class OtherName {
 public:
  OtherName(Dwarf_Die& skeleton, const std::string& name) {
    Dwarf_Attribute attribute;
    Dwarf_Die unit;
    uint8_t offsetSize = 0;
    if (dwarf_attr(&skeleton, DW_AT_dwo_name, &attribute) == nullptr &&
        dwarf_attr(&skeleton, DW_AT_GNU_dwo_name, &attribute) == nullptr)
      return;
    Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(skeleton.cu));
    const Bytes strings = plainSection(elf, ".debug_str");
    const auto* now = reinterpret_cast<const uint8_t*>(dwarf_formstring(&attribute));
    if (dwarf_whatform(&attribute) != DW_FORM_strp || now < strings.data() ||
        now >= strings.data() + strings.size() || name.size() >= strings.size() || isShared(elf, strings) ||
        dwarf_diecu(&skeleton, &unit, nullptr, &offsetSize) == nullptr ||
        roomBehind(elf, attribute.valp) < offsetSize)
      return;
    const std::span<uint8_t> offset{attribute.valp, offsetSize};
    const std::span<uint8_t> first{const_cast<uint8_t*>(strings.data()), name.size() + 1};
    if (!makeWritable(offset) || !makeWritable(first)) return;
    for (const auto place : {offset, first})
      before_.emplace_back(place, std::vector<uint8_t>(place.begin(), place.end()));
    std::fill(offset.begin(), offset.end(), uint8_t{0});
    std::copy_n(name.c_str(), first.size(), first.begin());
  }
  ~OtherName() {
    for (const auto& [place, bytes] : before_) std::copy(bytes.begin(), bytes.end(), place.begin());
  }
  OtherName(const OtherName&) = delete;
  OtherName& operator=(const OtherName&) = delete;
  explicit operator bool() const { return !before_.empty(); }

 private:
  std::vector<std::pair<std::span<uint8_t>, std::vector<uint8_t>>> before_;
};

}  // namespace

/// Where libdw looks: from the binary's folder on, then from the compiler's.
std::vector<std::string> SplitUnits::pathsOf(Dwarf_Die& skeleton, const std::string& name) const {
  std::error_code error;
  const fs::path folder = fs::canonical(binary_, error).parent_path();
  const char* compilationDir = stringAttribute(skeleton, DW_AT_comp_dir);
  const fs::path first = folder / name,
                 second = folder / (compilationDir != nullptr ? compilationDir : "") / name;
  if (first == second || fs::equivalent(first, second, error)) return {first};
  return {first, second};
}

/// What is known of a file is not asked again for the next skeleton: that may take long.
SplitUnits::SplitFile& SplitUnits::fileOf(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) file = {};
  return files_[{file.st_dev, file.st_ino}];
}

JoinedSections SplitUnits::joinOnce(const std::string& path, uint64_t& left) {
  SplitFile& file = fileOf(path);
  if (file.unjoinable) return {true, {}};
  JoinedSections joined = joinSections(path, left);
  file.unjoinable = joined.needed && !joined.file;
  return joined;
}

/// One of two may be left over from another build.
JoinedSections SplitUnits::join(const std::vector<std::string>& paths, uint64_t id) {
  if (paths.size() == 1) return joinOnce(paths.front(), left_);
  JoinedSections none;
  for (const std::string& path : paths) {
    SplitFile& file = fileOf(path);
    if (!file.ids || file.ids->contains(id)) {
      uint64_t left = left_;
      JoinedSections joined = joinOnce(path, left);
      const UniqueFd plain(joined.file ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!file.ids) file.ids = unitIds(joined.file ? joined.file.get() : plain.get());
      if (file.ids->contains(id)) {
        left_ = left;
        return joined;
      }
    }
    none.needed |= file.unjoinable;  // it may be there
  }
  return none;
}

/// Of two places the one where something is says more.
MissingSplit SplitUnits::whyMissing(const std::string& name, const std::vector<std::string>& named,
                                    uint64_t id) {
  MissingSplit missing{name};
  for (const std::string& path : named) {
    missing.why = whyUnreadable(path, missing.detail);
    if (missing.why == MissingSplit::Why::notFound) continue;
    if (missing.why != MissingSplit::Why::damaged) break;
    SplitFile& file = fileOf(path);
    const UniqueFd plain(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.ids) file.ids = unitIds(plain.get());
    if (!file.ids->empty() && !file.ids->contains(id)) missing.why = MissingSplit::Why::otherBuild;
    break;
  }
  return missing;
}

std::optional<Dwarf_Die> SplitUnits::of(const Dwarf_Die& skeleton) {
  if (skeleton.cu == nullptr || dwarf_cu_getdwarf(skeleton.cu) != file_) return std::nullopt;
  const auto [known, isNew] = known_.try_emplace(skeleton.cu);
  Dwarf_Die root{}, split{};
  uint8_t kind = 0;
  uint64_t id = 0;
  if (!isNew || dwarf_cu_info(skeleton.cu, nullptr, &kind, &root, nullptr, &id, nullptr, nullptr) != 0 ||
      kind != DW_UT_skeleton)
    return known->second;
  const std::string name = splitName(root);
  const std::vector<std::string> named = pathsOf(root, name);
  std::vector<std::string> files = named;
  std::erase_if(files, [](const std::string& path) { return !isRegularFile(path); });
  JoinedSections joined = join(files, id);
  bool mayOpen = std::none_of(named.begin(), named.end(), mayBlock);
  if (!mayOpen && !joined.file && !files.empty())
    joined.file = UniqueFd(::open(files.front().c_str(), O_RDONLY | O_CLOEXEC));
  std::optional<OtherName> other;
  if (joined.file) other.emplace(root, "/dev/fd/" + std::to_string(joined.file.get()));
  mayOpen |= other && *other;
  // elfutils that reads packages looks there first.
  if (mayOpen && !mayBlock(binary_ + ".dwp") &&
      dwarf_cu_info(skeleton.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      split.addr != nullptr)
    known->second = split;
  const bool whole = !joined.needed || (other && *other);
  if (!whole)
    missing_.push_back({name, MissingSplit::Why::typeSections});
  else if (!known->second)
    missing_.push_back(whyMissing(name, named, id));
  return known->second;
}

}  // namespace cacheline::symbols
