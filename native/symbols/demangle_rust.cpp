// A recursive descent over the grammar that writes as it reads. A back reference is read again, where it
// stands for something.
#include "symbols/demangle_rust.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/utf8.h"
#include "symbols/rust_name_reader.h"

namespace cacheline::symbols {
namespace {

/// By letter; empty: none.
constexpr std::string_view kBasicTypes[] = {
    "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
    "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};

std::string_view basicType(char tag) {
  return isLower(tag) ? kBasicTypes[tag - 'a'] : std::string_view();
}

class RustName : RustNameReader {
 public:
  RustName(std::string_view text, size_t longest) : RustNameReader(text, longest) {}

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

  uint64_t bound_ = 0;  ///< lifetimes that the binders around introduce
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
