// The units in .dwo files that skeleton units continue in.
#pragma once

#include <elfutils/libdw.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbols/joined_sections.h"
#include "symbols/split_files.h"

namespace cacheline::symbols {

/// Of one file's DWARF. Not thread-safe, like libdw.
class SplitUnits {
 public:
  /// `binary`: the path of `file`.
  SplitUnits(Dwarf* file, std::string binary) : file_(file), binary_(std::move(binary)) {}
  /// The DIE of the unit that a skeleton, of which `skeleton` is any DIE, continues in; nullopt where libdw
  /// does not find it, for other units, and for skeletons of other files, which libdw opened itself.
  std::optional<Dwarf_Die> of(const Dwarf_Die& skeleton);
  /// The files that were not found or not read whole, of the skeletons that were asked so far.
  const std::vector<MissingSplit>& missing() const { return missing_; }

 private:
  std::vector<std::string> pathsOf(Dwarf_Die& skeleton, const std::string& name) const;
  JoinedSections join(const std::vector<std::string>& paths, uint64_t id);
  JoinedSections joinOnce(const std::string& path, uint64_t& left);

  Dwarf* file_;
  std::string binary_;
  uint64_t left_ = uint64_t{1} << 30;  ///< bytes of files that may be made in memory, for this handle alone
  std::unordered_map<Dwarf_CU*, std::optional<Dwarf_Die>> known_;
  std::set<std::pair<dev_t, ino_t>> unjoinable_;  ///< files
  std::vector<MissingSplit> missing_;
};

}  // namespace cacheline::symbols
