// Who calls the code of each row of a clock recording: by its stack where that was recorded, else by the
// chain of frame pointers that the kernel followed.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/caller_table.h"
#include "analysis/code_names.h"
#include "analysis/line_space.h"
#include "analysis/unwinder.h"
#include "perfdata/reader.h"
#include "sharing/dense_index.h"

namespace cacheline::sharing {

class RowCallers {
 public:
  RowCallers(analysis::Binaries& binaries, const analysis::Timeline& timeline)
      : backings_(binaries, timeline), unwinder_(binaries, backings_) {}

  /// One sample's access. `isGo`: a program whose code keeps frame pointers, whatever it says of frames.
  void add(const analysis::AddressSpace& space, analysis::Position position,
           const analysis::CodeLocation& location, const perfdata::Sample& sample, bool isGo);
  /// Of the row of accesses at `position` by the instruction of `location`.
  std::vector<analysis::Callers> of(analysis::Position position, const analysis::CodeLocation& location,
                                    analysis::CodeNames& names) const;
  std::string leftOutWarning() const { return table_.leftOutWarning(); }

 private:
  struct Row {
    uint64_t offset = 0;
    uint64_t codeAddress = 0;  ///< the binary's own
    uint32_t space = 0, binary = 0;
    bool operator==(const Row&) const = default;
    size_t hash() const { return mix(mix(offset, space), mix(codeAddress, binary)); }
  };
  struct Call {
    uint64_t fileOffset = 0;  ///< of code that no file backs: the address
    uint32_t binary = analysis::kNone;
    bool operator==(const Call&) const = default;
    size_t hash() const { return mix(fileOffset, binary); }
  };
  static Row rowOf(analysis::Position position, const analysis::CodeLocation& location) {
    return {position.offset, location.plan.codeAddress, position.space, location.binary};
  }
  void takeChain(const analysis::AddressSpace& space, const perfdata::Sample& sample, bool isGo);
  uint32_t callOf(const analysis::AddressSpace& space, uint64_t address);

  analysis::BackingBinaries backings_;
  analysis::Unwinder unwinder_;
  analysis::CallerTable table_;
  HashMap<Row, uint32_t> rows_;
  HashMap<Call, uint32_t> callIndex_;
  std::vector<std::pair<Call, uint64_t>> calls_;  ///< with an address of it
  std::vector<uint64_t> addresses_;               ///< of the sample at hand
  std::vector<uint32_t> frames_;                  ///< of the sample at hand
};

}  // namespace cacheline::sharing
