// What the source calls the pointer that leads to an array: a variable or a member.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "types/type_table.h"

namespace cacheline::inference {

/// The pointer at `offset` in an object of a type, as a path of the source's own names: `slots`,
/// `cache.slots`; empty: the object is the pointer, or a container of the standard library around it.
/// nullopt: it has no such name.
std::optional<std::string> pointerPath(const types::TypeTable& table, types::TypeId type, uint64_t offset);

/// A number for a pointer without an address of its own in the file, of that name: the same for the same
/// name, and no ELF address. `local`: a variable of a function, which leads to whatever that was called with.
uint64_t numberOfPointer(std::string_view name, bool local);
bool isNumbered(uint64_t origin);
bool isLocalPointer(uint64_t origin);

/// "count" of "main()::main._omp_fn.0" is `main::count`: compilers cut functions in parts, which the source
/// does not have.
std::string localName(std::string_view function, std::string_view variable);

/// Whether compilers made a structure up, of a function's variables: a closure, what a parallel region gets.
bool isMadeOfLocals(std::string_view type);

}  // namespace cacheline::inference
