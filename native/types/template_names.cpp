// Format: DWARF 5, 2.23; the spelling of values is that of clang's own names (14), by which the tests judge.
#include "types/template_names.h"

#include <dwarf.h>

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include "symbols/die.h"
#include "types/type.h"

namespace cacheline::types {
namespace {

using symbols::referenceAttribute;
using symbols::stringAttribute;
using symbols::unsignedAttribute;

constexpr size_t kLongestArguments = 1 << 14;

/// Only C++ has them, and g++ always writes them out.
bool mayLeaveOut(Dwarf_Die& die) {
  Dwarf_Die unit{};
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  switch (symbols::languageOf(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      break;
    default:
      return false;
  }
  const char* producer = stringAttribute(unit, DW_AT_producer);
  return producer == nullptr || !std::string_view(producer).starts_with("GNU ");
}

bool isTemplateParameter(int tag) {
  return tag == DW_TAG_template_type_parameter || tag == DW_TAG_template_value_parameter ||
         tag == DW_TAG_GNU_template_template_param || tag == DW_TAG_GNU_template_parameter_pack;
}

/// 'a', '\n', '\x04'.
std::string quoted(uint64_t value) {
  constexpr std::array<std::pair<char, const char*>, 9> kEscapes = {{{'\\', "\\\\"},
                                                                     {'\'', "\\'"},
                                                                     {'\a', "\\a"},
                                                                     {'\b', "\\b"},
                                                                     {'\f', "\\f"},
                                                                     {'\n', "\\n"},
                                                                     {'\r', "\\r"},
                                                                     {'\t', "\\t"},
                                                                     {'\v', "\\v"}}};
  for (const auto& [character, escape] : kEscapes)
    if (value == static_cast<uint64_t>(character)) return "'" + std::string(escape) + "'";
  if (value >= 0x20 && value < 0x7f) return {'\'', static_cast<char>(value), '\''};
  std::array<char, 16> text{};
  const char* format = value < 0x100 ? "'\\x%02x'" : value < 0x10000 ? "'\\u%04x'" : "'\\U%08x'";
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(value));
  return text.data();
}

struct Value {
  uint64_t bits = 0;
  int64_t number = 0;
};
std::optional<Value> constantOf(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Word bits = 0;
  Dwarf_Sword number = 0;
  if (dwarf_attr(&die, DW_AT_const_value, &attribute) == nullptr || dwarf_formudata(&attribute, &bits) != 0 ||
      dwarf_formsdata(&attribute, &number) != 0)
    return std::nullopt;
  return Value{bits, number};
}

std::string ofBase(Dwarf_Die& type, const Value& value) {
  const char* text = stringAttribute(type, DW_AT_name);
  const std::string_view name = text != nullptr ? text : "";
  const uint64_t byte = value.bits & 0xff;
  const uint64_t encoding = unsignedAttribute(type, DW_AT_encoding).value_or(0);
  if (encoding == DW_ATE_boolean) return value.bits != 0 ? "true" : "false";
  if (name == "char") return quoted(byte);
  if (name == "signed char" || name == "unsigned char") return "(" + std::string(name) + ")" + quoted(byte);
  if (name == "wchar_t") return "L" + quoted(value.bits & 0xffffffff);
  if (name == "char8_t") return "u8" + quoted(byte);
  if (name == "char16_t") return "u" + quoted(value.bits & 0xffff);
  if (name == "char32_t") return "U" + quoted(value.bits & 0xffffffff);
  const bool isSigned = encoding == DW_ATE_signed;
  const std::string number = isSigned ? std::to_string(value.number) : std::to_string(value.bits);
  return name == "short" || name == "unsigned short" ? "(" + std::string(name) + ")" + number : number;
}

/// The enumerator of that value, with the scopes of its enumeration.
std::string ofEnumeration(Dwarf_Die& type, const Value& value, const NameOfType& nameOf) {
  const std::string whole = nameOf(type);
  Dwarf_Die definition = referenceAttribute(type, DW_AT_signature).value_or(type);  // in a type unit
  const bool scoped = dwarf_hasattr(&definition, DW_AT_enum_class) == 1;
  const size_t last = whole.rfind("::");
  const std::string prefix = scoped                      ? whole + "::"
                             : last != std::string::npos ? whole.substr(0, last + 2)
                                                         : std::string();
  std::string name;
  symbols::forEachChild(definition, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_enumerator) return true;
    const auto known = constantOf(child);
    const char* text = stringAttribute(child, DW_AT_name);
    if (known && known->number == value.number && text != nullptr) name = prefix + text;
    return name.empty();
  });
  return name.empty() ? "(" + whole + ")" + std::to_string(value.number) : name;
}

std::string valueOf(Dwarf_Die& parameter, const NameOfType& nameOf) {
  const auto value = constantOf(parameter);
  auto type = referenceAttribute(parameter, DW_AT_type);
  if (type) type = symbols::unqualified(*type, true);
  if (!value || !type) return "?";
  switch (dwarf_tag(&*type)) {
    case DW_TAG_base_type:
      return ofBase(*type, *value);
    case DW_TAG_enumeration_type:
      return ofEnumeration(*type, *value, nameOf);
    default:
      return value->bits == 0 ? "nullptr" : "?";
  }
}

std::string typeOf(Dwarf_Die& parameter, const NameOfType& nameOf) {
  const auto type = referenceAttribute(parameter, DW_AT_type);
  if (!type) return dwarf_hasattr(&parameter, DW_AT_type) != 0 ? kUnreadName : "void";
  std::string name = nameOf(*type);
  // As C++ writes an empty list of parameters, and as clang writes that type.
  for (size_t at; (at = name.find("(void)")) != std::string::npos;) name.erase(at + 1, 4);
  return name == "decltype(nullptr)" ? "std::nullptr_t" : name;
}

/// Appends the arguments of a class or of a parameter pack.
void addArguments(Dwarf_Die of, const NameOfType& nameOf, std::string& list) {
  symbols::forEachChild(of, [&](Dwarf_Die& parameter) {
    const int tag = dwarf_tag(&parameter);
    if (!isTemplateParameter(tag)) return true;
    if (tag == DW_TAG_GNU_template_parameter_pack) {
      if (dwarf_tag(&of) != tag) addArguments(parameter, nameOf, list);
      return list.size() <= kLongestArguments;
    }
    if (!list.empty()) list += ", ";
    if (tag == DW_TAG_template_type_parameter) {
      list += typeOf(parameter, nameOf);
    } else if (tag == DW_TAG_template_value_parameter) {
      list += valueOf(parameter, nameOf);
    } else {
      const char* text = stringAttribute(parameter, DW_AT_GNU_template_name);
      list += text != nullptr ? text : "?";
    }
    return list.size() <= kLongestArguments;
  });
}

}  // namespace

std::string templateArguments(Dwarf_Die die, const NameOfType& nameOf) {
  const char* name = stringAttribute(die, DW_AT_name);
  Dwarf_Die child{};
  if (name == nullptr || std::string_view(name).find('<') != std::string_view::npos ||
      dwarf_child(&die, &child) != 0 || !isTemplateParameter(dwarf_tag(&child)) || !mayLeaveOut(die))
    return {};
  std::string list;
  addArguments(die, nameOf, list);
  return "<" + list + ">";
}

}  // namespace cacheline::types
