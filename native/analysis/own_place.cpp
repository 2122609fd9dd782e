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

constexpr std::string_view kRustSources = "/rustlib/src/rust/library/";

constexpr std::array<std::string_view, 3> kSystem{"/usr/include/", "/usr/lib/", "/usr/local/include/"};

bool isSystemSource(std::string_view file) {
  return std::ranges::any_of(kSystem, [&](std::string_view folder) { return file.starts_with(folder); });
}

/// Of the C library, the kernel's interface and C++: in folders of their own, also below that of an
/// architecture
/// (`x86_64-linux-gnu`).
bool isOfC(std::string_view file) {
  constexpr std::array<std::string_view, 7> kFolders{"bits", "sys",         "gnu", "linux",
                                                     "asm",  "asm-generic", "c++"};
  constexpr std::string_view kInclude = "/include/";
  if (!isSystemSource(file)) return false;
  const size_t at = file.find(kInclude);
  if (at == std::string_view::npos) return false;
  file.remove_prefix(at + kInclude.size());
  std::string_view folder = file.substr(0, file.find('/'));
  if (has(folder, "-linux-") && folder.size() < file.size()) {
    file.remove_prefix(folder.size() + 1);
    folder = file.substr(0, file.find('/'));
  }
  return folder.size() < file.size() && std::ranges::find(kFolders, folder) != kFolders.end();
}

}  // namespace

bool isLanguageSource(std::string_view file) {
  constexpr std::array<std::string_view, 4> kFolders{"/include/c++/", "/lib/gcc/", "/lib/clang/",
                                                     kRustSources};
  return isOfC(file) || isBelowRustCommit(file) || isGoLibrary(file) ||
         std::ranges::any_of(kFolders, [&](std::string_view folder) { return has(file, folder); });
}

bool isForeignSource(std::string_view file) {
  constexpr std::array<std::string_view, 6> kOthers{kRustSources,   "/.cargo/registry/", "/cargo/registry/",
                                                    "/.cargo/git/", "/cargo/git/",       "/pkg/mod/"};
  return isSystemSource(file) ||
         std::ranges::any_of(kOthers, [&](std::string_view folder) { return has(file, folder); }) ||
         isBelowRustCommit(file) || isGoLibrary(file);
}

const std::string& ownFunction(const CodeName& code) {
  if (code.inlined.empty() || !isForeignSource(code.inlined.back().file)) return code.symbol;
  for (auto frame = code.inlined.rbegin(); frame != code.inlined.rend(); ++frame) {
    if (frame->file.empty() || isForeignSource(frame->file)) continue;
    return frame->function.empty() ? code.symbol : frame->function;
  }
  return code.symbol;
}

}  // namespace cacheline::analysis
