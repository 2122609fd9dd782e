// The line-number program of one compilation unit, read in place: libdw keeps a list of all of its rows, and
// sorts them, before it tells of any file or line.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/raw_sections.h"

namespace cacheline::symbols {

class LineProgram {
 public:
  /// As the header has it; the views are into the file.
  struct File {
    std::string_view name, folder;
  };
  struct Row {
    uint64_t address = 0;
    uint32_t file = 1, line = 1, column = 0;
    bool end = false;  ///< of a sequence: `address` is behind its last byte
  };

  /// `unit`: the compile or skeleton unit. Nullopt where the program's header is unusual: libdw has to be
  /// asked.
  static std::optional<LineProgram> of(Dwarf_Die& unit);

  /// By number. In versions before 5 number 0 is no file.
  const std::vector<File>& files() const { return files_; }
  /// In the order of the program; each sequence has its end. Nullopt where it has what is unusual or damaged.
  std::optional<std::vector<Row>> rows() const;

 private:
  struct Header;
  bool readHeader(Header& header);
  bool readTables(Header& header);
  bool readOldTables(Header& header);
  bool runExtended(Cursor& cursor, Row& row, std::vector<Row>& rows) const;

  ElfFormat format_;
  std::vector<File> files_;
  Bytes program_;
  uint8_t instructionLength_ = 1, lineRange_ = 0, opcodes_ = 0;
  int8_t lineBase_ = 0;
  bool usual_ = false;  ///< what is above, and the opcodes' operands
};

}  // namespace cacheline::symbols
