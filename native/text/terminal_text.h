// Text for terminals, as extension/session/text/terminal-text.ts has it for what is written in JavaScript:
// untrusted names made harmless, display widths, shortening, wrapping. Texts are valid UTF-8 unless said
// otherwise; widths are columns of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cacheline::text {

/// Whether all of it is printable ASCII, a column a byte, as nearly every text is.
bool isPlain(std::string_view text);

/// Appends a name out of a recording or binary, any bytes: it could drive a terminal or hide text, so that
/// controls and invisible characters become visible escapes, and invalid bytes U+FFFD.
void appendPrintable(std::string& out, std::string_view name);
std::string printable(std::string_view name);

size_t displayWidth(std::string_view text);

/// How a text is shortened to a width: long C++ names keep their beginning and their end, paths their end,
/// members their names without what they are members of, anything else its beginning.
enum class Shorten : uint8_t { middle, start, end, members };
/// Appends the text, with "…" for what does not fit `width` (1 or more).
void appendShortened(std::string& out, std::string_view text, size_t width, Shorten shorten);
/// The same of a text whose display width is known: `columns`.
void appendShortened(std::string& out, std::string_view text, size_t columns, size_t width, Shorten shorten);

/// The whole text in pieces of at most `width` columns (2 or more: a character may be as wide), broken behind
/// commas and spaces where a piece has one.
std::vector<std::string> breakText(std::string_view text, size_t width);

/// Breaks prose at spaces into lines of at most `width` columns, and of no more than can be read well; longer
/// words are shortened in the middle. `first` is put before the first line, `rest` before the others.
std::vector<std::string> wrap(std::string_view text, size_t width, std::string_view first = {},
                              std::string_view rest = {});

/// With so many digits behind the point; what lies in the middle is rounded up.
void appendFixed(std::string& out, double value, int digits);
void appendNumber(std::string& out, uint64_t number);
/// "0-3,8" of ascending numbers.
void appendRanges(std::string& out, const std::vector<uint32_t>& numbers);
void appendHex(std::string& out, uint64_t number);  ///< "0x40"

}  // namespace cacheline::text
