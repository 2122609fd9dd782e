// Recording of the built-in contended program: whether a collector works here is shown, not concluded.
#pragma once

#include <atomic>
#include <string>

#include "record/recorder.h"

namespace cacheline::record {

/// A recording in a temporary folder that is removed with this object.
class SelfTestRecording {
 public:
  /// Runs and records `program` (cacheline_selftest; about half a second) with the collector and watchpoints
  /// of `options`. Throws what record() throws, and Error(io) or
  /// filesystem_error where the temporary folder cannot be used.
  SelfTestRecording(const std::string& program, RecordOptions options, const std::atomic<bool>& stop);
  ~SelfTestRecording();
  SelfTestRecording(const SelfTestRecording&) = delete;
  SelfTestRecording& operator=(const SelfTestRecording&) = delete;

  std::string recording() const { return folder_ + "/recording"; }
  const RecordResult& result() const { return result_; }

 private:
  std::string folder_;
  RecordResult result_;
};

}  // namespace cacheline::record
