// What one walk over a file of records finds: where its samples lie and up to which time each round tells of
// them, and all records of processes, threads and mappings in their order. After it samples can be read in
// any order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "perfdata/reader.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/stretch.h"

namespace cacheline::perfdata {

struct Outline {
  /// A record that is no sample, of the types that Reader::readOthers() names.
  struct Other {
    Moment moment;
    const uint8_t* at = nullptr;
  };
  /// Stretches with samples, by batches: after a batch no sample follows that is older than the newest one
  /// of the batch before (see sorter.h), in a file that keeps its rounds.
  std::vector<std::vector<Stretch>> batches;
  std::vector<Other> others;        ///< by moment
  std::optional<TimeSpan> samples;  ///< from the oldest one to the newest one
  /// Nothing is damaged or comes late, all samples have times, and no batch is very long.
  bool plain = true;
};

/// nullopt where the file is compressed; the recording must not be in directory format. Throws
/// Error(cancelled) where `progress` says so, which one thread at a time calls. With any number of `threads`
/// the outline is the same.
std::optional<Outline> outlineOf(const Recording& recording, const SampleLayouts& layouts,
                                 const std::function<bool(double)>& progress, unsigned threads);

}  // namespace cacheline::perfdata
