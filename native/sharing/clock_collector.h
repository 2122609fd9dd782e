// One pass over the samples of a clock recording: each becomes an access in the table, or a count in
// `unattributed`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/blindness.h"
#include "analysis/report.h"
#include "analysis/sample_filter.h"
#include "analysis/seen_code.h"
#include "analysis/watch_evidence.h"
#include "analysis/whereabouts.h"
#include "perfdata/reader.h"
#include "sharing/collected.h"
#include "sharing/inputs.h"
#include "sharing/recent_cache.h"
#include "sharing/row_callers.h"
#include "sharing/unplaced.h"
#include "sharing/visitors.h"

namespace cacheline::sharing {

/// What the rows of one offset are told apart by: each is of one sampled instruction, of one actor on one
/// thread, in one mapping.
struct ClockGroup {
  uint32_t location = 0;  ///< see Attribution
  uint32_t visitor = 0;
  uint32_t reach = 0;      ///< as LineRow::reach
  uint32_t placement = 0;  ///< see Places
  bool operator==(const ClockGroup&) const = default;
  size_t hash() const {
    return mix((uint64_t{placement} << 32) | reach, (uint64_t{location} << 32) | visitor);
  }
};

class ClockCollector : public perfdata::RecordVisitor, public Collected {
 public:
  /// References are kept.
  ClockCollector(const Inputs& inputs, const analysis::Timeline& timeline, const analysis::SeenCode& seen);

  /// In time order.
  void onSample(const perfdata::Sample& sample) override;
  void onSwitch(const perfdata::Switch& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onComm(const perfdata::Comm& record) override;
  /// After the last one.
  void finish();

  /// Samples that showed the actor of a row about to store to its place.
  uint64_t storesNext(const Line& line, const Row& row) const;
  const ClockGroup& groupOf(const Row& row) const { return groups_[row.group]; }
  /// Where the row's accesses begin, or reach into their line.
  uint64_t addressOf(const Row& row) const {
    return row.offset - places.placements()[groupOf(row).placement].delta;
  }
  /// Whether a Go program accessed it.
  bool isGo(const Line& line) const { return goLines_.contains({line.space, line.offset}); }

  analysis::Attribution locations;
  Visitors visitors;
  std::optional<analysis::WatchEvidence> watch;
  std::optional<RowCallers> callers;  ///< empty: not asked for

  uint64_t samples = 0, attributed = 0;
  std::vector<uint64_t> samplesOf;  ///< by thread
  std::vector<uint64_t> phases;     ///< as Report::phases; set before the first sample
  /// By thread, by phase; empty: there is one phase.
  std::vector<std::map<uint32_t, uint64_t>> samplesOfPhases;
  /// By thread, by phase and location: as ThreadSamples::mayWait; empty: not asked for.
  std::vector<std::map<std::pair<uint32_t, uint32_t>, uint64_t>> mayWait;
  uint64_t filtered = 0;  ///< samples that the filter left out, and that are in no other count
  analysis::Unattributed unattributed;
  uint64_t loads = 0, stores = 0, locked = 0;  ///< of the attributed samples
  analysis::UnseenSamples unseen;              ///< of unattributed: noInstruction, clobbered, unmapped
  uint64_t firstTime = 0, lastTime = 0;        ///< of samples, ns
  /// Where threads ran, after finish(); null: nothing tells.
  std::shared_ptr<const analysis::Whereabouts> whereabouts;
  std::optional<UnplacedTable> unplaced;  ///< of unattributed; empty: splits are not asked for

 private:
  /// A sample with the access that it is charged to.
  struct Attributed {
    const perfdata::Sample& sample;
    const analysis::AddressSpace& space;
    const analysis::Mapping& code;
    const analysis::Mapping* data;  ///< null: the main stack
    uint64_t address;               ///< of the access
    uint32_t thread, location;
    bool isGo, isStack;
    uint32_t visitor;
  };
  /// Empty, or the reason why the sample has no place in the table. `location`: gets that of its code where
  /// it is known.
  std::optional<analysis::UnplacedReason> attribute(const perfdata::Sample& sample, uint32_t thread,
                                                    uint32_t& location);
  void countUnplaced(analysis::UnplacedReason reason);
  void add(const Attributed& found);
  /// The part of the access that begins at `address`, in one line; `reach`: as LineRow::reach.
  const Placement& addPart(const Attributed& found, uint64_t address, uint32_t reach);
  void addEvidence(const Attributed& found, analysis::Position position);
  uint32_t placementOf(const Attributed& found, uint64_t address);
  void addStores(const perfdata::Sample& sample, const analysis::AddressSpace& space,
                 const analysis::Mapping& code, uint32_t thread, uint32_t location);
  uint32_t groupIndexOf(const ClockGroup& group);
  void addMayWait(uint32_t thread, uint32_t location);
  void flush();

  analysis::AddressSpaces spaces_{timeline};
  analysis::SampleFilter filter_;
  const analysis::CpuCores cores_;
  std::optional<analysis::WhereaboutsReader> ran_;  ///< empty: nothing tells
  const bool switches_;                             ///< records of context switches are to be expected
  std::vector<ClockGroup> groups_;
  HashMap<ClockGroup, uint32_t> groupIndex_;
  const bool hasCpuFilter_;
  const bool history_;
  RecentCache<uint32_t> placements_;           ///< by mapping
  HashMap<analysis::Position, bool> goLines_;  ///< by a line's first byte
  struct StoreKey {
    analysis::Position position;
    uint32_t actor = 0;
    bool operator==(const StoreKey&) const = default;
    size_t hash() const { return mix(position.hash(), actor); }
  };
  HashMap<StoreKey, uint32_t> nextStores_;  ///< samples that showed them, by their first bytes
  AccessLists accesses_;
  std::vector<uint64_t> periods_;  ///< by event, ns: what its attribute says
  uint32_t order_ = 0;
};

}  // namespace cacheline::sharing
