// Variables by name, and the way from their types to a member.
#include "analysis/watch_place.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"
#include "layouts/binary_types.h"
#include "types/field_path.h"
#include "types/named_members.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::analysis {

namespace {

constexpr uint64_t kWord = 8;  // bytes, of a debug register

constexpr std::string_view kPointers = "an expression follows one pointer at most, and only by an index";
constexpr std::string_view kInsteadOfPointers =
    "Write NAME[0].member for what the pointer leads to while it is watched, or an address: 0x4040a0:8";
constexpr std::string_view kInsteadOfUndefined =
    "Compile the source that defines it with -g (clang: -fstandalone-debug), or give an address and a length";

[[noreturn]] void refuse(const WatchExpression& expression, const std::string& why, const std::string& next) {
  throw Error(ErrorKind::usage, "--watch " + expression.text + ": " + why, next);
}

bool isDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<uint64_t> parse(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Whether `name` is `wanted`, or ends with it behind a scope: `ns::x` for `x`.
bool isNamed(std::string_view name, std::string_view wanted) {
  if (!name.ends_with(wanted)) return false;
  const std::string_view scope = name.substr(0, name.size() - wanted.size());
  return scope.empty() || scope.ends_with("::");
}

/// Of a C function's static variable, `x.0`, the `x`.
std::string_view withoutNumber(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot != std::string_view::npos && isDigits(name.substr(dot + 1)) ? name.substr(0, dot) : name;
}

/// The variable: an exact name before a tail of one, the lowest address among equals.
const symbols::Symbol* variable(const symbols::ElfImage& image, std::string_view wanted) {
  const symbols::Symbol* best = nullptr;
  int bestRank = 3;
  for (const symbols::Symbol& symbol : image.dataSymbols()) {
    if (symbol.name.find(wanted.substr(wanted.rfind(':') + 1)) == std::string_view::npos) continue;
    const std::string readable = symbols::demangle(symbol.name);
    const int rank = readable == wanted || symbol.name == wanted ? 0
                     : isNamed(readable, wanted)                 ? 1
                     : withoutNumber(symbol.name) == wanted      ? 2
                                                                 : 3;
    if (rank < bestRank || (rank == bestRank && best != nullptr && symbol.address < best->address)) {
      best = &symbol;
      bestRank = rank;
    }
  }
  return best;
}

/// Where the variable's name ends. Go's have dots in them: the longest that is a symbol's own name, else what
/// is before the first member.
size_t endOfName(const symbols::ElfImage& image, std::string_view text) {
  const auto isSymbol = [&](std::string_view name) {
    return std::ranges::any_of(image.dataSymbols(), [&](const auto& symbol) { return symbol.name == name; });
  };
  for (size_t end = std::min(text.find('['), text.size()); end != std::string_view::npos && end > 0;
       end = text.rfind('.', end - 1))
    if (isSymbol(text.substr(0, end))) return end;
  return std::min(text.find_first_of(".["), text.size());
}

struct Typed {
  types::TypeId type = types::kNoType;
  uint64_t address = 0;
  uint64_t room = 0;  ///< bytes, where the type has no size
};

class Walk {
 public:
  Walk(const types::TypeTable& table, const WatchExpression& expression, Typed at)
      : table_(table), expression_(expression), at_(at) {}

  /// Follows `.member` and `[index]`.
  void follow(std::string_view path) {
    while (!path.empty()) {
      if (path.front() == '[') {
        const size_t end = path.find(']');
        const auto index = end == std::string_view::npos ? std::nullopt : parse(path.substr(1, end - 1), 10);
        if (!index) refuse(expression_, "'" + std::string(path) + "' is not an index", "Write NAME[3]");
        element(*index);
        path.remove_prefix(end + 1);
      } else if (path.front() == '.') {
        const size_t end = std::min(path.find_first_of(".[", 1), path.size());
        member(path.substr(1, end - 1));
        path.remove_prefix(end);
      } else {
        refuse(expression_, "'" + std::string(path) + "' is neither .member nor [index]",
               "Write NAME.member");
      }
    }
  }
  uint64_t address() const { return at_.address; }
  /// Where the pointer lies that address() counts from; nullopt: there is none.
  std::optional<uint64_t> pointer() const { return pointer_; }
  types::TypeId type() const { return at_.type; }
  /// Bytes; 0: unknown.
  uint64_t size() const { return knownSize().value_or(at_.room); }

 private:
  /// Of an array with dimensions used up: bytes of what one more index leaves.
  std::optional<uint64_t> knownSize() const {
    if (dimension_ == 0) return table_.sizeOf(at_.type);
    const types::Type& array = table_[table_.strip(at_.type)];
    std::optional<uint64_t> bytes = table_.sizeOf(array.target);
    if (!bytes) return std::nullopt;
    for (size_t i = dimension_; i < array.dimensions.size(); ++i) *bytes *= array.dimensions[i].value_or(1);
    return bytes;
  }

  types::TypeId unwrapped() {
    types::TypeId type = table_.strip(at_.type);
    while (const auto inner = types::wrapped(table_, type)) {
      at_.address += inner->offset;
      type = table_.strip(inner->member.type);
    }
    return type;
  }

  void element(uint64_t index) {
    if (dimension_ == 0) at_.type = unwrapped();
    if (elementBehindPointer(index)) return;
    const types::TypeId array = table_.strip(at_.type);
    if (array == types::kNoType || table_[array].kind != types::Kind::array)
      refuse(expression_, "[" + std::to_string(index) + "] follows something that is not an array",
             "Leave the index out");
    const auto& dimensions = table_[array].dimensions;
    const auto count = dimension_ < dimensions.size() ? dimensions[dimension_] : std::nullopt;
    if (count && index >= *count)
      refuse(
          expression_,
          "[" + std::to_string(index) + "] is outside of the array's " + std::to_string(*count) + " elements",
          "Indices begin at 0");
    ++dimension_;
    const auto bytes = knownSize();
    if (!bytes)
      refuse(expression_,
             "the debug information does not define " + table_.nameOf(table_[array].target) +
                 ", so it is unknown where [" + std::to_string(index) + "] lies",
             std::string(kInsteadOfUndefined));
    at_.address += index * *bytes;
    if (dimension_ < dimensions.size()) return;
    at_.type = table_[array].target;
    dimension_ = 0;
  }

  bool elementBehindPointer(uint64_t index) {
    const types::TypeId type = table_.strip(at_.type);
    // A container of the standard library begins with the pointer to its elements.
    const bool isContainer = types::isAggregate(table_.kind(type)) && table_[type].name.starts_with("std::");
    if (dimension_ != 0 || (table_.kind(type) != types::Kind::pointer && !isContainer)) return false;
    if (pointer_) refuse(expression_, std::string(kPointers), std::string(kInsteadOfPointers));
    const types::TypeId element = types::pointeeAt(table_, type, 0);
    const uint64_t bytes = table_.sizeOf(element).value_or(0);
    if (bytes == 0)
      refuse(expression_,
             "it is unknown where [" + std::to_string(index) +
                 "] lies: the debug information does not say what the pointer leads to",
             std::string(kInsteadOfUndefined));
    pointer_ = at_.address;
    at_ = {element, index * bytes, bytes};
    return true;
  }

  void member(std::string_view name) {
    const types::TypeId type = table_.strip(at_.type);
    if (dimension_ == 0 && type != types::kNoType) {
      for (const types::NamedMember& found : types::namedMembers(table_, type)) {
        if (found.name != name) continue;
        at_ = {found.member.type, at_.address + found.offset, found.member.size};
        return;
      }
    }
    if (type != types::kNoType && table_[type].kind == types::Kind::pointer)
      refuse(expression_, std::string(kPointers), std::string(kInsteadOfPointers));
    const std::string of = type == types::kNoType ? "an unknown type" : table_.nameOf(type);
    if (const auto undefined = types::undefinedPart(table_, type))
      refuse(expression_,
             of + " has no member '" + std::string(name) +
                 "' that is known: the debug information does not define " + table_.nameOf(*undefined),
             std::string(kInsteadOfUndefined));
    refuse(expression_, of + " has no member '" + std::string(name) + "'",
           "`cacheline layout` prints the members of a type");
  }

  const types::TypeTable& table_;
  const WatchExpression& expression_;
  Typed at_;
  std::optional<uint64_t> pointer_;
  size_t dimension_ = 0;  ///< of the array `at_.type`, that indices used up
};

/// Names each piece by the member that lies there.
void nameByMembers(const types::TypeTable& table, types::TypeId type, uint64_t address,
                   const std::string& name, std::vector<WatchPiece>& pieces) {
  for (WatchPiece& piece : pieces) {
    const auto fields = types::fieldsAt(table, type, piece.address - address, piece.length);
    if (fields.empty() || fields.front().path.empty()) continue;
    const std::string& path = fields.front().path;
    piece.name = name + (path.front() == '[' ? "" : ".") + path;
  }
}

}  // namespace

WatchExpression parseWatch(const std::string& text) {
  WatchExpression expression{text, text, 0, std::nullopt};
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && isDigits(std::string_view(text).substr(colon + 1))) {
    expression.place = text.substr(0, colon);
    expression.length = parse(std::string_view(text).substr(colon + 1), 10).value_or(0);
    if (expression.length == 0 || expression.length > kMostWatched)
      refuse(expression, "a length is 1 to " + std::to_string(kMostWatched) + " bytes", "Write NAME:8");
  }
  if (expression.place.empty())
    refuse(expression, "the expression is empty", "Write --watch NAME or --watch 0xADDRESS");
  if (expression.place.find("->") != std::string::npos || expression.place.starts_with('*') ||
      expression.place.starts_with('&'))
    refuse(expression, std::string(kPointers), std::string(kInsteadOfPointers));
  if (expression.place.starts_with("0x")) {
    expression.address = parse(std::string_view(expression.place).substr(2), 16);
    if (!expression.address) refuse(expression, "it is not an address", "Write --watch 0x4040a0:8");
    if (expression.length == 0) expression.length = kWord - *expression.address % kWord;
  }
  return expression;
}

std::vector<WatchPiece> cutIntoWords(uint64_t address, uint64_t length, const std::string& name) {
  std::vector<WatchPiece> pieces;
  for (uint64_t at = address, end = address + length; at < end;) {
    uint64_t bytes = kWord;
    while (at % bytes != 0 || bytes > end - at) bytes /= 2;
    pieces.push_back({at, static_cast<uint32_t>(bytes),
                      bytes == length ? name : name + "+" + std::to_string(at - address)});
    at += bytes;
  }
  return pieces;
}

std::optional<WatchPlace> placeOf(symbols::Module& module, const WatchExpression& expression) {
  if (module.image() == nullptr) return std::nullopt;
  const std::string_view text = expression.place;
  const size_t path = endOfName(*module.image(), text);
  const symbols::Symbol* symbol = variable(*module.image(), text.substr(0, path));
  if (symbol == nullptr) return std::nullopt;

  layouts::BinaryTypes types(module);
  const auto typed = types.variableAt(symbol->address);
  uint64_t address = symbol->address, size = symbol->size;
  types::TypeId type = types::kNoType;
  std::optional<uint64_t> pointer;
  if (typed && typed->address == symbol->address && typed->type != types::kNoType) {
    Walk walk(types.table(), expression, {typed->type, symbol->address, symbol->size});
    walk.follow(text.substr(path));
    address = walk.address();
    pointer = walk.pointer();
    // A flexible array is what is left of the variable; a structure without members has nothing.
    const types::TypeTable& table = types.table();
    const bool isEmpty =
        types::isAggregate(table.kind(table.strip(walk.type()))) && table.sizeOf(walk.type()) == 0;
    const uint64_t left =
        !pointer && !isEmpty && symbol->address + size > address ? symbol->address + size - address : 0;
    size = walk.size() == 0 ? left : walk.size();
    if (size == 0 && expression.length == 0 && path < text.size())
      refuse(expression, "the variable ends before that place", "Give an address and a length");
    if (walk.size() == types.table().sizeOf(walk.type())) type = walk.type();
  } else if (path < text.size()) {
    refuse(expression, module.path() + " has no debug information that says what is in it",
           "Compile with -g, or give an address and a length");
  }
  if (expression.length != 0) size = expression.length;
  if (size == 0) size = kWord;
  if (size > kMostWatched)
    refuse(expression, "it is " + std::to_string(size) + " bytes long",
           "Watch a part of at most " + std::to_string(kMostWatched) + " bytes: NAME:64");
  std::vector<WatchPiece> pieces = cutIntoWords(address, size, expression.place);
  if (pieces.size() > 1 && type != types::kNoType)
    nameByMembers(types.table(), type, address, expression.place, pieces);
  return WatchPlace{std::move(pieces), pointer};
}

bool isExported(const symbols::Module& module, const WatchExpression& expression) {
  if (module.image() == nullptr) return false;
  const std::string_view text = expression.place;
  const symbols::Symbol* symbol = variable(*module.image(), text.substr(0, endOfName(*module.image(), text)));
  return symbol != nullptr && module.image()->exports(symbol->name);
}

std::string otherwiseNamed(const symbols::Module& module, const WatchExpression& expression) {
  if (module.image() == nullptr) return {};
  const std::string_view text = expression.place;
  const std::string_view wanted = text.substr(0, text.find_first_of(".["));
  const auto isWanted = [wanted](std::string_view name) {
    return name == wanted || withoutNumber(name) == wanted || isNamed(symbols::demangle(name), wanted);
  };
  if (std::ranges::any_of(module.image()->threadLocalNames(), isWanted))
    return "it is thread-local: each thread has its own";
  const auto address = module.image()->addressOfSymbol(wanted);
  return address && module.image()->functionAt(*address) ? "it is a function" : std::string();
}

}  // namespace cacheline::analysis
