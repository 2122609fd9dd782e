// From libdw's expressions to our own, which need no file any more; and the forms that are just an addition.
#include <dwarf.h>

#include <algorithm>

#include "inference/location.h"
#include "symbols/die.h"

namespace cacheline::inference {
namespace {

constexpr int kMostRanges = 1 << 14;  // of one location list

Expression compileNested(Dwarf_Attribute* attribute, const Dwarf_Op* operations, size_t count,
                         uint64_t address, int depth);

/// The expression of `attribute` at an address: a list's entry, or the only one.
Expression compileAt(Dwarf_Attribute& attribute, uint64_t address, int depth) {
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_getlocation_addr(&attribute, address, &operations, &count, 1) != 1) return {};
  return compileNested(&attribute, operations, count, address, depth);
}

/// A constant address that stands in .debug_addr.
bool resolveIndexed(Dwarf_Attribute* attribute, const Dwarf_Op& operation, Operation& result) {
  Dwarf_Attribute indexed;
  Dwarf_Addr address = 0;
  if (attribute == nullptr || dwarf_getlocation_attr(attribute, &operation, &indexed) != 0) return false;
  if (operation.atom == DW_OP_addrx || operation.atom == DW_OP_GNU_addr_index) {
    if (dwarf_formaddr(&indexed, &address) != 0) return false;
    result.code = DW_OP_addr;
  } else {
    Dwarf_Word word = 0;
    if (dwarf_formudata(&indexed, &word) != 0 && dwarf_formaddr(&indexed, &word) != 0) return false;
    address = word;
    result.code = DW_OP_constu;
  }
  result.first = address;
  return true;
}

/// DW_OP_implicit_value's bytes as a number: as the machine is little-endian, the value itself.
void takeImplicitValue(Dwarf_Attribute* attribute, const Dwarf_Op& operation, Operation& result) {
  Dwarf_Block block{};
  result.second = UINT64_MAX;  // too large to be a number
  if (attribute == nullptr || dwarf_getlocation_implicit_value(attribute, &operation, &block) != 0) return;
  if (block.length > sizeof result.first || block.data == nullptr) return;
  result.first = 0;
  for (size_t i = 0; i < block.length; i++) result.first |= uint64_t{block.data[i]} << (8 * i);
  result.second = block.length;
}

/// The index of the operation at a byte offset of the expression; past the end where there is none.
uint64_t indexOfByte(const Dwarf_Op* operations, size_t count, uint64_t offset) {
  const Dwarf_Op* end = operations + count;
  const Dwarf_Op* found = std::lower_bound(operations, end, offset,
                                           [](const Dwarf_Op& op, uint64_t at) { return op.offset < at; });
  if (found == end) return count;
  return found->offset == offset ? static_cast<uint64_t>(found - operations) : UINT64_MAX;
}

Expression compileNested(Dwarf_Attribute* attribute, const Dwarf_Op* operations, size_t count,
                         uint64_t address, int depth) {
  Expression expression;
  if (count > kMostOperations) {
    expression.operations.push_back({DW_OP_deref, 0, 0});  // unknown, but not optimised out
    return expression;
  }
  expression.operations.reserve(count);
  for (size_t i = 0; i < count; i++) {
    const Dwarf_Op& operation = operations[i];
    Operation result{operation.atom, operation.number, operation.number2};
    switch (operation.atom) {
      case DW_OP_addrx:
      case DW_OP_GNU_addr_index:
      case DW_OP_constx:
      case DW_OP_GNU_const_index:
        resolveIndexed(attribute, operation, result);
        break;
      case DW_OP_implicit_value:
        takeImplicitValue(attribute, operation, result);
        break;
      case DW_OP_bregx:  // as the rules of call frame information come
        if (operation.number < 32)
          result = {static_cast<uint8_t>(DW_OP_breg0 + operation.number), operation.number2, 0};
        break;
      case DW_OP_regval_type:  // a register as a typed value: its number is what pointers need
      case DW_OP_GNU_regval_type:
        if (operation.number < 32) result = {static_cast<uint8_t>(DW_OP_breg0 + operation.number), 0, 0};
        break;
      case DW_OP_skip:
      case DW_OP_bra: {
        // The operand counts from the byte after it: one of opcode, two of operand.
        const uint64_t target =
            operation.offset + 3 + static_cast<uint64_t>(static_cast<int16_t>(operation.number));
        result.first = indexOfByte(operations, count, target);
        break;
      }
      case DW_OP_implicit_pointer:
      case DW_OP_GNU_implicit_pointer: {
        Dwarf_Attribute target;
        result.first = operation.number2;  // the offset; the DIE becomes an inner expression
        if (attribute == nullptr || depth >= kDeepestInner ||
            dwarf_getlocation_implicit_pointer(attribute, &operation, &target) != 0)
          break;
        result.inner = static_cast<uint32_t>(expression.inner.size());
        expression.inner.push_back(compileAt(target, address, depth + 1));
        break;
      }
      case DW_OP_entry_value:
      case DW_OP_GNU_entry_value: {
        Dwarf_Attribute value;
        if (attribute == nullptr || depth >= kDeepestInner ||
            dwarf_getlocation_attr(attribute, &operation, &value) != 0)
          break;
        result.inner = static_cast<uint32_t>(expression.inner.size());
        expression.inner.push_back(compileAt(value, address, depth + 1));
        break;
      }
      default:
        break;
    }
    expression.operations.push_back(result);
  }
  return expression;
}

}  // namespace

Expression compileExpression(Dwarf_Attribute* attribute, const Dwarf_Op* operations, size_t count,
                             uint64_t address) {
  return compileNested(attribute, operations, count, address, 0);
}

void acceptPlainBlock(Dwarf_Attribute& attribute) {
  Dwarf_Block block;
  if (attribute.form == DW_FORM_block1 && dwarf_formblock(&attribute, &block) == 0 && block.length < 0x80)
    attribute.form = DW_FORM_exprloc;
}

std::vector<LocationRange> locationRanges(Dwarf_Die& die) {
  std::vector<LocationRange> ranges;
  Dwarf_Attribute attribute;
  if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr) return ranges;
  acceptPlainBlock(attribute);
  ptrdiff_t at = 0;
  Dwarf_Addr base = 0, low = 0, high = 0;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  for (int i = 0; i < kMostRanges; i++) {
    at = dwarf_getlocations(&attribute, at, &base, &low, &high, &operations, &count);
    if (at <= 0) break;
    if (high <= low) continue;
    ranges.push_back({low, high, compileExpression(&attribute, operations, count, low)});
  }
  return ranges;
}

std::optional<Linear> linearForm(const Expression& expression, const Expression* frameBase,
                                 const Expression* cfa) {
  const auto& operations = expression.operations;
  if (operations.empty()) return std::nullopt;
  Linear linear;
  const Operation& first = operations[0];
  const auto from = [&](const Expression* helper) {
    // One level only: a frame base may be the call frame address, which is a register and an offset.
    const auto base =
        helper != nullptr ? linearForm(*helper, nullptr, helper == frameBase ? cfa : nullptr) : std::nullopt;
    if (base) linear = *base;
    linear.inMemory = true;
    return base.has_value();
  };
  if (first.code >= DW_OP_reg0 && first.code <= DW_OP_reg31) {
    if (operations.size() != 1) return std::nullopt;
    linear.inMemory = false;
    linear.reg = perfRegister(first.code - DW_OP_reg0);
    if (linear.reg == kRegNone) return std::nullopt;
    return linear;
  }
  if (first.code >= DW_OP_breg0 && first.code <= DW_OP_breg31) {
    linear.reg = perfRegister(first.code - DW_OP_breg0);
    if (linear.reg == kRegNone) return std::nullopt;
    linear.offset = static_cast<int64_t>(first.first);
  } else if (first.code == DW_OP_fbreg) {
    if (!from(frameBase)) return std::nullopt;
    linear.offset = static_cast<int64_t>(static_cast<uint64_t>(linear.offset) + first.first);
  } else if (first.code == DW_OP_call_frame_cfa) {
    if (!from(cfa)) return std::nullopt;
  } else if (first.code == DW_OP_addr) {
    linear.isAddress = true;
    linear.offset = static_cast<int64_t>(first.first);
  } else {
    return std::nullopt;
  }
  for (size_t i = 1; i < operations.size(); i++) {
    if (operations[i].code == DW_OP_plus_uconst) {
      linear.offset = static_cast<int64_t>(static_cast<uint64_t>(linear.offset) + operations[i].first);
    } else if (operations[i].code == DW_OP_stack_value && i + 1 == operations.size()) {
      linear.inMemory = false;
    } else {
      return std::nullopt;
    }
  }
  return linear;
}

}  // namespace cacheline::inference
