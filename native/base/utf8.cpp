// UTF-8 repair.
#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace cacheline {

namespace {

struct Form {  ///< well-formed sequences by first byte
  size_t length;
  uint8_t low, high;  ///< range of the second byte
};

Form formOf(uint8_t first) {
  if (first < 0x80) return {1, 0, 0};
  if (first >= 0xc2 && first <= 0xdf) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

bool isAscii(std::string_view text) {
  // All bytes in one, not until the first that is not: the compiler takes many at a time.
  constexpr size_t kBlock = 4096;
  for (; !text.empty(); text.remove_prefix(std::min(kBlock, text.size()))) {
    uint8_t bits = 0;
    for (const char byte : text.substr(0, kBlock)) bits |= static_cast<uint8_t>(byte);
    if (bits >= 0x80) return false;
  }
  return true;
}

std::string validUtf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Form form = formOf(static_cast<uint8_t>(text[at]));
    size_t good = form.length == 0 ? 0 : 1;
    while (good > 0 && good < form.length && at + good < text.size()) {
      const auto byte = static_cast<uint8_t>(text[at + good]);
      if (byte < (good == 1 ? form.low : 0x80) || byte > (good == 1 ? form.high : 0xbf)) break;
      ++good;
    }
    if (good > 0 && good == form.length) {
      result.append(text.substr(at, good));
      at += good;
    } else {
      result.append("\xef\xbf\xbd");
      at += good == 0 ? 1 : good;
    }
  }
  return result;
}

bool appendUtf8(std::string& text, uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  const auto last = static_cast<char>(0x80 | (code & 0x3F));
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xC0 | code >> 6), last};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)), last};
  } else {
    text += {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3F)),
             static_cast<char>(0x80 | (code >> 6 & 0x3F)), last};
  }
  return true;
}

}  // namespace cacheline
