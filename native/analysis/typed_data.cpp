// Names of typed objects.
#include "analysis/typed_data.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace cacheline::analysis {

namespace {

/// `[2].count` of an array is `count` of its element 2.
std::string withoutElement(const std::string& path) {
  if (path.empty() || path.front() != '[') return path;
  const size_t end = path.find(']');
  if (end == std::string::npos) return path;
  return path.substr(end + 1 < path.size() && path[end + 1] == '.' ? end + 2 : end + 1);
}

/// Of an object that is an array, the element of its outermost dimension at `index`; empty: nobody knows
/// which.
void nameElement(const types::TypeTable& table, types::TypeId type, std::optional<uint64_t> index,
                 DataName& name) {
  const types::TypeId stripped = table.strip(type);
  if (stripped == types::kNoType || table.kind(stripped) != types::Kind::array) return;
  const std::vector<std::optional<uint64_t>>& dimensions = table[stripped].dimensions;
  name.instance.reset();
  const uint64_t size = std::exchange(name.size, std::nullopt).value_or(0);
  if (dimensions.empty() || dimensions.front().value_or(0) == 0 || size == 0) return;
  name.size = size / *dimensions.front();
  if (name.base && index) name.instance = *name.base + *index * *name.size;
}

}  // namespace

const types::FieldPath& chooseField(const std::vector<types::FieldPath>& fields, uint32_t width) {
  const auto fitting =
      std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.size == width; });
  return fitting == fields.end() ? fields.front() : *fitting;
}

std::string fieldText(const std::vector<types::FieldPath>& fields, uint32_t width) {
  const types::FieldPath& chosen = chooseField(fields, width);
  std::string text = chosen.path;
  for (const types::FieldPath& other : fields)
    if (other.path != chosen.path) text += " | " + other.path;
  return text;
}

void nameField(const types::TypeTable& table, const TypedPlace& place, uint64_t address, uint32_t width,
               DataName& name) {
  name.type = table.nameOf(place.type);
  if (place.based) name.base = address - place.offset;
  // An array whose length nobody knows.
  uint64_t offset = place.offset, before = 0;
  const uint64_t size = table.sizeOf(place.type).value_or(0);
  if (size != 0 && (place.array || offset >= size) && !types::endsInFlexibleArray(table, place.type)) {
    name.index = offset / size;
    before = offset / size * size;
    offset %= size;
  }
  if (size != 0) name.size = size;
  if (name.base) name.instance = *name.base + before;
  const std::vector<types::FieldPath> fields =
      types::fieldsAt(table, place.type, offset, std::max(width, 1u), place.element);
  const types::FieldPath* chosen = fields.empty() ? nullptr : &chooseField(fields, width);
  const auto open = chosen == nullptr || !table.sizeOf(chosen->type)
                        ? types::openClassAt(table, place.type, offset)
                        : std::nullopt;
  // Of what was not read a warning tells.
  if (open && open->type != types::kUnreadType && (open->placed || fields.empty()))
    name.incomplete = table.nameOf(open->type);
  if (fields.empty()) {
    if (!open) name.because += "; no member lies at offset " + std::to_string(offset);
    return;
  }
  const types::FieldPath& field = *chosen;
  if (open && open->placed && field.path.empty()) return;
  // Of an array at hand; else the element is the object's own, and its path is from there.
  const auto path = [&](const types::FieldPath& its) {
    return name.index ? its.path : withoutElement(its.path);
  };
  name.field = path(field);
  for (const types::FieldPath& other : fields)
    if (other.path != field.path) name.field += " | " + path(other);
  if (place.element != 0 && field.index) {
    if (!name.index) nameElement(table, place.type, {}, name);
    return;
  }
  name.fieldOffset = before + field.offset;
  if (name.index || !field.index) return;
  name.index = field.index;
  nameElement(table, place.type, field.index, name);
}

TypedPlace nameGlobal(TypedBinaries& typed, const NamedData& data, DataName& name) {
  TypedPlace place;
  name.how = How::global;
  const std::string binary = typed.binaries().baseName(data.binary);
  if (!typed.described(data.binary)) {
    name.because = "symbol of " + binary + ", which has no debug information about its type";
    return place;
  }
  const auto variable = typed.types(data.binary).variableAt(data.elfAddress);
  if (!variable || data.elfAddress < variable->address) {
    name.because = "symbol of " + binary + ", whose debug information does not describe it";
    return place;
  }
  if (variable->type == types::kNoType) {
    name.because = "variable `" + variable->name + "`, whose type the debug information does not say";
    return place;
  }
  name.because = "variable `" + variable->name + "` covers the address";
  place.binary = data.binary;
  place.type = variable->type;
  place.offset = data.elfAddress - variable->address;
  place.based = true;
  return place;
}

}  // namespace cacheline::analysis
