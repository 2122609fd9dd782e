// Perf events as a source of records: a plan opened on a target, one ring buffer a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "record/aux_ring.h"
#include "record/one_voice.h"
#include "record/perf_opener.h"
#include "record/ring_buffer.h"
#include "record/source.h"

namespace cacheline::record {

class PerfSource final : public Source {
 public:
  /// Opens the plan's first attempt that the kernel takes: on `target.ids` (a command's own process, every
  /// thread of processes, threads) or the whole machine, on each online CPU that the target and the event
  /// name. Nothing is sampled yet. Throws Error(impossible) where every attempt is refused, Error(usage)
  /// where the target has ended.
  static std::unique_ptr<PerfSource> open(const Kernel& kernel, const EventPlan& plan, const Target& target,
                                          const Permissions& permissions, const PerfSetup& setup);

  std::vector<perfdata::Event> events() const override;
  std::vector<int> wakeups() const override { return {wakeup_.get()}; }
  bool drain(const Append& append) override;
  void enable() override;
  void disable() override;
  SwitchRecords switches() const override { return opener_->switches(); }
  std::optional<uint64_t> lost() const override;
  std::vector<std::string> warnings() const override { return warnings_; }
  std::string whyLost() const override;

  size_t ringBytes() const { return rings_.dataBytes; }
  /// PERF_RECORD_TIME_CONV, for the file's start before all that describes trace data; empty where none is
  /// recorded.
  const std::vector<uint8_t>& timeConversion() const { return timeConversion_; }

 private:
  PerfSource() = default;
  void map(const Permissions& permissions, size_t ringBytes);
  void mapAux(const Kernel& kernel, const Permissions& permissions);
  void share(const OpenEvent& event) const;
  void openLate();
  bool isTracker(const OpenEvent& event) const;
  void control(unsigned long request) const;

  std::unique_ptr<PerfOpener> opener_;
  Target target_;
  Attempt attempt_;
  bool tracking_ = false, enabled_ = false;
  std::optional<OneVoice> oneVoice_;  // of processes: threads may have inherited what they also have
  std::vector<OpenEvent> open_;
  Rings rings_;
  std::vector<size_t> firstOnCpu_;     // of each ring, index in open_
  std::map<uint32_t, int> ringOfCpu_;  // the descriptor that the ring belongs to
  std::vector<AuxRing> aux_;           // beside the rings; empty where the CPU has none
  std::vector<uint8_t> timeConversion_;
  UniqueFd wakeup_;  // an epoll of all events
  std::vector<std::string> warnings_;
};

}  // namespace cacheline::record
