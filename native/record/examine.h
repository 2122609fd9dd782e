// Whether each collector can be used here, and everything that is in its way. The answers depend on what is
// passed in alone: tests stand in for machines that are not there.
#pragma once

#include <string>

#include "record/capability.h"
#include "record/doctor.h"
#include "record/kernel.h"

namespace cacheline::record {

/// How many debug registers this thread can have at once, and the errno of the one it cannot.
struct DebugRegisters {
  int count = 0;
  int errnum = 0;
};
DebugRegisters tryDebugRegisters(const Kernel& kernel);

/// Each tries what a recording would open, on this thread. None throws for a refusal: that is the answer.
CollectorState examinePmu(const Kernel& kernel, const Permissions& permissions);
CollectorState examineClock(const Kernel& kernel, const Permissions& permissions);
CollectorState examineWatch(const DebugRegisters& registers, const Permissions& permissions);
/// `library`: path of libcacheline_sampler.so.
CollectorState examineAgent(const std::string& library);

}  // namespace cacheline::record
