// Walks the grammar as a demangler does, but adds up lengths instead of writing text.
#include "symbols/demangle_bound.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cacheline::symbols {
namespace {

constexpr uint64_t kHuge = UINT64_MAX / 4;
constexpr uint64_t kToken = 32;  ///< longest text of one token: "unsigned long long", "operator delete[]"
constexpr uint64_t kAbbreviation = 128;  ///< std::basic_string<char, std::char_traits<char>, ...>

/// A length: `base` bytes and `parameters` times a template parameter's argument.
struct Length {
  uint64_t base = 0, parameters = 0;
};

Length operator+(Length a, Length b) {
  return {std::min(a.base + b.base, kHuge), std::min(a.parameters + b.parameters, kHuge)};
}

struct Unsupported {};  ///< thrown where the grammar is not followed further

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  uint64_t total() {
    const Length length = encoding();
    // What is left is a clone suffix (".constprop.0"), which is printed as it is.
    return resolve(length + Length{3 * (text_.size() - at_), 0});
  }

 private:
  static constexpr int kDeepest = 200;
  struct Level {
    explicit Level(int& depth) : depth_(depth) {
      if (++depth_ > kDeepest) throw Unsupported{};
    }
    ~Level() { --depth_; }
    int& depth_;
  };

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  static bool digit(char c) { return c >= '0' && c <= '9'; }
  uint64_t number() {
    if (!digit(peek())) throw Unsupported{};
    uint64_t value = 0;
    while (digit(peek()))
      value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(text_[at_++] - '0'), 1 << 24);
    return value;
  }
  /// "S_" is 0, "S0_" 1, "SA_" 11; likewise T.
  uint64_t sequence() {
    if (take('_')) return 0;
    uint64_t value = 0;
    while (digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) {
      const char c = text_[at_++];
      value =
          std::min<uint64_t>(value * 36 + static_cast<uint64_t>(digit(c) ? c - '0' : c - 'A' + 10), 1 << 24);
    }
    if (!take('_')) throw Unsupported{};
    return value + 1;
  }
  Length remember(Length length) {
    known_.push_back(length);
    return length;
  }

  /// The text a length stands for. An argument may itself mention parameters, but only of a template outside
  /// of its own: so such chains are no longer than encodings are nested.
  uint64_t resolve(Length length) const {
    uint64_t argument = 0;
    for (uint64_t round = 0; round <= scopes_; round++) {
      uint64_t longest = 0;
      for (const Length& known : arguments_) longest = std::max(longest, with(known, argument));
      if (longest == argument) break;
      argument = longest;
    }
    const uint64_t size = with(length, argument);
    return size >= kHuge ? UINT64_MAX : size;
  }
  static uint64_t with(Length length, uint64_t argument) {
    uint64_t product = 0;
    if (__builtin_mul_overflow(length.parameters, argument, &product)) return kHuge;
    return std::min(kHuge, length.base + std::min(product, kHuge));
  }

  Length encoding() {
    const Level level(depth_);
    scopes_++;
    if (peek() == 'T' || (peek() == 'G' && peek(1) != '\0')) return special();
    Length length = name();
    while (at_ < text_.size() && peek() != 'E' && peek() != '.') length = length + Length{4, 0} + type();
    return length;
  }

  Length special() {
    for (const std::string_view word : {"TV", "TT", "TI", "TS", "TW", "TH"})
      if (take(word)) return Length{48, 0} + (word == "TW" || word == "TH" ? name() : type());
    if (take("GV")) return Length{48, 0} + name();
    if (take("GR")) {
      const Length length = Length{64, 0} + name();
      while (peek() != '_' && peek() != '\0') at_++;
      take('_');
      return length;
    }
    if (take("Th") || take("Tv")) {
      for (int offsets = text_[at_ - 1] == 'h' ? 1 : 2; offsets > 0; offsets--) {
        take('n');
        number();
        if (!take('_')) throw Unsupported{};
      }
      return Length{32, 0} + encoding();
    }
    throw Unsupported{};
  }

  Length name() {
    const Level level(depth_);
    if (peek() == 'N') return nested();
    if (take('Z')) {
      Length length = Length{4, 0} + encoding();
      if (!take('E')) throw Unsupported{};
      if (take('s')) {
        length.base += 16;
      } else {
        if (take('d')) {
          if (digit(peek())) number();
          if (!take('_')) throw Unsupported{};
          length.base += 32;
        }
        length = length + name();
      }
      discriminator();
      return length;
    }
    Length length;
    if (peek() == 'S' && peek(1) != 't') {
      length = substitution();
    } else {
      if (take("St")) length.base += 5;
      length = length + unqualified({});
      if (peek() == 'I') remember(length);
    }
    if (peek() == 'I') length = length + templateArguments();
    return length;
  }

  void discriminator() {
    if (peek() != '_') return;
    at_++;
    if (take('_')) {
      number();
      if (!take('_')) throw Unsupported{};
    } else if (digit(peek())) {
      at_++;
    }
  }

  Length nested() {
    take('N');
    Length length{0, 0};
    while (peek() == 'r' || peek() == 'V' || peek() == 'K') at_++, length.base += 12;
    if (peek() == 'R' || peek() == 'O') at_++, length.base += 4;
    Length last;
    for (bool first = true; !take('E'); first = false) {
      if (at_ >= text_.size()) throw Unsupported{};
      if (peek() == 'S' && peek(1) != 't') {
        length = length + substitution();
        last = length;
        continue;  // it is known already
      }
      if (peek() == 'T' && first) {
        length = length + parameter();
      } else if (peek() == 'I') {
        length = length + templateArguments();
      } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
        throw Unsupported{};
      } else if (take('M')) {
        continue;
      } else {
        if (first && take("St")) length.base += 5;
        const Length part = unqualified(last);
        length = length + Length{2, 0} + part;
        last = part;
      }
      // The whole name is no candidate for references by itself, but one more only makes the bound larger
      // where it is never referred to: so the order of the others must be right, and it is the last.
      if (peek() != 'E') remember(length);
    }
    return length;
  }

  /// `owner`: what a constructor's name repeats.
  Length unqualified(Length owner) {
    const Level level(depth_);
    take('L');
    Length length;
    if (digit(peek())) {
      const uint64_t size = number();
      if (size == 0 || size > text_.size() - at_) throw Unsupported{};
      at_ += size;
      length = {std::max<uint64_t>(size, 24), 0};  // "(anonymous namespace)"
    } else if (take("Ut")) {
      if (digit(peek())) number();
      if (!take('_')) throw Unsupported{};
      length = {32, 0};
    } else if (take("Ul")) {
      length = {32, 0};
      while (!take('E')) length = length + Length{4, 0} + type();
      if (digit(peek())) number();
      if (!take('_')) throw Unsupported{};
    } else if ((peek() == 'C' || peek() == 'D') && digit(peek(1))) {
      at_ += 2;
      length = owner + Length{2, 0};
    } else if (take("cv")) {
      scopes_++;  // its type is printed with the arguments that follow
      length = Length{12, 0} + type();
    } else if (take("li")) {
      length = {16 + number(), 0};
      at_ = std::min(at_ + static_cast<size_t>(length.base - 16), text_.size());
    } else if (peek() >= 'a' && peek() <= 'z' && peek(1) != '\0') {
      at_ += 2;
      length = {kToken, 0};
    } else {
      throw Unsupported{};
    }
    while (take('B')) {  // an ABI tag
      const uint64_t size = number();
      if (size > text_.size() - at_) throw Unsupported{};
      at_ += size;
      length.base += size + 8;
    }
    return length;
  }

  Length substitution() {
    at_++;  // 'S'
    if (std::string_view("absiod").find(peek()) != std::string_view::npos && peek() != '\0') {
      at_++;
      return {kAbbreviation, 0};
    }
    const uint64_t index = sequence();
    if (index >= known_.size()) throw Unsupported{};
    return known_[index];
  }

  Length parameter() {
    at_++;  // 'T'
    sequence();
    return {16, 1};
  }

  Length templateArguments() {
    const Level level(depth_);
    take('I');
    Length length{4, 0};
    while (!take('E')) length = length + Length{2, 0} + argument();
    return length;
  }

  Length argument() {
    const Level level(depth_);
    if (at_ >= text_.size()) throw Unsupported{};
    Length length;
    if (take('L')) {
      if (take("_Z")) {
        length = encoding();
        if (!take('E')) throw Unsupported{};
      } else {
        length = Length{16, 0} + type();
        for (; !take('E'); at_++, length.base++)
          if (at_ >= text_.size() || !(digit(peek()) || peek() == 'n' || (peek() >= 'a' && peek() <= 'f')))
            throw Unsupported{};
      }
    } else if (take('J')) {
      uint64_t count = 0;
      for (; !take('E'); count++) length = length + Length{2, 0} + argument();
      longestPack_ = std::max(longestPack_, count);
    } else if (take("XadL_Z")) {  // the address of a function or variable, the commonest expression
      length = Length{8, 0} + encoding();
      if (!take("EE")) throw Unsupported{};
    } else if (peek() == 'X') {
      throw Unsupported{};
    } else {
      length = type();
    }
    arguments_.push_back(length);
    return length;
  }

  Length type() {
    const Level level(depth_);
    switch (const char c = peek(); c) {
      case 'P':
      case 'R':
      case 'O':
      case 'K':
      case 'V':
      case 'r':
      case 'C':
      case 'G':
        at_++;
        // `cv` qualifiers together make one type.
        if (c == 'r' || c == 'V' || c == 'K') {
          Length length{12, 0};
          while (peek() == 'V' || peek() == 'K') at_++, length.base += 12;
          return remember(length + type());
        }
        return remember(Length{12, 0} + type());
      case 'F': {
        at_++;
        take('Y');
        Length length{16, 0};
        while (!take('E')) {
          if (at_ >= text_.size()) throw Unsupported{};
          if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
            at_++;
            continue;
          }
          length = length + Length{4, 0} + type();
        }
        return remember(length);
      }
      case 'A': {
        at_++;
        Length length{32, 0};
        if (digit(peek())) number();
        if (!take('_')) throw Unsupported{};
        return remember(length + type());
      }
      case 'M': {
        at_++;
        const Length owner = type();
        return remember(Length{16, 0} + owner + type());
      }
      case 'T': {
        Length length = remember(parameter());
        if (peek() == 'I') length = remember(length + templateArguments());
        return length;
      }
      case 'D':
        return builtinD();
      case 'S': {
        if (peek(1) == 't') break;
        Length length = substitution();
        if (peek() == 'I') length = remember(length + templateArguments());
        return length;
      }
      case 'U':
      case 'u':
        throw Unsupported{};
      default:
        if (c >= 'a' && c <= 'z') {
          at_++;
          return {kToken, 0};
        }
        break;
    }
    // A class: its whole name is the last candidate.
    return remember(name());
  }

  Length builtinD() {
    const char c = peek(1);
    if (std::string_view("defhisuanc").find(c) != std::string_view::npos && c != '\0') {
      at_ += 2;
      return {kToken, 0};
    }
    if (c == 'p') {
      at_ += 2;
      // The pattern is printed for each element of a pack; its parameters are then elements of that pack.
      Length pattern = type();
      const uint64_t elements = std::max<uint64_t>(longestPack_, 1);
      if (__builtin_mul_overflow(pattern.base + 4, elements, &pattern.base)) pattern.base = kHuge;
      return remember({std::min(pattern.base, kHuge), pattern.parameters});
    }
    if (c == 'o') {
      at_ += 2;
      if (peek() != 'F') throw Unsupported{};
      return Length{12, 0} + type();
    }
    throw Unsupported{};  // decltype, vectors, bit-precise integers
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::vector<Length> known_, arguments_;
  uint64_t longestPack_ = 0;
  uint64_t scopes_ = 0;  ///< whose template parameters text can mean
};

/// For what the walk does not follow: every back reference can at most double what stands before it.
uint64_t boundByReferences(std::string_view mangled) {
  uint64_t references = 0;
  for (size_t i = 0; i + 1 < mangled.size(); i++) {
    const char next = mangled[i + 1];
    const bool numbered = next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    references += (mangled[i] == 'S' || mangled[i] == 'T') && numbered;
  }
  constexpr uint64_t kMost = 24;
  if (references > kMost) return UINT64_MAX;
  return (mangled.size() * kToken) << references;
}

}  // namespace

uint64_t demangledSizeBound(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return mangled.size();
  // Few names have many references, and counting them is cheap.
  constexpr uint64_t kSmall = 256 * 1024;
  if (const uint64_t quick = boundByReferences(mangled); quick <= kSmall) return quick;
  try {
    return Walk(mangled.substr(2)).total();
  } catch (const Unsupported&) {
    return boundByReferences(mangled);
  }
}

}  // namespace cacheline::symbols
