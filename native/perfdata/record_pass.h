// One reading of all records of a recording: walks over them, decompresses, orders and delivers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "perfdata/decompressor.h"
#include "perfdata/record_header.h"
#include "perfdata/record_parser.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/sorter.h"

namespace cacheline::perfdata {

/// Record types are counted by themselves below this, the others all under the last one.
inline constexpr size_t kCountedTypes = 128;

class RecordPass {
 public:
  /// What run() found out, besides what it delivered.
  struct Result {
    std::vector<uint64_t> counts;       ///< see Reader::recordCounts()
    std::vector<std::string> warnings;  ///< each with the recording's name
  };

  RecordPass(const Recording& recording, SampleLayouts& layouts, RecordVisitor& visitor,
             const std::function<bool(double)>& progress);

  /// Throws Error(cancelled) where `progress` says so.
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
  /// Records that could not be delivered: how many, and where the first one is.
  struct Casualties {
    uint64_t count = 0;
    std::string first;
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
  template <ByteOrder kOrder>
  void deliver(const uint8_t* at);
  template <ByteOrder kOrder>
  void deliverUpTo(uint64_t limit);
  template <ByteOrder kOrder>
  void deliverEarlyWhereTooMuchWaits();

  template <ByteOrder kOrder>
  Sorter::Position advance(const uint8_t* at, const uint8_t* end);

  void count(Casualties& casualties, const uint8_t* at);
  void endStretch(Input& input);
  void endInput(Input& input, const RecordExtent& rest);
  bool endsWithRound(const Input& input) const;
  void report(double share);
  double shareRead() const;
  std::string placeOf(const uint8_t* at) const;
  void warn(const std::string& what);
  void warnOfCasualties();

  const Recording& recording_;
  RecordParser parser_;
  Sorter sorter_;
  const std::function<bool(double)>& progress_;
  std::vector<Input> inputs_;
  Input* input_ = nullptr;  ///< the one that is being read
  bool nested_ = false;     ///< inside of a compressed record
  bool stopped_ = false;    ///< walk() came to a record that is not whole
  Result result_;
  Casualties malformed_, unknown_, nestedRecords_;
  const uint8_t* roundEnd_ = nullptr;  ///< behind the last FINISHED_ROUND
  bool early_ = false;                 ///< early, because too much was waiting
  uint64_t heldLimit_;                 ///< bytes that may wait decompressed
};

}  // namespace cacheline::perfdata
