// Threads that start while the events of their process are being opened may have events of their own and
// inherit their creator's, too: then everything they do is sampled twice. Or they have none at all.
//
// A new thread inherits early in clone(2) and is listed in /proc late in it (kernel/fork.c: copy_process()
// calls perf_event_init_task(), and joins the thread group near its end). So a creator that is kept from
// running in between, while its own events are opened and until all threads were listed for the last time,
// brings forth one that nobody saw. Its FORK record tells: it is written after both (perf_event_fork()), by
// the creator's events, which are open by then. A thread is in one clone at a time: only the first FORK of
// each creator can be of such a thread, whatever it begins later inherits.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "record/perf_opener.h"

namespace cacheline::record {

/// Keeps the samples and context switches of one set of events a thread: of its own where there are some,
/// else of the first it was seen with.
class OneVoice {
 public:
  explicit OneVoice(const std::vector<OpenEvent>& events);
  /// Whole records without the samples and context switches that are there twice. Valid until the next call.
  std::span<const uint8_t> filter(std::span<const uint8_t> records);

  /// A thread or process that may have no events, by the FORK records since the last call.
  struct Doubtful {
    pid_t thread = 0;
    bool ofOtherProcess = false;  ///< than its creator
  };
  std::vector<Doubtful> doubtful() { return std::exchange(doubtful_, {}); }
  /// An event that was opened for one of them. Its records get the id `as`, which the file's header has.
  void add(const OpenEvent& event, uint64_t as);

 private:
  bool keeps(std::span<const uint8_t> record);
  void rename(std::span<uint8_t> record) const;

  HashMap<uint64_t, uint32_t> ownerOfEvent_;  // by id
  HashMap<uint32_t, uint32_t> voice_;         // of a thread: whose events speak for it
  std::set<uint32_t> creators_;               // whose first FORK is still to come
  HashMap<uint64_t, uint64_t> renamed_;       // ids that the file's header does not have
  std::vector<Doubtful> doubtful_;
  std::vector<uint8_t> kept_;
};

}  // namespace cacheline::record
