// Whose function it is, by the outermost scope of its name; by its file where a scope is open to everybody.
#include "heap/allocator_frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cacheline::heap {
namespace {

using std::string_view;

/// What allocates, and what starts programs and threads: whole names.
constexpr std::array<string_view, 38> kFunctions{"malloc",
                                                 "calloc",
                                                 "realloc",
                                                 "reallocarray",
                                                 "aligned_alloc",
                                                 "posix_memalign",
                                                 "memalign",
                                                 "valloc",
                                                 "pvalloc",
                                                 "strdup",
                                                 "strndup",
                                                 "__strdup",
                                                 "__strndup",
                                                 "mmap",
                                                 "mmap64",
                                                 "mremap",
                                                 "operator new",
                                                 "operator new[]",
                                                 "__libc_malloc",
                                                 "__libc_calloc",
                                                 "__libc_realloc",
                                                 "_Znwm",
                                                 "_Znam",
                                                 "_ZnwmSt11align_val_t",
                                                 "_ZnamSt11align_val_t",
                                                 "exchange_malloc",
                                                 "__rdl_alloc",
                                                 "__rdl_realloc",
                                                 "__rdl_alloc_zeroed",
                                                 "_start",
                                                 "__libc_start_main",
                                                 "__libc_start_main_impl",
                                                 "__libc_start_call_main",
                                                 "start_thread",
                                                 "thread_start",
                                                 "clone",
                                                 "clone3",
                                                 "execute_native_thread_routine"};

constexpr std::array<string_view, 10> kRuntimes{"libc.so", "libc-2.",      "libpthread", "ld-linux",
                                                "ld-musl", "libstdc++.so", "libc++.so",  "libc++abi.so",
                                                "libstd-", "ld-2."};

constexpr std::array<string_view, 4> kRustCrates{"std", "core", "alloc", "hashbrown"};

template <size_t N>
bool startsWithOneOf(string_view text, const std::array<string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](string_view beginning) { return text.starts_with(beginning); });
}

bool isWordCharacter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Steps over brackets of all kinds.
class Nesting {
 public:
  /// The depth behind text[i].
  size_t step(string_view text, size_t i) {
    const char c = text[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') depth_++;
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (depth_ > 0 && !arrow && (c == '>' || c == ')' || c == ']' || c == '}')) depth_--;
    return depth_;
  }
  size_t depth() const { return depth_; }

 private:
  size_t depth_ = 0;
};

/// The name without its return type and without what begins with its parameters. Of operators that do not
/// allocate, what is before their symbol.
string_view qualifiedName(string_view function) {
  constexpr string_view kOperator = "operator";
  Nesting nesting;
  size_t start = 0;
  for (size_t i = 0; i < function.size(); i++) {
    if (nesting.depth() == 0) {
      const string_view rest = function.substr(i);
      if (rest.starts_with(kOperator) && (i == 0 || !isWordCharacter(function[i - 1])) &&
          (rest.size() == kOperator.size() || !isWordCharacter(rest[kOperator.size()]))) {
        if (rest.starts_with("operator new[]")) return rest.substr(0, 14);
        if (rest.starts_with("operator new")) return rest.substr(0, 12);
        return function.substr(start, i + kOperator.size() - start);
      }
      if (rest[0] == '(' && i > start) return function.substr(start, i - start);
      if (rest[0] == ' ') start = i + 1;
    }
    nesting.step(function, i);
  }
  return function.substr(start);
}

/// Headers and sources of libstdc++ and libc++, wherever they are installed.
bool isCxxLibraryFile(string_view file) {
  static constexpr std::array<string_view, 5> kFolders{"c++", "g++", "libstdc++", "libc++", "libcxx"};
  for (size_t slash = file.find('/'); slash != string_view::npos; slash = file.find('/', slash + 1))
    if (startsWithOneOf(file.substr(slash + 1), kFolders) && file.find('/', slash + 1) != string_view::npos)
      return true;
  return false;
}

bool isRustLibraryFile(string_view file) {
  return file.find("/library/core/") != string_view::npos ||
         file.find("/library/alloc/") != string_view::npos ||
         file.find("/library/std/") != string_view::npos || file.find("/hashbrown-") != string_view::npos;
}

enum class Crate : uint8_t { none, ofLibrary, foreign };

/// Whose a type or trait of Rust is, by its crate; type parameters and primitive types have none.
Crate crateOf(string_view path) {
  for (size_t before = 0; before != path.size();) {
    before = path.size();
    path.remove_prefix(std::min(path.find_first_not_of("&*[(<"), path.size()));
    for (const string_view word : {"mut ", "const ", "dyn "})
      if (path.starts_with(word)) path.remove_prefix(word.size());
  }
  const size_t end = path.find_first_of(":<> ,;)]");
  if (end == string_view::npos || path[end] != ':') return Crate::none;
  const string_view crate = path.substr(0, end);
  const bool known = std::find(kRustCrates.begin(), kRustCrates.end(), crate) != kRustCrates.end();
  return known ? Crate::ofLibrary : Crate::foreign;
}

/// `<Type>::function` and `<Type as Trait>::function`. Who has the trait or the type implements it; for
/// everybody's types the library does, too, in its own files.
bool isRustLibraryImplementation(string_view name, string_view file) {
  Nesting nesting;
  size_t end = 0, as = string_view::npos;
  for (; end < name.size(); end++) {
    if (nesting.step(name, end) == 0) break;
    if (nesting.depth() == 1 && name.substr(end).starts_with(" as ")) as = end;
  }
  const string_view inside = name.substr(1, std::min(as, end) - 1);
  if (as != string_view::npos && crateOf(name.substr(as + 4, end - as - 4)) == Crate::foreign) return false;
  return crateOf(inside) != Crate::foreign || (as != string_view::npos && isRustLibraryFile(file));
}

bool isLibrary(string_view function, string_view name, string_view file) {
  if (name.starts_with('<')) return isRustLibraryImplementation(name, file);
  if (name.starts_with("runtime.") || name.starts_with("__rust")) return true;
  // Programs specialise templates of std (hash, formatter): then the code is in a file of their own.
  const bool rust = file.ends_with(".rs");
  if (name.starts_with("std::") || name.starts_with("__gnu_cxx::"))
    return rust || file.empty() || isCxxLibraryFile(file);
  // Namespaces of C++ may have the names of Rust's crates; but functions of C++ have parameters.
  const bool parameters = name.data() + name.size() != function.data() + function.size();
  return (rust || (file.empty() && !parameters)) && crateOf(name) == Crate::ofLibrary;
}

}  // namespace

FrameKind frameKind(string_view function, string_view file, string_view object) {
  if (object.find("libcacheline_heap.so") != string_view::npos) return FrameKind::allocator;
  if (startsWithOneOf(object.substr(object.rfind('/') + 1), kRuntimes)) return FrameKind::allocator;
  const string_view name = qualifiedName(function);
  if (std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end()) return FrameKind::allocator;
  return isLibrary(function, name, file) ? FrameKind::library : FrameKind::program;
}

}  // namespace cacheline::heap
