// The source languages that this program tells apart.
#pragma once

#include <cstdint>
#include <string_view>

namespace cacheline::symbols {

enum class Language : uint8_t { unknown, c, cxx, rust, go };

/// Of a DW_LANG_* number (DWARF 5, section 7.12, and its registry of languages
/// since then).
Language languageOfNumber(int number);
/// By the ending of a source file's name; unknown also of `.h`, which C and C++
/// have.
Language languageOfFile(std::string_view path);
const char* languageName(Language language);  ///< "c", "c++", "rust", "go"; empty: unknown

}  // namespace cacheline::symbols
