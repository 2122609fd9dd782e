// Text from foreign files as valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cacheline {

/// Whether it has bytes below 0x80 only: then it is valid as it is.
bool isAscii(std::string_view text);

/// Every maximal invalid sequence becomes U+FFFD (The Unicode Standard, table 3-7: overlong forms, surrogates
/// and values above 10FFFF are invalid).
std::string validUtf8(std::string_view text);

/// False, and nothing appended, where `code` is no character (a surrogate, above 10FFFF).
bool appendUtf8(std::string& text, uint32_t code);

}  // namespace cacheline
