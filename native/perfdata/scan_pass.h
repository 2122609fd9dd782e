// One reading of all records of a recording in which only samples and other records are ordered against each
// other: no sample against a sample.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/job_queue.h"
#include "perfdata/access_reader.h"
#include "perfdata/casualties.h"
#include "perfdata/record_parser.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/stretch.h"

namespace cacheline::perfdata {

/// What is known of mappings and processes changes seldom, and between two changes the order of samples does
/// not matter to who only counts them. So the samples of a round are read a stretch of the file after the
/// other, by two threads, instead of one sample of this CPU and one of that.
///
/// Which records a round may deliver is the sorter's invariant (see sorter.h); it is known before a record is
/// read:
///
///       not newer than the newest record of the round before the last one: due at the end of this round
///       newer: due at the end of the next one
class ScanPass {
 public:
  /// `workers`: get the samples, each on a thread of its own, and nothing else. `others` gets the rest, while
  /// no worker is at work.
  /// `filter`: null delivers all samples.
  ScanPass(const Recording& recording, const SampleLayouts& layouts, RecordVisitor& others,
           std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress,
           const AddressFilter* filter);

  /// Throws Error(cancelled) where `progress` says so.
  Scanned run();
  /// After run().
  Undelivered undelivered() const;

 private:
  /// What one thread reads at a time: some hundred samples.
  static constexpr std::ptrdiff_t kStretch = 128 << 10;
  /// Bytes of samples from one call of onOrdered() to the next, where the rounds are no longer.
  static constexpr std::ptrdiff_t kOrdered = 8 << 20;
  static constexpr std::ptrdiff_t kLongestRound = 64 << 20;  ///< of what is plain
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
  /// What is due at the end of one round, or at once.
  struct Batch {
    std::vector<Piece> pieces;
    std::vector<Other> others;
  };
  using Job = std::vector<Stretch>;
  /// One visitor, with a reader of its own.
  struct Worker {
    Worker(const SampleLayouts& layouts, const uint8_t* start, const AddressFilter* filter, AccessVisitor& to)
        : reader(layouts, start, filter), visitor(to) {}
    AccessReader reader;
    AccessVisitor& visitor;
  };

  template <ByteOrder kOrder>
  Scanned runIn();
  template <ByteOrder kOrder>
  void addOther(const perf_event_header& header, const uint8_t* at);
  void report(double share) const;
  void put(const Stretch& stretch);
  void finishJobs();
  void tellOrdered();
  void beginPiece(uint64_t time, const uint8_t* at, const uint8_t* next);
  template <ByteOrder kOrder>
  const uint8_t* extendPiece(const uint8_t* at, const uint8_t* pause, const uint8_t* end);
  void endRound();
  void check(const Batch& batch, uint64_t limit);
  void deliver(Batch&& batch);
  void deliverPieces(Batch&& batch);
  template <ByteOrder kOrder>
  void deliverOrdered(std::vector<Stretch>&& stretches);
  void deliverOthers(std::span<const Other> others);
  template <ByteOrder kOrder>
  void deliverOther(const uint8_t* at);
  Casualties casualties(Failures all, Failures AccessReader::*which) const;

  const Recording& recording_;
  const std::function<bool(double)>& progress_;
  SampleLayouts layouts_;
  RecordParser others_;
  RecordVisitor& visitor_;  ///< of the others
  Failures malformedOthers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::array<Batch, 2> due_;  ///< at the end of this round, and of the next one
  uint64_t limit_ = 0;
  uint64_t delivered_ = 0;        ///< the limit of the last round that was delivered
  std::ptrdiff_t unordered_ = 0;  ///< bytes of samples since the last call of onOrdered()
  std::ptrdiff_t jobBytes_ = 0;
  Job job_;  ///< the next one
  bool plain_ = true, enough_ = false;
  Piece* open_ = nullptr;  ///< the piece that the next sample may belong to: the last one of its batch
  bool openIsLate_ = false;
  JobQueue<Job> jobs_;  ///< its threads end before the workers do
};

/// The time of the oldest sample, ns; nullopt where the recording cannot be scanned, or no sample has a time.
std::optional<uint64_t> oldestSample(const Recording& recording, SampleLayouts layouts);

}  // namespace cacheline::perfdata
