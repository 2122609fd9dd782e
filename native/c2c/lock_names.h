// The locks of pthreads by the names of their members. Written by test/unit/lock-names.test.ts out of the table
// in extension/session/report/lock-names.ts.
#pragma once

#include <string_view>

namespace cacheline::c2c {

struct LockMember {
  std::string_view start;  ///< of the names of members
  std::string_view lock;   ///< what they are of
};

// clang-format off
inline constexpr LockMember kLockMembers[] = {
    {"__lock", "mutex"},
    {"__count", "mutex"},
    {"__owner", "mutex"},
    {"__nusers", "mutex"},
    {"__kind", "mutex"},
    {"__spins", "mutex"},
    {"__elision", "mutex"},
    {"__list", "mutex"},
    {"__wseq", "condition variable"},
    {"__g1_start", "condition variable"},
    {"__g1_orig_size", "condition variable"},
    {"__g_refs", "condition variable"},
    {"__g_size", "condition variable"},
    {"__wrefs", "condition variable"},
    {"__g_signals", "condition variable"},
    {"__unused_initialized", "condition variable"},
    {"__readers", "read-write lock"},
    {"__writers", "read-write lock"},
    {"__wrphase_futex", "read-write lock"},
    {"__writers_futex", "read-write lock"},
    {"__cur_writer", "read-write lock"},
    {"__shared", "read-write lock"},
    {"__flags", "read-write lock"},
};

/// Members of classes that hold nothing but such a lock.
inline constexpr std::string_view kLockHolders[] = {"_M_mutex", "_M_cond", "_M_rwlock", "_M_impl"};
// clang-format on

}  // namespace cacheline::c2c
