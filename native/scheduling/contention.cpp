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
    const analysis::LineVerdict verdict = analysis::judgeLine(accesses, {}, false);
    if (!verdict.waiting) continue;  // watchpoints alone saw who competes
    const auto counts = [&](const analysis::PlaceSample& sample) {
      return sample.waits && verdict.judgement.competes[accesses.visitors[sample.visitor].actor];
    };
    std::vector<double> logged(accesses.uses.size());
    for (const analysis::PlaceSample& sample : accesses.samples)
      if (counts(sample)) logged[sample.use] += sample.weight;
    double sum = 0;
    for (size_t use = 0; use < logged.size(); ++use)
      if (logged[use] > 0) sum += verdict.waiting->contended[use];
    if (sum <= 0) continue;
    // Of a line with many samples some were logged: these stand for all.
    const double scale = static_cast<double>(line.contended) / sum;
    for (const analysis::PlaceSample& sample : accesses.samples) {
      if (!counts(sample)) continue;
      const double samples =
          sample.weight * verdict.waiting->contended[sample.use] / logged[sample.use] * scale;
      const uint32_t number = line.history->threads[sample.visitor];
      if (samples <= 0 || number >= report.threads.size()) continue;
      give({report.threads[number].pid, report.threads[number].tid, sample.time, samples});
    }
  }
}

}  // namespace cacheline::scheduling
