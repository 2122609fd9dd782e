// Which blocked threads wait for a lock: looks at them while they were blocked, with the code that they were
// in (record/blocked_looks.h).
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/timeline.h"

namespace cacheline::scheduling {

/// A function that takes a lock, and the innermost one of the program that called it. Readable names.
struct LockCall {
  std::string lock;    ///< "pthread_mutex_lock"
  std::string caller;  ///< empty: nothing names it
  auto operator<=>(const LockCall&) const = default;
};

/// One look at a blocked thread, which took from `begin` to `end`, ns of the recording's clock.
struct LockLook {
  uint64_t begin = 0, end = 0;
  uint32_t call = 0;  ///< index of LockWaits::calls
  auto operator<=>(const LockLook&) const = default;
};

struct LockWaits {
  std::vector<LockCall> calls;
  /// By pid and tid, by time. Of looks that do not prove that a lock is waited for there are none.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<LockLook>> looks;

  /// The lock that a thread waited for which was blocked in [from, to): a look lies within. Null: none proves
  /// it.
  const LockCall* find(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const;
};

/// What a function is called that waits for nothing but a lock: of pthreads, Rust's standard library,
/// parking_lot, Abseil; empty: it is none. `function`: readable.
std::string lockFunction(std::string_view function);

/// Of the lines of blocked.jsonl (docs/outputs.md). What cannot be read of them, which are untrusted, is left
/// out.
LockWaits lockWaitsIn(std::istream& lines, const analysis::Timeline& timeline, analysis::Binaries& binaries);

/// Those of a recording folder. Empty: it has none.
std::optional<LockWaits> readLockWaits(const std::string& folder, const analysis::Timeline& timeline,
                                       analysis::Binaries& binaries);

}  // namespace cacheline::scheduling
