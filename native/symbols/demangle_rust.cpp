// A recursive descent over the grammar that writes as it reads. A back reference is read again, where it
// stands for something.
#include "symbols/demangle_rust.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "symbols/punycode.h"

namespace cacheline::symbols {
namespace {

struct NoRustName {};  ///< thrown where the text is not of the grammar, or too much

std::string_view basicType(char tag) {
  switch (tag) {
    case 'a':
      return "i8";
    case 'b':
      return "bool";
    case 'c':
      return "char";
    case 'd':
      return "f64";
    case 'e':
      return "str";
    case 'f':
      return "f32";
    case 'h':
      return "u8";
    case 'i':
      return "isize";
    case 'j':
      return "usize";
    case 'l':
      return "i32";
    case 'm':
      return "u32";
    case 'n':
      return "i128";
    case 'o':
      return "u128";
    case 'p':
      return "_";
    case 's':
      return "i16";
    case 't':
      return "u16";
    case 'u':
      return "()";
    case 'v':
      return "...";
    case 'x':
      return "i64";
    case 'y':
      return "u64";
    case 'z':
      return "!";
    default:
      return {};
  }
}

bool isDecimal(char c) {
  return c >= '0' && c <= '9';
}
bool isLower(char c) {
  return c >= 'a' && c <= 'z';
}
bool isUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

class RustName {
 public:
  RustName(std::string_view text, size_t longest) : text_(text), longest_(longest), steps_(4 * longest) {}

  std::string symbol() {
    path(true);
    if (isUpper(peek())) {  // the crate that made this copy of a generic function
      quiet_++;
      path(false);
      quiet_--;
    }
    if (at_ < text_.size() && text_[at_] != '.' && text_[at_] != '$') throw NoRustName{};
    return std::move(out_);
  }

 private:
  static constexpr int kDeepest = 300;

  /// Nesting is bounded for the stack's sake. Few steps write nothing, and they are counted, too.
  class Level {
   public:
    explicit Level(RustName& name) : depth_(name.depth_) {
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

  /// Generic arguments have "::" before them where a value is named.
  void path(bool asValue) {
    const Level level(*this);
    switch (const char tag = next()) {
      case 'C':
        disambiguator();
        return print(identifier());
      case 'N':
        return nestedPath(asValue);
      case 'M':
      case 'X':
        disambiguator();
        quiet_++;
        path(false);  // where the implementation is
        quiet_--;
        return implementation(tag == 'X');
      case 'Y':
        return implementation(true);
      case 'I':
        path(asValue);
        if (asValue) print("::");
        print("<");
        list(", ", [&] { genericArgument(); });
        return print(">");
      case 'B':
        return backReference([&] { path(asValue); });
      default:
        throw NoRustName{};
    }
  }

  void implementation(bool ofTrait) {
    print("<");
    type();
    if (ofTrait) {
      print(" as ");
      path(false);
    }
    print(">");
  }

  void nestedPath(bool asValue) {
    const char space = next();
    if (!isUpper(space) && !isLower(space)) throw NoRustName{};
    path(asValue);
    const uint64_t number = disambiguator();
    const Identifier name = identifier();
    if (isLower(space)) {
      if (!name.text.empty()) print("::");
      return print(name);
    }
    print("::{");
    print(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
    if (!name.text.empty()) {
      print(":");
      print(name);
    }
    print("#");
    print(number);
    print("}");
  }

  void genericArgument() {
    if (take('L'))
      lifetime(base62());
    else if (take('K'))
      constant(false);
    else
      type();
  }

  /// Counted from the innermost binder outwards; 0 is erased.
  void lifetime(uint64_t index) {
    if (quiet_ > 0) return;
    if (index > bound_) throw NoRustName{};
    print("'");
    if (index == 0) return print("_");
    const uint64_t depth = bound_ - index;
    if (depth >= 26) {
      print("_");
      return print(depth);
    }
    const char letter = static_cast<char>('a' + depth);
    print(std::string_view(&letter, 1));
  }

  /// for<'a, 'b> around what `inside` reads.
  template <typename Inside>
  void binder(const Inside& inside) {
    const uint64_t count = optional62('G');
    if (count > longest_) throw NoRustName{};
    const uint64_t before = bound_;
    if (count > 0) {
      print("for<");
      for (uint64_t i = 0; i < count && quiet_ == 0; i++) {
        if (i > 0) print(", ");
        bound_++;
        lifetime(1);
      }
      print("> ");
    }
    bound_ = before + count;
    inside();
    bound_ = before;
  }

  void type() {
    const Level level(*this);
    const char tag = next();
    if (const std::string_view basic = basicType(tag); !basic.empty()) return print(basic);
    switch (tag) {
      case 'R':
      case 'Q':
        print("&");
        if (take('L'))
          if (const uint64_t index = base62(); index != 0) {
            lifetime(index);
            print(" ");
          }
        if (tag == 'Q') print("mut ");
        return type();
      case 'P':
      case 'O':
        print(tag == 'P' ? "*const " : "*mut ");
        return type();
      case 'A':
      case 'S':
        print("[");
        type();
        if (tag == 'A') {
          print("; ");
          constant(true);
        }
        return print("]");
      case 'T':
        return tuple([&] { type(); });
      case 'F':
        return binder([&] { functionType(); });
      case 'D':
        print("dyn ");
        binder([&] { list(" + ", [&] { dynTrait(); }); });
        if (!take('L')) throw NoRustName{};
        if (const uint64_t index = base62(); index != 0) {
          print(" + ");
          lifetime(index);
        }
        return;
      case 'W':
        type();
        print(" is ");
        return pattern();
      case 'B':
        return backReference([&] { type(); });
      default:
        at_--;
        return path(false);
    }
  }

  template <typename Item>
  void tuple(const Item& item) {
    print("(");
    if (list(", ", item) == 1) print(",");
    print(")");
  }

  void functionType() {
    if (take('U')) print("unsafe ");
    if (take('K')) {
      print("extern \"");
      if (take('C')) {
        print("C");
      } else {
        const Identifier abi = identifier();
        if (abi.punycode || abi.text.empty()) throw NoRustName{};
        std::string text(abi.text);
        std::replace(text.begin(), text.end(), '_', '-');
        print(text);
      }
      print("\" ");
    }
    print("fn(");
    list(", ", [&] { type(); });
    print(")");
    if (take('u')) return;
    print(" -> ");
    type();
  }

  /// The associated types of a trait are among its generic arguments.
  void dynTrait() {
    bool open = openPath();
    while (take('p')) {
      print(open ? ", " : "<");
      open = true;
      print(identifier());
      print(" = ");
      type();
    }
    if (open) print(">");
  }
  /// A path; true where its ">" is still to be printed.
  bool openPath() {
    const Level level(*this);
    bool open = false;
    if (take('B')) {
      backReference([&] { open = openPath(); });
    } else if (take('I')) {
      path(false);
      print("<");
      list(", ", [&] { genericArgument(); });
      open = true;
    } else {
      path(false);
    }
    return open;
  }

  /// What values a type is narrowed to.
  void pattern() {
    const Level level(*this);
    switch (next()) {
      case 'R':
        constant(true);
        print("..=");
        return constant(true);
      case 'O':
        list(" | ", [&] { pattern(); });
        return;
      case 'N':
        return print("!null");
      default:
        throw NoRustName{};
    }
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
  void integer() {
    std::string_view hex = hexDigits();
    hex.remove_prefix(std::min(hex.find_first_not_of('0'), hex.size()));
    if (hex.size() <= 16) return print(valueOf(hex));
    print("0x");
    print(hex);
  }

  /// Constants that are more than a number stand in braces, except inside of another.
  void constant(bool inside) {
    const Level level(*this);
    const auto braced = [&](const auto& body) {
      if (!inside) print("{");
      body();
      if (!inside) print("}");
    };
    switch (const char tag = next()) {
      case 'p':
        return print("_");
      case 'a':
      case 'i':
      case 'l':
      case 'n':
      case 's':
      case 'x':
        if (take('n')) print("-");
        return integer();
      case 'h':
      case 'j':
      case 'm':
      case 'o':
      case 't':
      case 'y':
        return integer();
      case 'b': {
        const std::string_view digits = hexDigits();
        if (digits != "0" && digits != "1") throw NoRustName{};
        return print(digits == "1" ? "true" : "false");
      }
      case 'c':
        return character();
      case 'e':
        return braced([&] {
          print("*");
          text();
        });
      case 'R':
      case 'Q':
        if (tag == 'R' && take('e')) return text();
        return braced([&] {
          print(tag == 'R' ? "&" : "&mut ");
          constant(true);
        });
      case 'A':
        return braced([&] {
          print("[");
          list(", ", [&] { constant(true); });
          print("]");
        });
      case 'T':
        return braced([&] { tuple([&] { constant(true); }); });
      case 'V':
        return braced([&] { variant(); });
      case 'B':
        return backReference([&] { constant(inside); });
      default:
        throw NoRustName{};
    }
  }

  /// A value of a structure or an enum.
  void variant() {
    path(true);
    switch (next()) {
      case 'U':
        return;
      case 'T':
        print("(");
        list(", ", [&] { constant(true); });
        return print(")");
      case 'S':
        print(" { ");
        list(", ", [&] {
          disambiguator();
          print(identifier());
          print(": ");
          constant(true);
        });
        return print(" }");
      default:
        throw NoRustName{};
    }
  }

  void character() {
    const std::string_view hex = hexDigits();
    if (hex.empty() || hex.size() > 6) throw NoRustName{};
    const auto code = static_cast<uint32_t>(valueOf(hex));
    std::string utf8;
    if (!appendUtf8(utf8, code)) throw NoRustName{};
    print("'");
    escaped(utf8, '\'');
    print("'");
  }
  /// A string in quotes; two digits for each byte.
  void text() {
    const std::string_view hex = hexDigits();
    if (hex.size() % 2 != 0) throw NoRustName{};
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(valueOf(hex.substr(i, 2)));
    print("\"");
    escaped(validUtf8(bytes), '"');
    print("\"");
  }
  void escaped(std::string_view utf8, char quote) {
    for (char c : utf8) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == quote || c == '\\') {
        const std::array<char, 2> pair{'\\', c};
        print(std::string_view(pair.data(), 2));
      } else if (c == '\n' || c == '\r' || c == '\t' || c == '\0') {
        print(c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : "\\0");
      } else if (byte < 0x20 || byte == 0x7f) {
        static constexpr std::string_view kHex = "0123456789abcdef";
        print("\\u{");
        if (byte >= 0x10) print(kHex.substr(byte >> 4, 1));
        print(kHex.substr(byte & 15, 1));
        print("}");
      } else {
        print(std::string_view(&c, 1));
      }
    }
  }

  std::string_view text_;
  size_t longest_, steps_;
  size_t at_ = 0;
  int depth_ = 0, quiet_ = 0;  ///< quiet: what is read now is not printed
  uint64_t bound_ = 0;         ///< lifetimes that the binders around introduce
  std::string out_;
};

}  // namespace

std::string demangleRustV0(std::string_view name, size_t longest) {
  // A number behind "_R" would be a later version of the scheme. All paths begin with a capital.
  if (!name.starts_with("_R") || name.size() < 3 || !isUpper(name[2])) return {};
  try {
    return RustName(name.substr(2), longest).symbol();
  } catch (const NoRustName&) {
    return {};
  }
}

}  // namespace cacheline::symbols
