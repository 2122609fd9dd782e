// Some samples of a line, in time order: what its verdict is made of. Counts of every thread at every row would
// cost a look-up a sample, and a share needs no more than some hundred samples to be known well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "c2c/data_source.h"

namespace cacheline::c2c {

struct Row;

struct LoggedSample {
  const Row* row = nullptr;
  uint32_t order = 0;  ///< among the line's samples
  uint16_t use = 0;    ///< ordinal
  uint8_t bits = 0;
  static constexpr uint8_t kStore = 1, kLocalHitm = 2, kRemoteHitm = 4, kLocalPeer = 8, kRemotePeer = 16,
                           kLocked = 32;
  static constexpr uint8_t kAnswered = kLocalHitm | kRemoteHitm | kLocalPeer | kRemotePeer;
};

/// One of every so many samples, evenly over time: where there are too many, one of each two is given up, and
/// from then on only half as many are kept. Which one of them is drawn: programs go in rounds. The draw is the
/// same every time.
class EvenSamples {
 public:
  void add(const LoggedSample& sample, size_t most) {
    if (skip_ > 0) {
      --skip_;
      return;
    }
    samples_.push_back(sample);
    if (samples_.size() >= most) [[unlikely]]
      halve();
    draw();
  }
  std::span<const LoggedSample> samples() const { return samples_; }
  uint32_t stride() const { return stride_; }  ///< how many samples each one stands for

 private:
  /// The next one is anywhere among the next `stride_` samples that begin behind those of the last one.
  void draw() {
    const uint32_t at = random() % stride_;
    skip_ = stride_ - 1 - at_ + at;
    at_ = at;
  }
  [[gnu::noinline]] void halve() {
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
  std::vector<LoggedSample> samples_;
  uint32_t stride_ = 1, skip_ = 0, at_ = 0, state_ = 1;
};

class SampleLog {
 public:
  static constexpr size_t kMost = 512, kMostBare = 64;  ///< of each kind
  void add(const Row& row, uint32_t use, const SourceClass& source, size_t most) {
    constexpr uint32_t kMostUses = 1 << 16;
    const uint32_t order = next_++;
    if (use >= kMostUses) return;
    const LoggedSample sample{&row, order, static_cast<uint16_t>(use), bitsOf(source)};
    ((sample.bits & LoggedSample::kAnswered) != 0 ? answered_ : others_).add(sample, most);
  }
  const EvenSamples& answered() const { return answered_; }  ///< with a HITM or a peer's answer
  const EvenSamples& others() const { return others_; }

 private:
  static uint8_t bitsOf(const SourceClass& source) {
    const auto bit = [&](Counter counter, uint8_t value) { return source.at(counter) != 0 ? value : uint8_t{0}; };
    return static_cast<uint8_t>((source.store ? LoggedSample::kStore : 0) |
                                (source.locked != 0 ? LoggedSample::kLocked : 0) |
                                bit(Counter::localHitm, LoggedSample::kLocalHitm) |
                                bit(Counter::remoteHitm, LoggedSample::kRemoteHitm) |
                                bit(Counter::localPeer, LoggedSample::kLocalPeer) |
                                bit(Counter::remotePeer, LoggedSample::kRemotePeer));
  }
  EvenSamples answered_, others_;
  uint32_t next_ = 0;
};

}  // namespace cacheline::c2c
