// The call `where`: its parameters, its work and its result.
#pragma once

#include <functional>

#include "addon/arguments.h"
#include "addon/job.h"
#include "record/where.h"

namespace cacheline::addon {

/// WhereParams of extension/protocol/where.ts. Throws a RangeError or TypeError that names the property.
record::WhereOptions whereOptions(const Arguments& arguments);

/// Runs and resolves with WhereOutcome's fields, `where` as JSON text. Progress is the seconds so far.
MakeValue whereWork(const record::WhereOptions& options, JobContext& job);

}  // namespace cacheline::addon
