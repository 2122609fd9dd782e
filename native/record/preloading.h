// What a program's file keeps from us: its samples from the kernel, a shared object of ours in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/doctor.h"
#include "record/program.h"

namespace cacheline::record {

/// Why the kernel gives no samples of a program that is started: `value` is a sentence. Of the whole
/// machine's events it does.
std::optional<Blocker> whyNotSampled(const Program& program);

/// An environment in which `changes` ("NAME=value") replace what has their names.
std::vector<std::string> withEntries(std::vector<std::string> environment,
                                     const std::vector<std::string>& changes);

/// Why ld.so preloads nothing into a program: `value` ends a sentence that begins with the program's name.
std::optional<Blocker> whyNotPreloaded(const Program& program);

/// Why the sampling agent stays out of a program: it is Go's, or nothing can be preloaded into it.
std::optional<Blocker> whyNotSampledByAgent(const Program& program);

}  // namespace cacheline::record
