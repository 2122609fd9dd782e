// What a Rust v0 name is read with, and written to: numbers, identifiers, lists, back references; all
// bounded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "symbols/punycode.h"

namespace cacheline::symbols {

struct NoRustName {};  ///< thrown where the text is not of the grammar, or too much

inline bool isDecimal(char c) {
  return c >= '0' && c <= '9';
}
inline bool isLower(char c) {
  return c >= 'a' && c <= 'z';
}
inline bool isUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

class RustNameReader {
 protected:
  RustNameReader(std::string_view text, size_t longest)
      : text_(text), longest_(longest), steps_(4 * longest) {}

  static constexpr int kDeepest = 300;

  /// Nesting is bounded for the stack's sake. Few steps write nothing, and they are counted, too.
  class Level {
   public:
    explicit Level(RustNameReader& name) : depth_(name.depth_) {
      if (depth_ >= kDeepest || name.steps_-- == 0) throw NoRustName{};
      depth_++;
    }
    ~Level() { depth_--; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  struct Identifier {
    std::string_view text;
    bool punycode = false;
  };

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    if (at_ >= text_.size()) throw NoRustName{};
    return text_[at_++];
  }
  bool take(char c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }

  void print(std::string_view part) {
    if (quiet_ > 0) return;
    if (part.size() > longest_ - out_.size()) throw NoRustName{};
    out_ += part;
  }
  void print(uint64_t number) { print(std::to_string(number)); }

  /// "_" is 0, "0_" 1, "Z_" 62.
  uint64_t base62() {
    if (take('_')) return 0;
    uint64_t value = 0;
    for (char c = next(); c != '_'; c = next()) {
      if (!isDecimal(c) && !isLower(c) && !isUpper(c)) throw NoRustName{};
      const int digit = isDecimal(c) ? c - '0' : isLower(c) ? c - 'a' + 10 : c - 'A' + 36;
      if (__builtin_mul_overflow(value, 62u, &value) ||
          __builtin_add_overflow(value, static_cast<uint64_t>(digit), &value))
        throw NoRustName{};
    }
    if (value == UINT64_MAX) throw NoRustName{};
    return value + 1;
  }
  /// A number behind `tag`, from 1 on; 0 where there is none.
  uint64_t optional62(char tag) {
    if (!take(tag)) return 0;
    const uint64_t value = base62();
    if (value == UINT64_MAX) throw NoRustName{};
    return value + 1;
  }
  uint64_t disambiguator() { return optional62('s'); }

  Identifier identifier() {
    Identifier result;
    result.punycode = take('u');
    if (!isDecimal(peek())) throw NoRustName{};
    size_t size = static_cast<size_t>(next() - '0');
    while (size > 0 && isDecimal(peek())) {
      size = size * 10 + static_cast<size_t>(next() - '0');
      if (size > text_.size()) throw NoRustName{};
    }
    take('_');  // before names that begin with a digit or with this
    if (size > text_.size() - at_) throw NoRustName{};
    result.text = text_.substr(at_, size);
    at_ += size;
    if (!std::all_of(result.text.begin(), result.text.end(),
                     [](char c) { return c == '_' || isDecimal(c) || isLower(c) || isUpper(c); }))
      throw NoRustName{};
    return result;
  }
  void print(const Identifier& name) {
    if (quiet_ > 0) return;
    if (!name.punycode) return print(name.text);
    const std::optional<std::string> decoded = decodePunycode(name.text, '_');
    if (decoded) return print(*decoded);
    print("punycode{");
    print(name.text);
    print("}");
  }

  /// Behind its 'B'. Where nothing is printed, there is nothing to read again.
  template <typename Production>
  void backReference(const Production& production) {
    const size_t here = at_ - 1;
    const uint64_t target = base62();
    if (target >= here) throw NoRustName{};
    if (quiet_ > 0) return;
    const size_t behind = std::exchange(at_, static_cast<size_t>(target));
    production();
    at_ = behind;
  }

  /// Up to and with the 'E' that ends a list; how many.
  template <typename Item>
  size_t list(std::string_view separator, const Item& item) {
    size_t count = 0;
    for (; !take('E'); count++) {
      if (count > 0) print(separator);
      item();
    }
    return count;
  }

  /// The digits before '_', without leading zeros.
  std::string_view hexDigits() {
    const size_t begin = at_;
    for (char c = next(); c != '_'; c = next())
      if (!isDecimal(c) && !(c >= 'a' && c <= 'f')) throw NoRustName{};
    return text_.substr(begin, at_ - 1 - begin);
  }
  static uint64_t valueOf(std::string_view hex) {
    uint64_t value = 0;
    for (char c : hex) value = value << 4 | static_cast<uint64_t>(isDecimal(c) ? c - '0' : c - 'a' + 10);
    return value;
  }

  std::string_view text_;
  size_t longest_, steps_;
  size_t at_ = 0;
  int depth_ = 0, quiet_ = 0;  ///< quiet: what is read now is not printed
  std::string out_;
};

}  // namespace cacheline::symbols
