// The decoder of RFC 3492, section 6.2.
#include "symbols/punycode.h"

#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace cacheline::symbols {
namespace {

constexpr size_t kLongestIdentifier = 256;  ///< inserting takes quadratic time
constexpr uint32_t kBase = 36, kLeast = 1, kMost = 26, kSkew = 38, kDamp = 700;

uint32_t adapted(uint32_t delta, uint32_t points, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / points;
  uint32_t k = 0;
  for (; delta > (kBase - kLeast) * kMost / 2; k += kBase) delta /= kBase - kLeast;
  return k + (kBase - kLeast + 1) * delta / (delta + kSkew);
}

}  // namespace

std::optional<std::string> decodePunycode(std::string_view text, char delimiter) {
  if (text.size() > kLongestIdentifier) return std::nullopt;
  const size_t basic = text.rfind(delimiter);
  std::u32string decoded;
  if (basic != std::string_view::npos) {
    decoded.assign(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(basic));
    text.remove_prefix(basic + 1);
  }
  if (text.empty()) return std::nullopt;
  uint32_t code = 0x80, at = 0, bias = 72;
  for (bool first = true; !text.empty(); first = false) {
    const uint32_t before = at;
    uint32_t weight = 1;
    for (uint32_t k = kBase;; k += kBase) {
      if (text.empty()) return std::nullopt;
      const char c = text[0];
      text.remove_prefix(1);
      const bool letter = c >= 'a' && c <= 'z';
      if (!letter && !(c >= '0' && c <= '9')) return std::nullopt;
      const uint32_t digit = static_cast<uint32_t>(letter ? c - 'a' : c - '0' + 26);
      uint32_t step = 0;
      if (__builtin_mul_overflow(digit, weight, &step) || __builtin_add_overflow(at, step, &at))
        return std::nullopt;
      const uint32_t threshold = k <= bias ? kLeast : k >= bias + kMost ? kMost : k - bias;
      if (digit < threshold) break;
      if (__builtin_mul_overflow(weight, kBase - threshold, &weight)) return std::nullopt;
    }
    const auto points = static_cast<uint32_t>(decoded.size() + 1);
    bias = adapted(at - before, points, first);
    if (__builtin_add_overflow(code, at / points, &code)) return std::nullopt;
    at %= points;
    decoded.insert(at++, 1, static_cast<char32_t>(code));
  }
  std::string utf8;
  for (const char32_t point : decoded)
    if (!appendUtf8(utf8, point)) return std::nullopt;
  return utf8;
}

}  // namespace cacheline::symbols
