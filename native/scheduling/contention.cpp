// From the histories of lines to contended samples.
#include "scheduling/contention.h"

#include <vector>

#include "analysis/line_history.h"
#include "analysis/line_verdict.h"

namespace cacheline::scheduling {

void eachContended(const analysis::Report& report, const std::function<void(const ContendedSample&)>& give) {
  for (const analysis::Line& line : report.lines) {
    if (!line.history || line.contended == 0) continue;
    const analysis::LineAccesses& accesses = line.history->accesses;
    const analysis::LineVerdict verdict = analysis::judgeLine(
        accesses, {.where = report.whereabouts.get(), .threads = line.history->threads}, false);
    if (!verdict.waiting) continue;  // watchpoints alone saw who competes
    std::vector<double> logged(accesses.uses.size());
    for (size_t i = 0; i < accesses.samples.size(); ++i)
      if (verdict.counts(accesses, i)) logged[accesses.samples[i].use] += accesses.samples[i].weight;
    double sum = 0;
    for (size_t use = 0; use < logged.size(); ++use)
      if (logged[use] > 0) sum += verdict.waiting->contended[use];
    if (sum <= 0) continue;
    // Of a line with many samples some were logged: these stand for all.
    const double scale = static_cast<double>(line.contended) / sum;
    for (size_t i = 0; i < accesses.samples.size(); ++i) {
      if (!verdict.counts(accesses, i)) continue;
      const analysis::PlaceSample& sample = accesses.samples[i];
      const double samples =
          sample.weight * verdict.waiting->contended[sample.use] / logged[sample.use] * scale;
      const uint32_t number = line.history->threads[sample.visitor];
      if (samples <= 0 || number >= report.threads.size()) continue;
      give({report.threads[number].pid, report.threads[number].tid, sample.time, samples});
    }
  }
}

}  // namespace cacheline::scheduling
