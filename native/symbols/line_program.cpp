// Format: DWARF 5, 6.2; DWARF 4, 6.2 for versions 2 to 4.
#include "symbols/line_program.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <utility>

#include "symbols/die.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {

struct LineProgram::Header {
  Cursor cursor;
  bool wide = false;  ///< 64-bit DWARF
  Bytes strings, lineStrings;
  std::string_view compilationDir;

  uint64_t offset() { return wide ? cursor.word<uint64_t>() : cursor.word<uint32_t>(); }
  /// Up to the next NUL, which must be there.
  std::string_view text() {
    const std::string_view found = stringAt(cursor.rest, 0);
    const Bytes bytes = cursor.take(found.size() + 1);
    if (bytes.empty() || bytes.back() != 0) cursor.good = false;
    return found;
  }
};

namespace {

constexpr uint64_t kMostFiles = 1 << 20;       // of one table
constexpr uint64_t kMostColumns = UINT16_MAX;  // libdw knows no more
/// How many operands the standard opcodes have, from DW_LNS_copy on.
constexpr std::array<uint8_t, 12> kOperands{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

}  // namespace

std::optional<LineProgram> LineProgram::of(Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word at = 0;
  uint8_t kind = 0;
  if (unit.cu == nullptr ||
      dwarf_cu_info(unit.cu, nullptr, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      kind == DW_UT_split_compile || kind == DW_UT_split_type ||
      dwarf_attr(&unit, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &at) != 0)
    return std::nullopt;
  Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(unit.cu));
  const auto format = linkedFormat(elf);
  if (!format) return std::nullopt;
  const Bytes lines = plainSection(elf, ".debug_line");
  if (at >= lines.size()) return std::nullopt;
  LineProgram program;
  program.format_ = *format;
  const char* folder = stringAttribute(unit, DW_AT_comp_dir);
  Header header{{lines.subspan(static_cast<size_t>(at)), program.format_},
                false,
                plainSection(elf, ".debug_str"),
                plainSection(elf, ".debug_line_str"),
                folder != nullptr ? folder : ""};
  if (!program.readHeader(header)) return std::nullopt;
  return program;
}

bool LineProgram::readHeader(Header& header) {
  Cursor& cursor = header.cursor;
  uint64_t length = cursor.word<uint32_t>();
  header.wide = length == UINT32_MAX;
  if (header.wide) length = cursor.word<uint64_t>();
  cursor.rest = cursor.take(length);
  const auto version = cursor.word<uint16_t>();
  if (version < 2 || version > 5) return false;
  if (version == 5) cursor.take(2);  // sizes of addresses and segment selectors
  const uint64_t headerLength = header.offset();
  program_ = cursor.rest;
  cursor.rest = cursor.take(headerLength);
  if (cursor.good) program_ = program_.subspan(static_cast<size_t>(headerLength));
  instructionLength_ = cursor.byte();
  const uint8_t operations = version >= 4 ? cursor.byte() : uint8_t{1};  // of one instruction
  cursor.byte();  // whether rows are statements at first
  lineBase_ = static_cast<int8_t>(cursor.byte());
  lineRange_ = cursor.byte();
  opcodes_ = cursor.byte();
  const Bytes operands = cursor.take(opcodes_ == 0 ? 0 : opcodes_ - 1);
  usual_ = operations == 1 && lineRange_ != 0 && operands.size() <= kOperands.size() &&
           std::equal(operands.begin(), operands.end(), kOperands.begin());
  return cursor.good && (version == 5 ? readTables(header) : readOldTables(header)) && cursor.good;
}

/// Folders, then files, each as the forms before them say.
bool LineProgram::readTables(Header& header) {
  Cursor& cursor = header.cursor;
  std::vector<std::string_view> folders;
  for (const bool isFile : {false, true}) {
    std::vector<std::pair<uint64_t, uint64_t>> formats(cursor.byte());  // content and form
    for (auto& [content, form] : formats) {
      content = cursor.uleb();
      form = cursor.uleb();
    }
    const uint64_t count = cursor.uleb();
    if (!cursor.good || count > kMostFiles || (formats.empty() && count > 0)) return false;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view name;
      uint64_t folder = 0;
      for (const auto& [content, form] : formats) {
        std::string_view text;
        uint64_t number = 0;
        switch (form) {
          case DW_FORM_string:
            text = header.text();
            break;
          case DW_FORM_line_strp:
            text = stringAt(header.lineStrings, header.offset());
            break;
          case DW_FORM_strp:
            text = stringAt(header.strings, header.offset());
            break;
          case DW_FORM_udata:
            number = cursor.uleb();
            break;
          case DW_FORM_data1:
            number = cursor.byte();
            break;
          case DW_FORM_data2:
            number = cursor.word<uint16_t>();
            break;
          case DW_FORM_data16:
            cursor.take(16);
            break;
          default:
            return false;
        }
        if (content == DW_LNCT_path) name = text;
        if (content == DW_LNCT_directory_index) folder = number;
      }
      if (!cursor.good || name.empty()) return false;
      if (!isFile) {
        folders.push_back(name);
      } else {
        if (folder >= folders.size()) return false;
        files_.push_back({name, folders[static_cast<size_t>(folder)]});
      }
    }
  }
  return true;
}

/// Both count from 1; number 0 is the unit's folder, and no file.
bool LineProgram::readOldTables(Header& header) {
  Cursor& cursor = header.cursor;
  std::vector<std::string_view> folders{header.compilationDir};
  for (std::string_view folder; !(folder = header.text()).empty() && folders.size() < kMostFiles;)
    folders.push_back(folder);
  files_.emplace_back();
  for (std::string_view name; !(name = header.text()).empty() && files_.size() < kMostFiles;) {
    const uint64_t folder = cursor.uleb();
    cursor.uleb();  // when it was written
    cursor.uleb();  // bytes
    if (!cursor.good || folder >= folders.size()) return false;
    files_.push_back({name, folders[static_cast<size_t>(folder)]});
  }
  return true;
}

std::optional<std::vector<LineProgram::Row>> LineProgram::rows() const {
  if (!usual_) return std::nullopt;
  std::vector<Row> rows;
  rows.reserve(program_.size() / 4);  // compilers take some four bytes a row
  Cursor cursor{program_, format_};
  Row row;
  const auto advance = [&](uint64_t steps) { row.address += steps * instructionLength_; };
  while (!cursor.rest.empty() && cursor.good) {
    const uint8_t opcode = cursor.byte();
    if (opcode >= opcodes_) {
      const auto special = static_cast<uint8_t>(opcode - opcodes_);
      row.line += static_cast<uint32_t>(lineBase_ + special % lineRange_);
      advance(special / lineRange_);
      rows.push_back(row);
      continue;
    }
    switch (opcode) {
      case 0:
        if (!runExtended(cursor, row, rows)) return std::nullopt;
        break;
      case DW_LNS_copy:
        rows.push_back(row);
        break;
      case DW_LNS_advance_pc:
        advance(cursor.uleb());
        break;
      case DW_LNS_advance_line:
        row.line += static_cast<uint32_t>(cursor.sleb());
        break;
      case DW_LNS_set_file:
        if (const uint64_t file = cursor.uleb(); file < UINT32_MAX)
          row.file = static_cast<uint32_t>(file);
        else
          return std::nullopt;
        break;
      case DW_LNS_set_column:
        if (const uint64_t column = cursor.uleb(); column <= kMostColumns)
          row.column = static_cast<uint32_t>(column);
        else
          return std::nullopt;
        break;
      case DW_LNS_const_add_pc:
        advance((255u - opcodes_) / lineRange_);
        break;
      case DW_LNS_fixed_advance_pc:
        row.address += cursor.word<uint16_t>();
        break;
      case DW_LNS_set_isa:
        cursor.uleb();
        break;
      default:
        break;  // what is said of instructions, not of lines
    }
  }
  if (!cursor.good || (!rows.empty() && !rows.back().end)) return std::nullopt;
  return rows;
}

/// False: it is unusual.
bool LineProgram::runExtended(Cursor& cursor, Row& row, std::vector<Row>& rows) const {
  Cursor operands{cursor.take(cursor.uleb()), format_};
  switch (operands.byte()) {
    case DW_LNE_end_sequence:
      row.end = true;
      rows.push_back(row);
      row = {};
      return operands.good;
    case DW_LNE_set_address:
      if (operands.rest.size() == sizeof(uint64_t))
        row.address = operands.word<uint64_t>();
      else if (operands.rest.size() == sizeof(uint32_t))
        row.address = operands.word<uint32_t>();
      else
        return false;
      return true;
    case DW_LNE_define_file:
      return false;
    default:
      return operands.good;  // a discriminator, or a vendor's
  }
}

}  // namespace cacheline::symbols
