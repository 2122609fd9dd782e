// Expressions become our own, which need no file any more: from libdw's, and the usual ones from their bytes.
// Formats: DWARF 5, 7.7.3 (lists) and 7.7.1 (operations); DW_LLE_view_pair is GNU's.
#include "inference/location_reader.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/die.h"

namespace cacheline::inference {
namespace {

constexpr int kMostRanges = 1 << 14;  // of one location list
// What DWARF may say in one place; more is not read.
constexpr size_t kMostOperations = 4096;  // of one expression
constexpr int kDeepestInner = 3;          // entry values of entry values

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

namespace {

constexpr size_t kMostEntries = 1 << 15;  // of one list

using symbols::Cursor;

std::optional<Expression> readNested(std::span<const uint8_t> bytes, const symbols::ElfFormat& format,
                                     int depth);

bool hasNoOperands(uint8_t code) {
  return (code >= DW_OP_lit0 && code <= DW_OP_reg31) || code == DW_OP_deref || code == DW_OP_dup ||
         code == DW_OP_drop || code == DW_OP_over || code == DW_OP_swap || code == DW_OP_rot ||
         (code >= DW_OP_abs && code <= DW_OP_xor && code != DW_OP_plus_uconst) ||
         (code >= DW_OP_eq && code <= DW_OP_ne) || code == DW_OP_nop || code == DW_OP_stack_value ||
         code == DW_OP_call_frame_cfa;
}

template <typename T>
uint64_t extended(uint64_t value) {
  return static_cast<uint64_t>(int64_t{static_cast<T>(value)});
}

/// Takes the operands of an operation; false where libdw has to be asked.
bool takeOperands(Cursor& cursor, int depth, Operation& operation, Expression& expression) {
  const uint8_t code = operation.code;
  if (hasNoOperands(code)) return true;
  if ((code >= DW_OP_breg0 && code <= DW_OP_breg31) || code == DW_OP_fbreg || code == DW_OP_consts) {
    operation.first = cursor.sleb();
    return true;
  }
  switch (code) {
    case DW_OP_addr:
    case DW_OP_const8u:
    case DW_OP_const8s:
      operation.first = cursor.word<uint64_t>();
      return true;
    case DW_OP_const1u:
    case DW_OP_deref_size:
      operation.first = cursor.byte();
      return true;
    case DW_OP_const1s:
      operation.first = extended<int8_t>(cursor.byte());
      return true;
    case DW_OP_const2u:
      operation.first = cursor.word<uint16_t>();
      return true;
    case DW_OP_const2s:
      operation.first = extended<int16_t>(cursor.word<uint16_t>());
      return true;
    case DW_OP_const4u:
      operation.first = cursor.word<uint32_t>();
      return true;
    case DW_OP_const4s:
      operation.first = extended<int32_t>(cursor.word<uint32_t>());
      return true;
    case DW_OP_constu:
    case DW_OP_plus_uconst:
    case DW_OP_piece:
    case DW_OP_regx:
      operation.first = cursor.uleb();
      return true;
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value: {
      if (depth == kDeepestInner) return false;
      auto inner = readNested(cursor.take(cursor.uleb()), cursor.format, depth + 1);
      if (!inner) return false;
      operation.inner = static_cast<uint32_t>(expression.inner.size());
      expression.inner.push_back(std::move(*inner));
      return true;
    }
    default:
      return false;
  }
}

std::optional<Expression> readNested(std::span<const uint8_t> bytes, const symbols::ElfFormat& format,
                                     int depth) {
  Expression expression;
  Cursor cursor{bytes, format};
  while (!cursor.rest.empty()) {
    Operation operation{cursor.byte()};
    if (!takeOperands(cursor, depth, operation, expression) || !cursor.good ||
        expression.operations.size() == kMostOperations)
      return std::nullopt;
    expression.operations.push_back(operation);
  }
  return expression;
}

}  // namespace

std::optional<Expression> readExpression(std::span<const uint8_t> bytes, const symbols::ElfFormat& format) {
  return readNested(bytes, format, 0);
}

LocationLists::LocationLists(Dwarf_Die die) : unit_(symbols::unitLists(die, ".debug_loclists")) {}

std::optional<std::vector<LocationRange>> LocationLists::read(const symbols::DieScan::Raw& location) const {
  if (unit_.offsetSize == 0) return std::nullopt;
  Cursor cursor{{location.bytes, static_cast<size_t>(location.size)}, unit_.format};
  if (location.form == DW_FORM_sec_offset)
    return listAt(unit_.offsetSize == sizeof(uint64_t) ? cursor.word<uint64_t>() : cursor.word<uint32_t>());
  if (location.form != DW_FORM_exprloc) return std::nullopt;
  auto expression = readExpression(cursor.take(cursor.uleb()), unit_.format);
  if (!expression) return std::nullopt;
  std::vector<LocationRange> everywhere(1);
  everywhere[0].expression = std::move(*expression);
  return everywhere;
}

std::optional<std::vector<LocationRange>> LocationLists::listAt(uint64_t offset) const {
  if (offset >= unit_.lists.size()) return std::nullopt;
  std::vector<LocationRange> ranges;
  uint64_t base = unit_.base;
  Cursor cursor{unit_.lists.subspan(static_cast<size_t>(offset)), unit_.format};
  for (size_t entry = 0; cursor.good && entry < kMostEntries; entry++) {
    uint64_t low = 0, high = 0;
    switch (cursor.byte()) {
      case DW_LLE_end_of_list:
        return cursor.good ? std::optional(std::move(ranges)) : std::nullopt;
      case DW_LLE_GNU_view_pair:
        cursor.uleb();
        cursor.uleb();
        continue;
      case DW_LLE_base_address:
        base = cursor.word<uint64_t>();
        continue;
      case DW_LLE_offset_pair:
        low = base + cursor.uleb();
        high = base + cursor.uleb();
        break;
      case DW_LLE_start_end:
        low = cursor.word<uint64_t>();
        high = cursor.word<uint64_t>();
        break;
      case DW_LLE_start_length:
        low = cursor.word<uint64_t>();
        high = low + cursor.uleb();
        break;
      default:
        return std::nullopt;
    }
    auto expression = readExpression(cursor.take(cursor.uleb()), unit_.format);
    if (!expression) return std::nullopt;
    if (high > low) ranges.push_back({low, high, std::move(*expression)});
  }
  return std::nullopt;
}

}  // namespace cacheline::inference
