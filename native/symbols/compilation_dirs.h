// Where the relative names of a unit's files begin.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace cacheline::symbols {

/// DW_AT_comp_dir, also of units that have none: a type unit is compiled where the compile unit is that has
/// the same table of files; what is in a .dwo file, where its skeleton is.
class CompilationDirs {
 public:
  /// `dwarf`: of the binary; may be null.
  explicit CompilationDirs(Dwarf* dwarf) : dwarf_(dwarf) {}
  /// Of a unit of the binary or one of its .dwo files, by the unit's DIE; empty where it is unknown.
  std::string of(Dwarf_Die& unit);

 private:
  void read();
  const std::string& ofSplit(Dwarf* file);

  Dwarf* dwarf_;
  bool isRead_ = false;
  std::unordered_map<uint64_t, std::string> byTable_;  ///< by offset in .debug_line
  std::unordered_map<uint64_t, std::string> byId_;     ///< of skeletons
  std::unordered_map<Dwarf*, std::string> bySplit_;
};

}  // namespace cacheline::symbols
