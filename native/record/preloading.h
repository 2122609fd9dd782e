// Whether the dynamic loader takes a shared object of ours into a program.
#pragma once

#include <optional>
#include <string>

#include "record/doctor.h"
#include "record/program.h"

namespace cacheline::record {

/// Why ld.so preloads nothing into a program: `value` ends a sentence that begins with the program's name.
std::optional<Blocker> whyNotPreloaded(const Program& program);

}  // namespace cacheline::record
