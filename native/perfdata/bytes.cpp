// Reading numbers and strings out of foreign bytes.
#include "perfdata/bytes.h"

#include <cinttypes>
#include <cstdio>

namespace cacheline::perfdata {

std::string hexDigits(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string hexNumber(uint64_t value) {
  char text[2 + 16 + 1];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

}  // namespace cacheline::perfdata
