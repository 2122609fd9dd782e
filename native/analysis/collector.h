// One pass over the records of a clock recording: every sample becomes a count in the sharing table or in
// `unattributed`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/attribution.h"
#include "analysis/binaries.h"
#include "analysis/data_names.h"
#include "analysis/line_space.h"
#include "analysis/report.h"
#include "analysis/seen_code.h"
#include "analysis/sharing_table.h"
#include "analysis/thread_table.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

class Collector : public perfdata::RecordVisitor {
 public:
  Collector(const perfdata::Features& features, const Meta& meta, const SeenCode& seen,
            symbols::SymbolOptions symbols = {});

  void onSample(const perfdata::Sample& sample) override;
  void onMmap(const perfdata::Mmap& record) override { spaces.onMmap(record); }
  void onComm(const perfdata::Comm& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onLost(const perfdata::Lost& record) override;

  AddressSpaces spaces;
  Binaries binaries;
  LineSpaces lineSpaces{spaces};
  Attribution sites{binaries, spaces};
  DataNames names{binaries, spaces};
  ThreadTable threads;
  SharingTable table;

  uint64_t samples = 0, attributed = 0, lost = 0;
  Unattributed unattributed;
  uint64_t loads = 0, stores = 0, locked = 0;  ///< of the attributed samples
  uint64_t withoutBinary = 0;  ///< of unattributed.noInstruction: code that no file backs (JIT, vdso)
  uint64_t firstTime = 0, lastTime = 0;  ///< of samples, ns

 private:
  /// Who ran on a CPU last: consecutive samples of one CPU are mostly of one thread.
  struct Running {
    uint32_t pid = 0, tid = 0, thread = kNone;
    uint64_t version = 0;
    AddressSpace* space = nullptr;
  };
  const Running& running(const perfdata::Sample& sample);
  /// Null, or the counter of the reason why the sample has no place in the table.
  uint64_t* attribute(const perfdata::Sample& sample);

  /// Whether the sample's thread fell through into the block at its IP, whose plan knows the access before
  /// it.
  bool fellThrough(const Site& site, const Mapping& code, const perfdata::Sample& sample) const;

  const SeenCode& seen_;
  std::vector<Running> running_;
};

}  // namespace cacheline::analysis
