// Some samples of a line, in time order: what its verdict is made of. Counts of every thread at every row
// would cost a look-up a sample, and a share needs no more than some hundred samples to be known well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/cpu_cores.h"
#include "sharing/data_source.h"
#include "sharing/memory_access.h"

namespace cacheline::sharing {

struct Row;

struct LoggedSample {
  const Row* row = nullptr;
  const SourceClass* source = nullptr;
  uint64_t time = 0;   ///< ns
  uint64_t since = 0;  ///< as analysis::PlaceSample has it; 0 where CPUs are not asked for
  uint32_t order = 0;  ///< among the line's samples
  uint32_t actor = 0;  ///< ordinal
  uint16_t cpu = MemoryAccess::kNoCpu;
};

/// One of every so many samples, evenly over time: where there are too many, one of each two is given up, and
/// from then on only half as many are kept. Which one of them is drawn: programs go in rounds. The draw is
/// the same every time.
class EvenSamples {
 public:
  /// `most`: how many are kept, at least 2.
  explicit EvenSamples(size_t most) : most_(most) {}
  /// Whether the next sample is to be kept.
  [[gnu::always_inline]] bool isNext() {
    if (skip_ == 0) return true;
    --skip_;
    return false;
  }
  /// The parts of a sample: as a whole it would be written to memory and waited for.
  [[gnu::noinline]] void keep(const Row* row, const MemoryAccess& access, uint64_t since, uint32_t order,
                              uint32_t actor) {
    if (samples_.empty()) samples_.reserve(4);
    samples_.push_back({row, access.source, access.time, since, order, actor, access.cpu});
    if (samples_.size() >= most_) [[unlikely]]
      halve();
    draw();
  }
  std::span<const LoggedSample> samples() const { return samples_; }
  uint32_t stride() const { return stride_; }  ///< how many samples each one stands for

 private:
  /// The next one is anywhere among the next `stride_` samples that begin behind those of the last one.
  void draw() {
    const uint32_t at = random() & (stride_ - 1);
    skip_ = stride_ - 1 - at_ + at;
    at_ = at;
  }
  void halve() {
    for (size_t i = 0; 2 * i < samples_.size(); ++i) {
      const size_t last = std::min(2 * i + 1, samples_.size() - 1);
      samples_[i] = samples_[random() % 2 == 0 ? 2 * i : last];
    }
    samples_.resize((samples_.size() + 1) / 2);
    stride_ *= 2;
    at_ = stride_ - 1;
  }
  /// Numerical Recipes' linear congruential generator; its upper bits.
  uint32_t random() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 16;
  }
  size_t most_;
  std::vector<LoggedSample> samples_;
  uint32_t stride_ = 1;  ///< a power of two
  uint32_t skip_ = 0, at_ = 0, state_ = 1;
};

class SampleLog {
 public:
  /// `most`: of each of the two kinds. `cores`: null: where a core had its last sample is not asked for.
  SampleLog(size_t most, const analysis::CpuCores* cores) : answered_(most), others_(most), cores_(cores) {}
  [[gnu::always_inline]] void add(const Row& row, const MemoryAccess& access, uint32_t actor) {
    EvenSamples& samples = access.source->answered ? answered_ : others_;
    ++next_;
    const uint64_t since = cores_ == nullptr ? 0 : seen(access);
    if (samples.isNext()) samples.keep(&row, access, since, next_, actor);
  }
  const EvenSamples& answered() const { return answered_; }  ///< with a HITM or a peer's answer
  const EvenSamples& others() const { return others_; }

 private:
  struct Seen {
    uint32_t core = 0;
    uint64_t time = 0;  ///< ns
  };
  /// When its core had a sample before.
  uint64_t seen(const MemoryAccess& access) {
    const uint32_t core = cores_->of(access.cpu);
    for (Seen& each : cpus_)
      if (each.core == core) return std::exchange(each.time, access.time);
    cpus_.push_back({core, access.time});
    return 0;
  }
  EvenSamples answered_, others_;
  uint32_t next_ = 0;
  const analysis::CpuCores* cores_;
  std::vector<Seen> cpus_;  ///< with the last sample of each
};

}  // namespace cacheline::sharing
