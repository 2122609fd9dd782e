// Speedups by threads.
#include "advice/gain.h"

namespace cacheline::advice {

std::string basisOf(const analysis::Report& report) {
  std::string basis;
  for (const std::string& evidence : report.evidence) basis += (basis.empty() ? "" : ", ") + evidence;
  return basis;
}

std::optional<Speedup> speedupOf(const analysis::Report&, const Replayed&, const Replayed&) {
  return std::nullopt;
}

}  // namespace cacheline::advice
