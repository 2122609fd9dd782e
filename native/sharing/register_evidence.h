// Memory samples that carry registers (perf record --intr-regs) say which object their code had in its hands.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/kernel_code.h"
#include "analysis/object_evidence.h"
#include "decode/access.h"
#include "perfdata/reader.h"
#include "sharing/places.h"

namespace cacheline::sharing {

class RegisterEvidence {
 public:
  RegisterEvidence(analysis::Binaries& binaries, analysis::KernelCode& kernel,
                   const analysis::Timeline& timeline, const Places& places,
                   analysis::ObjectEvidence& evidence)
      : binaries_(binaries), kernel_(kernel), timeline_(timeline), places_(places), evidence_(evidence) {}

  /// A sample of the instruction `location`. Its registers are evidence unless they contradict the sampled
  /// data address, as those of a later moment do: Intel's PEBS stores them as they are right after the
  /// access, AMD's IBS sends those of the interrupt some instructions later.
  /// `samples`: for which it was chosen.
  void add(const perfdata::Sample& sample, uint32_t location, analysis::Position position, uint32_t samples);

 private:
  /// What the code at a sampled instruction says, once.
  struct Location {
    bool known = false;
    bool usable = false;     ///< the access is known, and the registers belong to `ip`
    bool checkable = false;  ///< they still say the access's address
    uint32_t binary = analysis::kNone;
    uint64_t ip = 0;          ///< ELF address where the registers were taken
    uint64_t sampled = 0;     ///< ELF address of the sample's IP
    decode::AccessPlan plan;  ///< over the registers at `ip`
  };
  const Location& locationOf(uint32_t index);
  void describe(const SampledCode& code, Location& location);

  analysis::Binaries& binaries_;
  analysis::KernelCode& kernel_;
  const analysis::Timeline& timeline_;
  const Places& places_;
  analysis::ObjectEvidence& evidence_;
  std::vector<Location> locations_;
};

}  // namespace cacheline::sharing
