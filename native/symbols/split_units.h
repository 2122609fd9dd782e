// The units in .dwo files that skeleton units continue in.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/split_files.h"

namespace cacheline::symbols {

/// Of one file's DWARF. Not thread-safe, like libdw.
class SplitUnits {
 public:
  /// `binary`: the path of `file`, which libdw has open in writable memory (ELF_C_READ_MMAP_PRIVATE).
  SplitUnits(Dwarf* file, std::string binary) : file_(file), binary_(std::move(binary)) {}
  /// The DIE of the unit that a skeleton continues in; nullopt where libdw does not find it, and for
  /// skeletons of other files (libdw has those it opens itself in memory that cannot be written).
  std::optional<Dwarf_Die> of(Dwarf_Die skeleton);
  /// The files that were not found or not read whole, of the skeletons that were asked so far.
  const std::vector<MissingSplit>& missing() const { return missing_; }

 private:
  std::string pathOf(Dwarf_Die& skeleton, const std::string& name) const;

  Dwarf* file_;
  std::string binary_;
  uint64_t left_ = uint64_t{1} << 30;  ///< bytes of files that may be made in memory
  std::unordered_map<Dwarf_CU*, std::optional<Dwarf_Die>> known_;
  std::vector<MissingSplit> missing_;
};

}  // namespace cacheline::symbols
