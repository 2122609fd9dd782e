// C++ names through the C++ runtime's own demangler; Rust's legacy scheme, which looks like C++, by hand. Its
// v0 scheme: demangle_rust.h.
#include "symbols/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "symbols/demangle_rust.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

/// The runtime's demangler takes stack in proportion to the name; longer names come from nobody's compiler.
constexpr size_t kLongestMangledName = 16 * 1024;
/// Bytes; the longest of real programs have some ten thousand.
constexpr size_t kLongestReadableName = 1 << 20;
/// Of C++, by `expandedSize`: 2 to 8 in 1,000 names of large programs are above; what is below takes the
/// runtime's demangler at most some 100 MB.
constexpr uint64_t kLargestExpansion = 1 << 24;

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLowerHex(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f');
}

/// The hash element `h` + 16 lower-case hex digits. Few C++ names have such an identifier: the digits must be
/// varied too.
bool isRustHash(std::string_view element) {
  if (element.size() != 17 || element[0] != 'h') return false;
  uint32_t seen = 0;
  for (char c : element.substr(1)) {
    if (!isLowerHex(c)) return false;
    seen |= 1u << (isDigit(c) ? c - '0' : c - 'a' + 10);
  }
  return __builtin_popcount(seen) >= 5;
}

/// Undoes one `$...$`; false where it is not an escape rustc writes.
bool appendEscape(std::string& out, std::string_view escape) {
  static constexpr std::array<std::pair<std::string_view, char>, 8> kEscapes{{{"SP", '@'},
                                                                              {"BP", '*'},
                                                                              {"RF", '&'},
                                                                              {"LT", '<'},
                                                                              {"GT", '>'},
                                                                              {"LP", '('},
                                                                              {"RP", ')'},
                                                                              {"C", ','}}};
  for (const auto& [name, character] : kEscapes)
    if (escape == name) {
      out += character;
      return true;
    }
  if (escape.size() < 2 || escape.size() > 7 || escape[0] != 'u') return false;
  uint32_t code = 0;
  for (char c : escape.substr(1)) {
    if (!isLowerHex(c)) return false;
    code = code * 16 + static_cast<uint32_t>(isDigit(c) ? c - '0' : c - 'a' + 10);
  }
  return code >= 0x20 && appendUtf8(out, code);
}

void appendRustElement(std::string& out, std::string_view element) {
  if (element.starts_with("_$")) element.remove_prefix(1);  // an element may not begin with an escape
  while (!element.empty()) {
    if (element.starts_with("..")) {
      out += "::";
      element.remove_prefix(2);
      continue;
    }
    if (element[0] == '$') {
      const size_t end = element.find('$', 1);
      if (end != std::string_view::npos && appendEscape(out, element.substr(1, end - 1))) {
        element.remove_prefix(end + 1);
        continue;
      }
    }
    out += element[0];
    element.remove_prefix(1);
  }
}

/// About how many bytes a mangled C++ name can stand for, before anybody makes them: the runtime's demangler
/// has no limit. A reference to what came before (`S0_`, `T_`) can double the text, a pack expansion (`Dp`)
/// repeats its pattern for each element.
uint64_t expandedSize(std::string_view mangled) {
  constexpr uint32_t kDoublingsOfPack = 5, kMostDoublings = 40;
  uint32_t doublings = 0;
  for (size_t i = 0; i + 1 < mangled.size() && doublings < kMostDoublings; i++) {
    if (mangled[i] == 'D' && mangled[i + 1] == 'p') doublings += kDoublingsOfPack;
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    const size_t end = mangled.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
    doublings += end != std::string_view::npos && mangled[end] == '_';
  }
  return uint64_t{mangled.size()} << doublings;
}

}  // namespace

std::string demangleRustLegacy(std::string_view name) {
  if (!name.starts_with("_ZN")) return {};
  name.remove_prefix(3);
  std::string out;
  std::string_view last;
  while (!name.empty() && isDigit(name[0])) {
    size_t length = 0;
    while (!name.empty() && isDigit(name[0]) && length < kLongestMangledName) {
      length = length * 10 + static_cast<size_t>(name[0] - '0');
      name.remove_prefix(1);
    }
    if (length == 0 || length > name.size()) return {};
    if (!last.empty()) {
      if (!out.empty()) out += "::";
      appendRustElement(out, last);
    }
    last = name.substr(0, length);
    name.remove_prefix(length);
  }
  // What may follow is what LLVM appends to a copy: ".llvm.1234", ".cold".
  if (out.empty() || !isRustHash(last) || !(name == "E" || name.starts_with("E."))) return {};
  return out;
}

std::string demangle(std::string_view name) {
  if (name.size() > kLongestMangledName) return std::string(name);
  if (std::string rust = demangleRustV0(name, kLongestReadableName); !rust.empty()) return rust;
  if (!name.starts_with("_Z")) return std::string(name);
  if (std::string rust = demangleRustLegacy(name); !rust.empty()) return rust;
  const std::string terminated(name);
  if (expandedSize(name) > kLargestExpansion) return terminated;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), &std::free);
  const bool usable = status == 0 && readable && std::strlen(readable.get()) <= kLongestReadableName;
  return usable ? std::string(readable.get()) : terminated;
}

}  // namespace cacheline::symbols
