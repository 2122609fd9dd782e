// The dynamic loader's search, without the loader.
#include "symbols/linked_files.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

// What loads a library or starts a program. Go's own ways are not the C library's.
constexpr std::string_view kOpeners[] = {
    "dlopen", "dlmopen", "execve",   "execv",       "execvp", "execvpe", "execl",        "execlp",
    "execle", "fexecve", "execveat", "posix_spawn", "system", "popen",   "posix_spawnp", "wordexp"};
constexpr std::string_view kOpenersInside[] = {"execve", "posix_spawn", "syscall.forkExec", "syscall.Exec"};

template <size_t N>
bool isOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

std::string nameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(separators), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The function by which a binary can bring in another one; empty: there is none.
std::string_view openerIn(const ElfFile& file, bool dynamic) {
  for (const ElfSection& table : file.sections) {
    const bool imports = table.header.sh_type == SHT_DYNSYM;
    if ((!imports && table.header.sh_type != SHT_SYMTAB) || table.header.sh_link >= file.sections.size())
      continue;
    for (size_t i = 1, count = file.symbolCount(table); i < count; ++i) {
      const Elf64_Sym symbol = file.symbol(table, i);
      std::string_view name = stringAt(file.sections[table.header.sh_link].bytes, symbol.st_name);
      const bool defined = symbol.st_shndx != SHN_UNDEF;
      if (imports && !defined && isOneOf(name, kOpeners)) return name;
      // The C library defines them without using them; a static program has what it uses.
      if (!imports && defined && isOneOf(name, kOpenersInside) && (!dynamic || name.starts_with("syscall.")))
        return name;
    }
  }
  return {};
}

bool hasTable(const ElfFile& file, uint32_t type) {
  return std::ranges::any_of(file.sections,
                             [type](const ElfSection& section) { return section.header.sh_type == type; });
}

class Loader {
 public:
  explicit Loader(const LoaderSettings& settings) : settings_(settings) {
    for (const std::string& folder : split(settings.libraryPath, ":;"))
      libraryPath_.push_back(fromHere(folder.empty() ? "." : folder));
    try {
      const MappedFile cache = MappedFile::open("/etc/ld.so.cache");
      cache_ = parseLoaderCache(cache.bytes());
    } catch (const Error&) {
      // Without it the default folders are left, and what is not there is said to be missing.
    }
  }

  LinkedFiles run(const std::string& program) {
    if (!add(program, {})) {
      result_.more = nameOf(program) + " is not a readable ELF program";
      return std::move(result_);
    }
    for (const std::string& library : split(settings_.preload, ": ")) need(library, {}, {});
    while (!open_.empty() && result_.more.empty()) {
      const Open next = std::move(open_.front());
      open_.pop_front();
      need(next.name, next.rpath, next.runpath);
    }
    return std::move(result_);
  }

 private:
  using Folders = std::vector<std::string>;
  struct Open {
    std::string name;
    Folders rpath, runpath;  ///< of what needs it; rpath also of what that is needed by
  };

  std::string fromHere(const std::string& path) const {
    return path.starts_with('/') || settings_.workingDirectory.empty()
               ? path
               : settings_.workingDirectory + "/" + path;
  }

  /// With $ORIGIN put in; folders with another $ are left out.
  Folders folders(const std::vector<std::string_view>& lists, const std::string& owner) const {
    Folders found;
    for (const std::string_view list : lists)
      for (std::string folder : split(list, ":")) {
        for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
          if (const size_t at = folder.find(origin); at != std::string::npos)
            folder.replace(at, origin.size(), std::filesystem::path(owner).parent_path().string());
        if (folder.find('$') == std::string::npos) found.push_back(fromHere(folder.empty() ? "." : folder));
      }
    return found;
  }

  /// False where it is no binary for the program's machine.
  bool add(const std::string& path, const Folders& inherited) {
    try {
      const MappedFile mapped = MappedFile::open(path);
      const ElfFile file = ElfFile::parse(mapped.bytes(), path);
      if (machine_ && *machine_ != std::pair(file.header.e_machine, file.format.wide)) return false;
      machine_ = {file.header.e_machine, file.format.wide};
      result_.paths.push_back(path);
      const bool dynamic = result_.paths.size() > 1 || file.hasProgramHeader(PT_INTERP);
      const std::string_view opener = openerIn(file, dynamic);
      if (!opener.empty())
        result_.more = nameOf(path) + " can load or start other binaries (" + std::string(opener) + ")";
      else if (!hasTable(file, dynamic ? SHT_DYNSYM : SHT_SYMTAB))
        result_.more = nameOf(path) + " does not say what it calls";

      const Folders runpath = folders(file.dynamicStrings(DT_RUNPATH), path);
      Folders rpath;
      if (runpath.empty()) {
        rpath = folders(file.dynamicStrings(DT_RPATH), path);
        rpath.insert(rpath.end(), inherited.begin(), inherited.end());
      }
      for (const std::string_view name : file.dynamicStrings(DT_NEEDED))
        open_.push_back({std::string(name), rpath, runpath});
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void need(const std::string& name, const Folders& rpath, const Folders& runpath) {
    if (name.empty() || !seen_.insert(name).second) return;
    if (name.find('/') != std::string::npos) {
      if (!add(fromHere(name), rpath)) missing(name);
      return;
    }
    for (const Folders* list : {&rpath, &std::as_const(libraryPath_), &runpath})
      for (const std::string& folder : *list)
        if (add(folder + "/" + name, rpath)) return;
    for (auto [at, end] = cache_.equal_range(name); at != end; ++at)
      if (add(at->second, rpath)) return;
    for (const char* folder : {"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"})
      if (add(folder + name, rpath)) return;
    missing(name);
  }

  void missing(const std::string& name) {
    result_.more = "its library " + name + " was not found beforehand";
  }

  const LoaderSettings& settings_;
  Folders libraryPath_;
  std::multimap<std::string, std::string> cache_;
  std::optional<std::pair<uint16_t, bool>> machine_;  ///< of the program, and whether it has 64 bits
  std::set<std::string> seen_;
  std::deque<Open> open_;
  LinkedFiles result_;
};

}  // namespace

LinkedFiles linkedFiles(const std::string& program, const LoaderSettings& settings) {
  return Loader(settings).run(program);
}

std::multimap<std::string, std::string> parseLoaderCache(Bytes bytes) {
  // glibc, sysdeps/generic/dl-cache.h: struct cache_file_new and its entries; strings by their offset from
  // the file's beginning.
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr size_t kCount = 20, kEntries = 48, kEntry = 24, kName = 4, kPath = 8;
  const auto wordAt = [&](size_t offset) {
    uint32_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
  };
  std::multimap<std::string, std::string> libraries;
  if (bytes.size() < kEntries || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return libraries;
  const size_t count = std::min<size_t>(wordAt(kCount), (bytes.size() - kEntries) / kEntry);
  for (size_t entry = kEntries; entry < kEntries + count * kEntry; entry += kEntry) {
    const std::string_view name = stringAt(bytes, wordAt(entry + kName));
    const std::string_view path = stringAt(bytes, wordAt(entry + kPath));
    if (!name.empty() && !path.empty()) libraries.emplace(name, path);
  }
  return libraries;
}

}  // namespace cacheline::symbols
