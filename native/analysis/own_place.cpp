// The places of sources, by their paths.
#include "analysis/own_place.h"

#include <algorithm>
#include <array>

namespace cacheline::analysis {

namespace {

constexpr std::string_view kDigits = "0123456789";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "/rustc/COMMIT/library/", as rustc writes its own sources' paths.
bool isBelowRustCommit(std::string_view file) {
  constexpr std::string_view kFolder = "/rustc/";
  for (size_t at = file.find(kFolder); at != std::string_view::npos; at = file.find(kFolder, at + 1)) {
    const std::string_view below = file.substr(at + kFolder.size());
    const size_t end = below.find_first_not_of("0123456789abcdef");
    if (end != 0 && end != std::string_view::npos && below.substr(end).starts_with("/library/")) return true;
  }
  return false;
}

/// `go`, `go1.26`, `go-1.19`, `gotip`, `goroot`, Bazel's `go_sdk`.
bool isGoFolder(std::string_view name) {
  if (name == "gotip" || name == "goroot" || name == "go_sdk") return true;
  if (!name.starts_with("go")) return false;
  name.remove_prefix(2);
  if (name.empty()) return true;
  if (name[0] == '-' || name[0] == '.') name.remove_prefix(1);
  return !name.empty() && kDigits.find(name[0]) != std::string_view::npos;
}

bool isGoPackage(std::string_view path) {
  if (path.starts_with("runtime/") || path.starts_with("sync/")) return true;
  constexpr std::string_view kInternal = "internal/";
  if (!path.starts_with(kInternal)) return false;
  const size_t slash = path.find('/', kInternal.size());
  return slash != std::string_view::npos && slash > kInternal.size();
}

/// Go's own sources, also as `-trimpath` writes them.
bool isGoLibrary(std::string_view file) {
  if (!file.ends_with(".go") && !file.ends_with(".s")) return false;
  if (isGoPackage(file)) return true;
  constexpr std::string_view kSources = "/src/";
  for (size_t at = file.find(kSources); at != std::string_view::npos; at = file.find(kSources, at + 1)) {
    if (!isGoPackage(file.substr(at + kSources.size()))) continue;
    const size_t slash = file.substr(0, at).rfind('/');
    if (slash != std::string_view::npos && isGoFolder(file.substr(slash + 1, at - slash - 1))) return true;
  }
  return false;
}

/// libstdc++ and libc++, wherever a toolchain is: `/usr/include/c++/14/`, `/opt/llvm/include/c++/v1/`.
bool isCppLibrary(std::string_view file) {
  constexpr std::string_view kFolder = "/include/c++/";
  const size_t at = file.find(kFolder);
  if (at == std::string_view::npos) return false;
  std::string_view version = file.substr(at + kFolder.size());
  if (version.starts_with('v')) version.remove_prefix(1);
  return !version.empty() && kDigits.find(version[0]) != std::string_view::npos;
}

/// Headers of compilers, with the intrinsics, and in folders of their own those of the C library and of the
/// kernel's interface.
bool isOfCompilerOrC(std::string_view file) {
  constexpr std::array<std::string_view, 3> kCompilers{"/usr/lib/gcc", "/usr/lib/llvm", "/usr/lib/clang"};
  if (std::ranges::any_of(kCompilers, [&](std::string_view folder) { return file.starts_with(folder); }))
    return true;
  constexpr std::string_view kHeaders = "/usr/include/";
  if (!file.starts_with(kHeaders)) return false;
  file.remove_prefix(kHeaders.size());
  // Debian has a folder for each kind of machine: x86_64-linux-gnu.
  const size_t slash = file.find('/');
  if (slash != std::string_view::npos && has(file.substr(0, slash), "-linux-")) file.remove_prefix(slash + 1);
  constexpr std::array<std::string_view, 7> kFolders{"bits/", "sys/",         "gnu/", "linux/",
                                                     "asm/",  "asm-generic/", "c++/"};
  return std::ranges::any_of(kFolders, [&](std::string_view folder) { return file.starts_with(folder); });
}

/// Where distributions keep headers of all kinds.
bool isSystemSource(std::string_view file) {
  constexpr std::array<std::string_view, 3> kSystem{"/usr/include/", "/usr/lib/", "/usr/local/include/"};
  return std::ranges::any_of(kSystem, [&](std::string_view folder) { return file.starts_with(folder); });
}

}  // namespace

SourceOwner ownerOf(std::string_view file) {
  constexpr std::array<std::string_view, 5> kPackages{"/.cargo/registry/", "/cargo/registry/", "/.cargo/git/",
                                                      "/cargo/git/", "/pkg/mod/"};
  if (has(file, "/rustlib/src/rust/library/") || isBelowRustCommit(file) || isGoLibrary(file) ||
      isCppLibrary(file) || isOfCompilerOrC(file))
    return SourceOwner::language;
  const bool isPackage =
      std::ranges::any_of(kPackages, [&](std::string_view folder) { return has(file, folder); });
  return isPackage || isSystemSource(file) ? SourceOwner::library : SourceOwner::program;
}

bool isForeignSource(std::string_view file) {
  return ownerOf(file) != SourceOwner::program;
}

}  // namespace cacheline::analysis
