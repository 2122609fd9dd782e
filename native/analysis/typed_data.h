// From an address to the object and the field it is in: type, path, element, and how that is known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/data_names.h"
#include "analysis/report.h"
#include "analysis/typed_binaries.h"
#include "types/field_path.h"

namespace cacheline::analysis {

/// The typed object that an access touched.
struct TypedPlace {
  uint32_t binary = kNone;              ///< whose debug information has the type
  types::TypeId type = types::kNoType;  ///< of the whole object; of a heap array: of its elements
  uint64_t offset = 0;                  ///< bytes from the object's start to the access
  bool based = false;                   ///< the object's start is known
  bool array = false;                   ///< objects of `type` lie one after the other from there on
  uint64_t element = 0;  ///< not 0: `offset` is in any element, of so many bytes, of arrays in it
  explicit operator bool() const { return type != types::kNoType; }
};

/// The variable that `data` names, by debug information: fills the reason.
TypedPlace nameGlobal(TypedBinaries& typed, const NamedData& data, DataName& name);

/// Of several members that overlap (not none): the one of the access's width, else the first.
const types::FieldPath& chooseField(const std::vector<types::FieldPath>& fields, uint32_t width);

/// `b1 | b2`: the chosen one of several members that overlap (not none), then the others.
std::string fieldText(const std::vector<types::FieldPath>& fields, uint32_t width);

/// Type, field, element and base of a place in an object at hand. `address`: of the access. `width`: its
/// bytes, 0 unknown.
void nameField(const types::TypeTable& table, const TypedPlace& place, uint64_t address, uint32_t width,
               DataName& name);

}  // namespace cacheline::analysis
