// TypeTable::nameOf: a C declarator around nothing. `int (*[4])(char)` grows from the inside out; Rust and Go
// name their derived types themselves.
#include "types/type_reader.h"
#include "types/type_table.h"

namespace cacheline::types {
namespace {

constexpr int kDeepestName = 32;
constexpr size_t kLongestName = 1 << 14;

class Declarator {
 public:
  explicit Declarator(const TypeTable& table) : table_(table) {}

  /// `inner` is what stands where a declared name would; `binds` where it begins with a `*` that a suffix
  /// must not bind tighter than.
  std::string name(TypeId id, std::string inner, bool binds, int depth) {
    if (depth > kDeepestName || inner.size() > kLongestName) return "...";
    if (id == kNoType) return join("void", inner);
    if (id == kUnreadType) return join(kUnreadName, inner);
    const Type& type = table_[id];
    switch (type.kind) {
      case Kind::pointer:
        if (!type.name.empty()) return join(type.name, inner);
        return name(type.target, "*" + inner, true, depth + 1);
      case Kind::reference:
        if (!type.name.empty()) return join(type.name, inner);
        return name(type.target, "&" + inner, true, depth + 1);
      case Kind::rvalueReference:
        return name(type.target, "&&" + inner, true, depth + 1);
      case Kind::memberPointer:
        return name(type.target,
                    (type.owner != kNoType ? name(type.owner, {}, false, depth + 1) : "") + "::*" + inner,
                    true, depth + 1);
      case Kind::constOf:
        return qualified("const", type, inner, binds, depth);
      case Kind::volatileOf:
        return qualified("volatile", type, inner, binds, depth);
      case Kind::restrictOf:
        return qualified("restrict", type, inner, binds, depth);
      case Kind::atomicOf:
        return qualified("_Atomic", type, inner, binds, depth);
      case Kind::array: {
        if (!type.name.empty()) return join(type.name, inner);
        std::string suffix;
        for (const auto& length : type.dimensions)
          suffix += length ? "[" + std::to_string(*length) + "]" : "[]";
        return name(type.target, (binds ? "(" + inner + ")" : inner) + suffix, false, depth + 1);
      }
      case Kind::function: {
        if (!type.name.empty()) return join(type.name, inner);
        std::string suffix = "(";
        for (const TypeId parameter : type.parameters) {
          if (suffix.size() > 1) suffix += ", ";
          suffix += name(parameter, {}, false, depth + 1);
        }
        if (type.variadic) suffix += type.parameters.empty() ? "..." : ", ...";
        if (type.parameters.empty() && !type.variadic) suffix += "void";
        suffix += ")";
        if (const TypeId self = table_.strip(type.owner);
            self != kNoType && table_[table_[self].target].kind == Kind::constOf)
          suffix += " const";
        return name(type.target, (binds ? "(" + inner + ")" : inner) + suffix, false, depth + 1);
      }
      default:
        if (!type.name.empty()) return join(type.name, inner);
        return join(isAggregate(type.kind) || type.kind == Kind::enumeration
                        ? std::string(kindName(type.kind)) + " {...}"
                        : "(unnamed)",
                    inner);
    }
  }

 private:
  /// A qualifier stands in front of what it qualifies, but behind the `*` of a pointer.
  std::string qualified(const char* word, const Type& type, const std::string& inner, bool binds, int depth) {
    if (isElementsToo(type)) return name(type.target, inner, binds, depth + 1);
    if (isOfPointer(type.target))
      return name(type.target, std::string(word) + (inner.empty() || inner[0] == '[' ? "" : " ") + inner,
                  true, depth + 1);
    return std::string(word) + " " + name(type.target, inner, binds, depth + 1);
  }

  /// Whether it is a pointer without a name of its own, or one that other qualifiers stand on.
  bool isOfPointer(TypeId target) const {
    for (int hop = 0; hop < kDeepestName && target != kNoType && table_[target].name.empty(); hop++) {
      switch (table_[target].kind) {
        case Kind::pointer:
        case Kind::reference:
        case Kind::rvalueReference:
        case Kind::memberPointer:
          return true;
        case Kind::constOf:
        case Kind::volatileOf:
        case Kind::restrictOf:
        case Kind::atomicOf:
          target = table_[target].target;
          break;
        default:
          return false;
      }
    }
    return false;
  }

  /// g++ says of an array, too, that it is const where its elements are; their typedef may say it already.
  bool isElementsToo(const Type& qualifier) const {
    const Type* at = &table_[qualifier.target];
    if (at->kind != Kind::array) return false;
    for (int hop = 0; hop < kDeepestName && at->kind != qualifier.kind; hop++) {
      switch (at->kind) {
        case Kind::array:
        case Kind::typedefOf:
        case Kind::constOf:
        case Kind::volatileOf:
        case Kind::restrictOf:
        case Kind::atomicOf:
          at = &table_[at->target];
          break;
        default:
          return false;
      }
    }
    return at->kind == qualifier.kind;
  }

  static std::string join(std::string base, const std::string& inner) {
    if (inner.empty()) return base;
    return base + (inner[0] == '[' ? "" : " ") + inner;
  }

  const TypeTable& table_;
};

}  // namespace

std::string TypeTable::nameOf(TypeId type) const {
  return Declarator(*this).name(type, {}, false, 0);
}

}  // namespace cacheline::types
