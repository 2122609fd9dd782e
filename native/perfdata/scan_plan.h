// What a scan delivered, in which order: enough to deliver it again without a look at every record.
#pragma once

#include <cstddef>
#include <cstdint>
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

/// The batches of a whole recording, if they are not too many.
class ScanPlan {
 public:
  void add(const ScanBatch& batch) {
    if (pieces_.size() + others_.size() > kMost) tooMany_ = true;
    if (tooMany_) return;
    pieces_.insert(pieces_.end(), batch.pieces.begin(), batch.pieces.end());
    others_.insert(others_.end(), batch.others.begin(), batch.others.end());
    ends_.push_back({pieces_.size(), others_.size()});
  }
  bool whole() const { return !tooMany_; }
  size_t size() const { return ends_.size(); }
  ScanBatch operator[](size_t index) const {
    const End begin = index == 0 ? End{} : ends_[index - 1], end = ends_[index];
    const auto at = [](const auto& list, size_t place) {
      return list.begin() + static_cast<std::ptrdiff_t>(place);
    };
    return {{at(pieces_, begin.piece), at(pieces_, end.piece)},
            {at(others_, begin.other), at(others_, end.other)}};
  }

 private:
  static constexpr size_t kMost = 1 << 16;
  struct End {
    size_t piece = 0, other = 0;
  };
  std::vector<ScanBatch::Piece> pieces_;
  std::vector<ScanBatch::Other> others_;
  std::vector<End> ends_;  ///< of the batches
  bool tooMany_ = false;
};

}  // namespace cacheline::perfdata
