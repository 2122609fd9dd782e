// `trace`: what a recording's trace shows; and what a recording is asked to trace.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <string>

#include "addon/arguments.h"
#include "record/trace_request.h"

namespace cacheline::addon {

struct TraceRequest {
  std::string expression;  ///< TYPE or TYPE.member
  std::string agent;       ///< path of libcacheline_heap.so
  double budget = 0;       ///< share of the program's elapsed time
  uint64_t instances = 0;
};

/// RecordParams.trace; empty where it is absent. `folder`: of this addon, with a slash at its end.
std::optional<TraceRequest> traceRequest(const Arguments& arguments, const std::string& folder);
record::TraceOptions traceOptions(const TraceRequest& request);

/// TraceParams -> JSON text of the document cacheline-trace/1.
Napi::Value traceCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
