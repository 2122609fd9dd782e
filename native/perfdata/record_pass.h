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

/// Which samples of a recording a pass delivers: all, or those before or behind a time near the middle of the
/// file. Both halves deliver the other records as far as their samples need them.
///
/// The cut is at R(n), the first FINISHED_ROUND in the second half of the file: the first half is what has
/// been delivered by then, all samples up to a time T, the newest one of round n-1. The second half walks
/// over the first one's records for all that is no sample, and reads from the start of round n-1 on:
///
///       ...  R(n-2)  round n-1  R(n-1)  round n  R(n)  round n+1 ...
///                                   ^ middle of the file
///       first half:  delivers up to T at R(n), and ends
///       second half:        reads from here, finds T, and delivers what is newer
enum class Half { whole, first, second };

class RecordPass {
 public:
  /// What run() found out, besides what it delivered.
  struct Result {
    std::vector<uint64_t> counts;       ///< see Reader::recordCounts()
    std::vector<std::string> warnings;  ///< each with the recording's name
    bool cut = false;                   ///< a half: there was a place to cut
    uint64_t cutTime = 0;               ///< T of the cut
  };

  RecordPass(const Recording& recording, SampleLayouts& layouts, RecordVisitor& visitor,
             const std::function<bool(double)>& progress, Half half = Half::whole);

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
  void finishRound(const uint8_t* at, const uint8_t* next);
  template <ByteOrder kOrder>
  bool seekSecondHalf(Input& input);
  template <ByteOrder kOrder>
  void deliverOlder(uint64_t time);
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
  void release();
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
  const Half half_;
  const uint8_t* middle_ = nullptr;  ///< of a half: where the cut may be from
  uint32_t roundsBeforeMiddle_ = 0;
  bool uncuttable_ = false;  ///< what is before the middle can only be read from its start
  struct Older {
    uint64_t time;
    const uint8_t* at;
  };
  std::vector<Older> older_;  ///< of the second half: records from before where it is read, by time
  size_t nextOlder_ = 0;
  bool dropping_ = false;  ///< samples belong to the other half
  bool done_ = false;      ///< the first half has been read
  Result result_;
  Casualties malformed_, unknown_, nestedRecords_;
  const uint8_t* roundEnd_ = nullptr;  ///< behind the last FINISHED_ROUND
  bool early_ = false;                 ///< early, because too much was waiting
  uint64_t heldLimit_;                 ///< bytes that may wait decompressed
};

}  // namespace cacheline::perfdata
