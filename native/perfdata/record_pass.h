// One reading of all records of a recording: walks over them, decompresses, orders and delivers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/job_queue.h"
#include "perfdata/decompressor.h"
#include "perfdata/parse_errors.h"
#include "perfdata/record_header.h"
#include "perfdata/record_parser.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/sorter.h"

namespace cacheline::perfdata {

/// Record types are counted by themselves below this, the others all under the last one.
inline constexpr size_t kCountedTypes = 128;

/// How a pass is made.
struct PassOptions {
  unsigned threads = 1;  ///< 2: the visitor is called by a thread of its own
  bool samples = true;   ///< false: all but samples are delivered
};

class RecordPass {
 public:
  /// What run() found out, besides what it delivered.
  struct Result {
    std::vector<uint64_t> counts;       ///< see Reader::recordCounts()
    std::vector<std::string> warnings;  ///< each with the recording's name
    Undelivered undelivered;
  };

  RecordPass(const Recording& recording, SampleLayouts& layouts, RecordVisitor& visitor,
             const std::function<bool(double)>& progress, PassOptions options = {});

  /// Throws Error(cancelled) where `progress` says so, and RecordChanged.
  Result run();

 private:
  /// A file, and how far it has been read.
  struct Input {
    const RecordFile* file = nullptr;
    const uint8_t *at = nullptr, *end = nullptr;
    bool ended = false;
    bool ascending = true;  ///< in directory format: no record so far was older than the one before it
    uint64_t newest = 0;    ///< of the records read so far
    Decompressor decompressor;
  };
  template <ByteOrder kOrder>
  void runIn();
  template <ByteOrder kOrder>
  void readAll(Input& input);
  template <ByteOrder kOrder>
  void readDirectory();
  template <ByteOrder kOrder>
  void readUpTo(Input& input, const uint8_t* pause);
  template <ByteOrder kOrder>
  const uint8_t* walk(const uint8_t* at, const uint8_t* pause, const uint8_t* end);
  template <ByteOrder kOrder>
  void special(const perf_event_header& header, const uint8_t* at, const uint8_t* next);
  template <ByteOrder kOrder>
  void decompress(const perf_event_header& header, const uint8_t* at);
  /// A record whose turn it is.
  struct Turn {
    const uint8_t *at = nullptr, *end = nullptr;  ///< it lies somewhere between
    uint64_t limit = 0;                           ///< up to this time all records had their turns, ns
  };
  template <ByteOrder kOrder>
  void deliver(const uint8_t* at, const uint8_t* end);
  template <ByteOrder kOrder>
  void deliverNow(const Turn& turn);
  void drain();
  template <ByteOrder kOrder>
  void deliverUpTo(uint64_t limit);
  template <ByteOrder kOrder>
  void deliverEarlyWhereTooMuchWaits();

  bool isWanted(const perf_event_header& header) const {
    return samples_ || header.type != PERF_RECORD_SAMPLE;
  }
  template <ByteOrder kOrder>
  Sorter::Position advance(const uint8_t* at, const uint8_t* end);

  void count(ParseErrors& parseErrors, const uint8_t* at);
  void endStretch(Input& input);
  void endInput(Input& input, const RecordExtent& rest);
  bool endsWithRound(const Input& input) const;
  void report(double share);
  double shareRead() const;
  uint64_t positionOf(const uint8_t* at) const;
  std::string placeOf(const uint8_t* at) const;
  void warn(const std::string& what);
  void warnOfParseErrors();

  /// Records in the order of their turns.
  using Block = std::vector<Turn>;

  const Recording& recording_;
  SampleLayouts layouts_;
  RecordParser parser_;  ///< as many as threads: parsers remember
  RecordParser times_;   ///< of the reading thread
  Sorter sorter_;
  const std::function<bool(double)>& progress_;
  std::vector<Input> inputs_;
  Input* input_ = nullptr;  ///< the one that is being read
  bool nested_ = false;     ///< inside of a compressed record
  bool stopped_ = false;    ///< walk() came to a record that is not whole
  Result result_;
  const bool samples_;
  uint64_t limit_ = 0;                         ///< of the last delivery, ns
  Failures malformedRecords_, unknownEvents_;  ///< of deliverNow(), until the next drain()
  ParseErrors malformed_, nestedRecords_;      ///< of the others
  const uint8_t* roundEnd_ = nullptr;          ///< behind the last FINISHED_ROUND
  bool early_ = false;                         ///< early, because too much was waiting
  uint64_t heldLimit_;                         ///< bytes that may wait decompressed
  bool ahead_;                                 ///< reads on while the visitor is at work
  Block block_;
  JobQueue<Block> queue_;  ///< its thread ends before all that it uses
};

}  // namespace cacheline::perfdata
