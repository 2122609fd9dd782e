// Modules of a recording.
#include "analysis/binaries.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "symbols/dwarf_index.h"
#include "symbols/elf_file.h"
#include "symbols/split_files.h"

namespace cacheline::analysis {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// Why the file at `path` is not the one that was recorded; empty where size and time agree or nobody knows.
std::string changeSince(const std::string& path, const RecordedBinary& recorded) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return {};  // Module::open says why
  if (static_cast<uint64_t>(st.st_size) != recorded.size)
    return "it has " + std::to_string(st.st_size) + " bytes, and had " + std::to_string(recorded.size) +
           " when it was recorded";
  const int64_t mtime = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  if (mtime != recorded.mtimeNs) return "it was modified after the recording, and it has no build id";
  return {};
}

/// The machines that run each other's programs: x86_64 those of i386, aarch64 those of arm. Empty: unknown.
std::string_view family(std::string_view arch) {
  if (arch == "x86_64" || (arch.size() == 4 && arch[0] == 'i' && arch.ends_with("86"))) return "x86";
  if (arch.starts_with("aarch64") || arch.starts_with("arm")) return "arm";
  for (const std::string_view name : {"ppc", "s390", "mips", "riscv", "loongarch"})
    if (arch.starts_with(name)) return name;
  return {};
}

/// Where debug information of a module continues that was not found, as a sentence; empty: nowhere.
std::string missingParts(symbols::Module& module) {
  symbols::DwarfIndex* dwarf = module.dwarf();
  if (dwarf == nullptr) return {};
  if (!dwarf->missingSupplement().name.empty()) return module.detail();
  const std::vector<symbols::MissingSplit>& split = dwarf->splitUnits().missing();
  if (split.empty()) return {};
  const auto [what, next] = symbols::splitProblem(module.file(), split);
  return what + " " + next;
}

const char* languageText(symbols::Language language) {
  if (language == symbols::Language::rust) return "Rust";
  return language == symbols::Language::c ? "C" : "C++";
}

/// Of code without types, how it is built with them; empty: there is none. The Go compiler always writes
/// them.
std::string withoutTypes(symbols::Module& module) {
  using symbols::Language;
  symbols::DwarfIndex* dwarf = module.dwarf();
  if (dwarf == nullptr) return {};
  std::string text;
  for (const Language language : dwarf->units().languagesWithoutTypes()) {
    if (language == Language::go) continue;
    text += std::string(text.empty() ? "" : " ") + "The debug information of " + languageText(language) +
            " code has no types, so no members are named: ";
    text += language == Language::rust
                ? "build it with `debug = 2` in the profile of Cargo.toml (rustc: `-C debuginfo=2`)."
                : "compile it with -g instead of -g1 or -gline-tables-only.";
  }
  return text;
}

}  // namespace

Binaries::Binaries(const perfdata::Features& features, const Meta& meta, symbols::SymbolOptions options,
                   std::shared_ptr<KeptBinaries> kept)
    : meta_(meta), arch_(features.arch), search_(std::move(options)), kept_(std::move(kept)) {
  for (const perfdata::BuildIdEntry& entry : features.buildIds)
    if (!entry.kernel) buildIds_.try_emplace(entry.path, entry.buildId);
}

uint32_t Binaries::of(const Backing& backing) {
  if (!backing.namesFile()) return kNone;
  Entry entry;
  entry.path = backing.name;
  if (entry.path.ends_with(kDeleted)) {
    entry.deleted = true;
    entry.path.resize(entry.path.size() - kDeleted.size());
  }
  entry.buildId = backing.buildId;
  if (entry.buildId.empty()) {
    auto known = buildIds_.find(backing.name);
    if (known == buildIds_.end()) known = buildIds_.find(entry.path);
    if (known != buildIds_.end())
      entry.buildId = known->second;
    else if (const RecordedBinary* recorded = meta_.find(entry.path))
      entry.buildId = recorded->buildId;
  }
  std::string key = entry.path;
  key.append(1, '\0').append(entry.buildId).append(entry.deleted ? "d" : "");
  entry.key = key;
  const auto [it, added] = index_.try_emplace(std::move(key), static_cast<uint32_t>(entries_.size()));
  if (added) entries_.push_back(std::move(entry));
  return it->second;
}

uint32_t Binaries::adopt(std::shared_ptr<symbols::Module> module, const std::string& name) {
  Entry entry;
  entry.path = module->file();
  entry.adoptedAs = name;
  entry.module = std::move(module);
  entries_.push_back(std::move(entry));
  return static_cast<uint32_t>(entries_.size() - 1);
}

/// A file of another mount namespace: seen from here as long as the process lives, and taken only with its
/// build id.
std::shared_ptr<symbols::Module> Binaries::openForeign(const Entry& entry, const std::string& root) {
  symbols::FoundBinary found;
  if (!entry.buildId.empty()) found = search_.binary(entry.path, entry.buildId);
  if (!found.image && !entry.buildId.empty()) found = search_.binary(root + entry.path, entry.buildId);
  if (!found.image)
    found.detail =
        "it is a file of another mount namespace (a container), and " +
        (entry.buildId.empty() ? "it has no build id to identify it"
                               : "it can no longer be reached under " + root) +
        ". Copy the container's files and give their folder (--symfs), or make the report while the "
        "process runs.";
  return symbols::Module::of(entry.path, std::move(found), search_);
}

std::shared_ptr<symbols::Module> Binaries::open(const Entry& entry) {
  if (const RecordedBinary* recorded = meta_.find(entry.path);
      recorded != nullptr && !recorded->root.empty() && search_.options().symfs.empty())
    return openForeign(entry, recorded->root);
  // A folder given by the user (symfs) holds the recorded files: times and deletions here say nothing of
  // them.
  if (entry.buildId.empty() && search_.options().symfs.empty()) {
    if (entry.deleted)
      return symbols::Module::changed(
          entry.path, "it was deleted or replaced while the program ran, and it has no build id");
    if (const RecordedBinary* recorded = meta_.find(entry.path))
      if (const std::string why = changeSince(entry.path, *recorded); !why.empty())
        return symbols::Module::changed(entry.path, why);
  }
  auto module = symbols::Module::open(entry.path, entry.buildId, search_);
  if (!entry.buildId.empty() || module->image() == nullptr) return module;
  const symbols::ElfImage& image = *module->image();
  const std::string_view recorded = family(arch_);
  const std::string_view here = family(symbols::machineName(image.machine()));
  if (recorded.empty() || here.empty() || recorded == here) return module;
  return symbols::Module::changed(entry.path, "it is a program for " + symbols::machineName(image.machine()) +
                                                  ", but the recording was made on " + arch_);
}

const std::shared_ptr<symbols::Module>& Binaries::share(uint32_t binary) {
  Entry& entry = entries_[binary];
  if (entry.module != nullptr) return entry.module;
  KeptBinary* known = kept(binary);
  if (known != nullptr) entry.module = known->module;
  if (entry.module != nullptr) return entry.module;
  entry.module = open(entry);
  if (known != nullptr && entry.module->image() != nullptr) {
    known->module = entry.module;
    kept_->countOpened();
  }
  return entry.module;
}

KeptBinary* Binaries::kept(uint32_t binary) {
  const std::string& key = entries_[binary].key;
  return kept_ == nullptr || key.empty() ? nullptr : &kept_->of(key);
}

const symbols::ElfImage* Binaries::codeImage(uint32_t binary) {
  const symbols::ElfImage* elf = image(binary);
  return elf != nullptr && elf->machine() == EM_X86_64 && !elf->isDebugOnly() ? elf : nullptr;
}

bool Binaries::elfAddress(uint32_t binary, uint64_t fileOffset, uint64_t& address) {
  const symbols::ElfImage* elf = image(binary);
  if (elf == nullptr) return false;
  const auto found = elf->addressOfFileOffset(fileOffset);
  if (found) address = *found;
  return found.has_value();
}

std::string Binaries::baseName(uint32_t binary) const {
  if (!entries_[binary].adoptedAs.empty()) return entries_[binary].adoptedAs;
  const std::string& path = entries_[binary].path;
  return path.substr(path.rfind('/') + 1);
}

std::vector<uint32_t> Binaries::used() const {
  std::vector<uint32_t> list;
  for (uint32_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].adoptedAs.empty() && (entries_[i].samples > 0 || entries_[i].data)) list.push_back(i);
  std::sort(list.begin(), list.end(), [this](uint32_t a, uint32_t b) {
    return std::tie(entries_[a].path, entries_[a].buildId) < std::tie(entries_[b].path, entries_[b].buildId);
  });
  return list;
}

std::vector<BinaryState> Binaries::states() {
  std::vector<BinaryState> states;
  for (const uint32_t i : used()) {
    symbols::Module& m = module(i);
    const symbols::ElfImage* elf = m.image();
    const std::string buildId =
        entries_[i].buildId.empty() && elf != nullptr ? elf->buildId() : entries_[i].buildId;
    states.push_back({entries_[i].path, buildId, moduleStatusName(m.status()), m.detail()});
  }
  return states;
}

std::vector<std::string> Binaries::warnings(uint64_t total) {
  std::vector<std::string> list;
  for (const uint32_t i : used()) {
    const symbols::ModuleStatus status = module(i).status();
    const uint64_t samples = entries_[i].samples;
    // A changed binary hides the names of its variables even where none of its code was sampled; what has no
    // debug information (the C library, usually) matters from one sample in a hundred on.
    const bool matters =
        status == symbols::ModuleStatus::changed || samples * 100 >= std::max<uint64_t>(total, 1);
    std::string missing = matters ? missingParts(module(i)) : std::string();
    if (matters && missing.empty()) missing = withoutTypes(module(i));
    if (!matters || (status == symbols::ModuleStatus::ok && missing.empty())) continue;
    const std::string& detail = missing.empty() ? module(i).detail() : missing;
    std::string text =
        entries_[i].path + ": " + (missing.empty() ? moduleStatusName(status) : "names are missing");
    if (!detail.empty()) text += " (" + detail + ")";
    text +=
        "; " + std::to_string(samples) + (samples == 1 ? " sample was" : " samples were") + " taken in it";
    list.push_back(std::move(text));
  }
  return list;
}

}  // namespace cacheline::analysis
