// Numbers and names of languages.
#include "symbols/language.h"

#include <dwarf.h>

namespace cacheline::symbols {

Language languageOfNumber(int number) {
  // Of the registry: newer than elfutils 0.188.
  constexpr int kCxx17 = 0x2a, kCxx20 = 0x2b, kC17 = 0x2c, kC23 = 0x3e;
  switch (number) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case kC17:
    case kC23:
      return Language::c;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case kCxx17:
    case kCxx20:
      return Language::cxx;
    case DW_LANG_Rust:
      return Language::rust;
    case DW_LANG_Go:
      return Language::go;
    default:
      return Language::unknown;
  }
}

Language languageOfFile(std::string_view path) {
  const size_t dot = path.rfind('.');
  const std::string_view ending = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  if (ending == "c") return Language::c;
  if (ending == "rs") return Language::rust;
  if (ending == "go") return Language::go;
  for (const char* cxx : {"cc", "cpp", "cxx", "c++", "C", "hh", "hpp", "hxx", "ipp", "tcc"})
    if (ending == cxx) return Language::cxx;
  return Language::unknown;
}

const char* languageName(Language language) {
  switch (language) {
    case Language::unknown:
      return "";
    case Language::c:
      return "c";
    case Language::cxx:
      return "c++";
    case Language::rust:
      return "rust";
    case Language::go:
      return "go";
  }
  return "";
}

}  // namespace cacheline::symbols
