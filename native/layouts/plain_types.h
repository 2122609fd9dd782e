// The named types that the index leaves out, since they have no members of their own.
#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <string_view>

namespace cacheline::layouts {

/// Calls `each` for the typedefs, enumerations and basic types of a unit, those in functions left out, that
/// are called `component` (squeezed, without scopes). A walk over all of the unit: for names that no
/// structure has.
void forEachPlainType(Dwarf_Die unit, std::string_view component,
                      const std::function<void(const Dwarf_Die&)>& each);

}  // namespace cacheline::layouts
