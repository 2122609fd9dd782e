// Threads that start while the events of their process are being opened may have events of their own and
// inherit their creator's, too: then everything they do is sampled twice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash.h"
#include "record/perf_opener.h"

namespace cacheline::record {

/// Keeps the samples of one set of events a thread: of its own where there are some, else of the first it
/// was seen with.
class OneVoice {
 public:
  explicit OneVoice(const std::vector<OpenEvent>& events);
  /// Whole records without the samples that are there twice. Valid until the next call.
  std::span<const uint8_t> filter(std::span<const uint8_t> records);

 private:
  bool keeps(std::span<const uint8_t> record);

  HashMap<uint64_t, uint32_t> ownerOfEvent_;  // by id
  HashMap<uint32_t, uint32_t> voice_;         // of a thread: whose events speak for it
  std::vector<uint8_t> kept_;
};

}  // namespace cacheline::record
