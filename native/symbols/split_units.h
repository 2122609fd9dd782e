// The units in .dwo files that skeleton units continue in.
#pragma once

#include <elfutils/libdw.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
  MissingSplit whyMissing(const std::string& name, const std::vector<std::string>& named, uint64_t id);
  struct SplitFile {
    bool unjoinable = false;                          ///< it has sections to be joined, which cannot be
    std::optional<std::unordered_set<uint64_t>> ids;  ///< of its units; where they were asked for
  };
  SplitFile& fileOf(const std::string& path);
  JoinedSections joinOnce(const std::string& path, uint64_t& left);

  Dwarf* file_;
  std::string binary_;
  uint64_t left_ = uint64_t{1} << 30;  ///< bytes of files that may be made in memory, for this handle alone
  std::unordered_map<Dwarf_CU*, std::optional<Dwarf_Die>> known_;
  std::map<std::pair<dev_t, ino_t>, SplitFile> files_;
  std::vector<MissingSplit> missing_;
};

}  // namespace cacheline::symbols
