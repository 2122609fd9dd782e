// Formats: DWARF 5, 7.7.3 (lists) and 7.7.1 (operations); DW_LLE_view_pair is GNU's.
#include "inference/location_lists.h"

#include <dwarf.h>
#include <gelf.h>

#include <bit>

#include "symbols/raw_sections.h"

namespace cacheline::inference {
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

LocationLists::LocationLists(Dwarf_Die die) {
  Dwarf_Die unit{};
  uint8_t addressSize = 0, offsetSize = 0, kind = 0;
  Dwarf_Half version = 0;
  if (die.cu == nullptr || dwarf_diecu(&die, &unit, &addressSize, &offsetSize) == nullptr ||
      addressSize != sizeof(uint64_t) ||
      dwarf_cu_info(die.cu, &version, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0)
    return;
  Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(die.cu));
  GElf_Ehdr header;
  // The sections of an object file want relocating; a .dwo file counts from elsewhere.
  if (gelf_getehdr(elf, &header) == nullptr || header.e_type == ET_REL || kind == DW_UT_split_compile) return;
  format_.swapped = (header.e_ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big);
  offsetSize_ = offsetSize;
  const bool has = dwarf_hasattr(&unit, DW_AT_low_pc) == 1;
  if (version < 5 || (has ? dwarf_lowpc(&unit, &base_) != 0 : dwarf_hasattr(&unit, DW_AT_entry_pc) == 1))
    return;
  lists_ = symbols::plainSection(elf, ".debug_loclists");
}

std::optional<std::vector<LocationRange>> LocationLists::read(const symbols::DieScan::Raw& location) const {
  if (offsetSize_ == 0) return std::nullopt;
  Cursor cursor{{location.bytes, static_cast<size_t>(location.size)}, format_};
  if (location.form == DW_FORM_sec_offset)
    return listAt(offsetSize_ == sizeof(uint64_t) ? cursor.word<uint64_t>() : cursor.word<uint32_t>());
  if (location.form != DW_FORM_exprloc) return std::nullopt;
  auto expression = readExpression(cursor.take(cursor.uleb()), format_);
  if (!expression) return std::nullopt;
  std::vector<LocationRange> everywhere(1);
  everywhere[0].expression = std::move(*expression);
  return everywhere;
}

std::optional<std::vector<LocationRange>> LocationLists::listAt(uint64_t offset) const {
  if (offset >= lists_.size()) return std::nullopt;
  std::vector<LocationRange> ranges;
  uint64_t base = base_;
  Cursor cursor{lists_.subspan(static_cast<size_t>(offset)), format_};
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
    auto expression = readExpression(cursor.take(cursor.uleb()), format_);
    if (!expression) return std::nullopt;
    if (high > low) ranges.push_back({low, high, std::move(*expression)});
  }
  return std::nullopt;
}

}  // namespace cacheline::inference
