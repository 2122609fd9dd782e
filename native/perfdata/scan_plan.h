// What a scan delivered, in which order: enough to deliver it again without a look at every record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "perfdata/stretch.h"

namespace cacheline::perfdata {

/// What is due at the end of one round, or at once.
struct ScanBatch {
  /// Samples, and between them what is not delivered at all.
  struct Piece {
    Stretch stretch;
    uint64_t oldest = 0, newest = 0;  ///< of its samples
  };
  /// A record that is no sample.
  struct Other {
    uint64_t time = 0;
    Stretch stretch;
  };
  std::vector<Piece> pieces;
  std::vector<Other> others;
};

/// The batches of a whole recording, if they are not too many: eight bytes a piece.
class ScanPlan {
 public:
  /// `start`: of the file's bytes.
  explicit ScanPlan(const uint8_t* start) : start_(start) {}

  void add(const ScanBatch& batch) {
    if (steps_.size() > kMost || mixed_.size() > kMost / 64) whole_ = false;
    if (!whole_) return;
    if (!batch.others.empty()) {
      steps_.push_back({mixed_.size() & kMostOffset, 0, true});
      return mixed_.push_back(batch);
    }
    for (const ScanBatch::Piece& piece : batch.pieces) {
      const auto offset = static_cast<uint64_t>(piece.stretch.at - start_);
      const auto size = static_cast<uint64_t>(piece.stretch.end - piece.stretch.at);
      whole_ = whole_ && offset <= kMostOffset && size <= kMostSize;
      steps_.push_back({offset & kMostOffset, size & kMostSize, &piece == &batch.pieces.back()});
    }
  }
  bool whole() const { return whole_; }
  /// Calls `deliver(batch, share)` for each batch, with the share of the steps that are done. Where there are
  /// samples alone, their times are left out.
  template <typename Deliver>
  void each(Deliver&& deliver) const {
    ScanBatch batch;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.size == 0) {
        batch = mixed_[step.place];
      } else {
        const uint8_t* const at = start_ + step.place;
        batch.pieces.push_back({{at, at + step.size}, 0, 0});
      }
      if (step.endsBatch)
        deliver(std::exchange(batch, {}), static_cast<double>(i) / static_cast<double>(steps_.size()));
    }
  }

 private:
  static constexpr size_t kMost = 1 << 20;
  static constexpr uint64_t kMostOffset = (uint64_t{1} << 40) - 1, kMostSize = (1 << 23) - 1;
  struct Step {
    uint64_t place : 40;  ///< of a piece in the file; of a batch with other records (size 0), in mixed_
    uint64_t size : 23;
    uint64_t endsBatch : 1;
  };
  const uint8_t* start_;
  std::vector<Step> steps_;
  std::vector<ScanBatch> mixed_;
  bool whole_ = true;
};

}  // namespace cacheline::perfdata
