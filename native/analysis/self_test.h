// Whether a report of the built-in contended program (record/self_test/contended.c) says what is true of it.
#pragma once

#include <string>

#include "analysis/report.h"

namespace cacheline::analysis {

struct SelfTestFinding {
  bool passed = false;
  std::string sentence;  ///< what was found, or what was not
};

/// Passed: the line of `queue` is false sharing between two threads, each at a member of its own, and
/// `bystander` is not contended.
SelfTestFinding judgeSelfTest(const Report& report);

/// Passed: besides, watchpoints on both members of `queue` saw the two threads write in turn.
SelfTestFinding judgeWatchSelfTest(const Report& report);

}  // namespace cacheline::analysis
