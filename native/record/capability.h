// What this process may do with perf events, and the sentence for why it may not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/doctor.h"

namespace cacheline::record {

/// nullopt: the file that would say it is absent or unreadable.
struct Permissions {
  std::optional<int64_t> perfEventParanoid;  ///< kernel.perf_event_paranoid
  std::optional<int64_t> perfEventMlockKb;   ///< ring buffer memory a user and CPU, KiB
  std::optional<int64_t> maxSampleRate;      ///< kernel.perf_event_max_sample_rate, Hz
  std::optional<int64_t> kptrRestrict;
  std::optional<int64_t> ptraceScope;
  std::optional<uint64_t> memlockBytes;   ///< soft RLIMIT_MEMLOCK; nullopt: unlimited
  std::vector<std::string> capabilities;  ///< effective ones that matter here: "CAP_PERFMON", ...
  bool initialUserNamespace = true;       ///< elsewhere capabilities do not count for perf events
  std::optional<int64_t> seccompMode;     ///< 0 none, 1 strict, 2 filter
  std::optional<std::string> lockdown;    ///< "none", "integrity", "confidentiality"

  /// CAP_PERFMON or CAP_SYS_ADMIN where the kernel honours it.
  bool privileged() const;
};

/// Of the calling thread.
Permissions readPermissions();

/// "EACCES (Permission denied)".
std::string errnoText(int errnum);

/// Why perf_event_open failed with `errnum` on every attempt, and the commands that change it: all that stand
/// in the way, the first to be met first. Never empty.
std::vector<Blocker> refusalBlockers(int errnum, const Permissions& permissions);
/// The first of them.
Blocker explainRefusal(int errnum, const Permissions& permissions);

/// The kernel refuses what a recording needs. Kind impossible; its next step is what the blockers' fixes say.
class RefusedError : public Error {
 public:
  RefusedError(const std::string& message, std::vector<Blocker> blockers);
  RefusedError(const std::string& message, Blocker blocker)
      : RefusedError(message, std::vector<Blocker>{std::move(blocker)}) {}
  const Blocker& blocker() const { return blockers_.front(); }
  const std::vector<Blocker>& blockers() const { return blockers_; }

 private:
  std::vector<Blocker> blockers_;
};

/// A refused perf_event_open as an error that names errno, what is in the way and the paranoid value.
RefusedError refusalError(int errnum, const Permissions& permissions);

}  // namespace cacheline::record
