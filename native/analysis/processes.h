// Processes and threads of a recording, kept up to date record by record: what every pass over samples needs.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/thread_table.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// Visitors of samples derive from it.
class Processes : public perfdata::RecordVisitor {
 public:
  Processes() : running_(kSlots) {}
  void onComm(const perfdata::Comm& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onLost(const perfdata::Lost& record) override;

  AddressSpaces spaces;
  ThreadTable threads;
  uint64_t lost = 0;         ///< records
  uint64_t lostSamples = 0;  ///< of `lost`, those known to be samples

 protected:
  struct Running {
    uint32_t pid = 0, tid = 0, thread = kNone;
    uint64_t version = 0;
    AddressSpace* space = nullptr;
  };
  /// The thread of a sample and its address space, good until the next record.
  const Running& running(const perfdata::Sample& sample) {
    Running& slot = running_[sample.tid % kSlots];
    if (slot.tid != sample.tid || slot.pid != sample.pid || slot.version != spaces.version() ||
        slot.space == nullptr)
      lookUp(sample, slot);
    return slot;
  }

 private:
  static constexpr size_t kSlots = 256;
  void lookUp(const perfdata::Sample& sample, Running& slot);

  std::vector<Running> running_;
};

}  // namespace cacheline::analysis
