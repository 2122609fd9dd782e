// BinaryTypes: the table of types and the variables of one module.
#include "types/binary_types.h"

#include "symbols/dwarf_index.h"

namespace cacheline::types {

struct BinaryTypes::Impl {
  explicit Impl(symbols::Module& from)
      : module(from), table(from.dwarf() != nullptr ? from.dwarf()->handle() : nullptr) {}
  symbols::Module& module;
  TypeTable table;
};

BinaryTypes::BinaryTypes(symbols::Module& module) : impl_(std::make_unique<Impl>(module)) {}
BinaryTypes::~BinaryTypes() = default;

TypeTable& BinaryTypes::table() {
  return impl_->table;
}

std::optional<TypedVariable> BinaryTypes::variableAt(uint64_t address) {
  symbols::DwarfIndex* dwarf = impl_->module.dwarf();
  if (dwarf == nullptr) return std::nullopt;
  const symbols::StaticVariable* found = dwarf->staticVariableAt(address);
  if (found == nullptr) return std::nullopt;
  return TypedVariable{dwarf->names().of(found->die), found->address, impl_->table.typeOf(found->die)};
}

}  // namespace cacheline::types
