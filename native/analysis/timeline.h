// Who was there and had what mapped where, and when: made by one reading of all records that are no samples.
// After it a process at a moment can be asked for in any order, by any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/phases.h"
#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// A thread between its beginning and its end, as far as records say.
struct ThreadLife {
  perfdata::Moment from, until;
  /// When a thread of its process ended the last time before it began, ns: its stack can be this one. 0: that
  /// is not known.
  uint64_t endBefore = 0;
  bool ended = false;  ///< none: what comes behind the end of one, until another thread has its number
};

/// Records are taken as they come, one that is older than one before it as if it were of that one's moment.
class Timeline : public perfdata::RecordVisitor {
 public:
  /// Reads all records of the recording that are no samples; `threads` as Reader::readOthers() has it.
  static Timeline of(perfdata::Reader& reader, const std::function<bool(double)>& progress = {},
                     unsigned threads = 1);

  void onMmap(const perfdata::Mmap& record) override;
  void onComm(const perfdata::Comm& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onLost(const perfdata::Lost& record) override;
  void onKsymbol(const perfdata::Ksymbol& record) override;

  const Backing& backing(uint32_t index) const { return backings_[index]; }
  /// The last name of a thread; empty: no record named it or an ancestor.
  std::string threadName(uint32_t pid, uint32_t tid) const;
  const ThreadLife& threadLife(uint32_t pid, uint32_t tid, const perfdata::Moment& moment) const;
  /// Lives of those of `threads` (pid, tid) that started no other thread or process, in no order.
  std::vector<LifeSpan> workerLives(const std::vector<std::pair<uint32_t, uint32_t>>& threads) const;
  /// Of the kernel and its modules, as they came. Their texts are valid as long as this object.
  const std::vector<perfdata::Mmap>& kernelMappings() const { return kernelMappings_; }
  const std::vector<perfdata::Ksymbol>& kernelSymbols() const { return kernelSymbols_; }
  uint64_t lost = 0;         ///< records
  uint64_t lostSamples = 0;  ///< of `lost`, those known to be samples

 private:
  friend class AddressSpaces;
  static constexpr perfdata::Moment kEnd{~uint64_t{0}, ~uint64_t{0}};
  /// Changes from one kept set of mappings to the next.
  static constexpr size_t kBetween = 256;

  /// One mapping that came, and what is known of the process from then on.
  struct Change {
    perfdata::Moment from;
    Mapping mapping;
    bool anonymous = false;  ///< private and anonymous, see MappingSet::insertAnonymous()
    ProcessFacts facts;
    void applyTo(MappingSet& mappings) const;
  };
  /// One process between fork or exec and the next exec or its end.
  struct Life {
    perfdata::Moment from;
    uint32_t id = 0, incarnation = 0;
    ProcessFacts facts;  ///< at its beginning
    std::vector<Change> changes;
    std::vector<std::shared_ptr<const MappingSet>> kept;  ///< before changes 0, kBetween, 2 * kBetween, ...
  };
  struct Process {
    std::vector<std::unique_ptr<Life>> lives;  ///< by moment
    MappingSet mappings;                       ///< of the last life, now
    uint32_t incarnations = 0;
    uint32_t threads = 1;         ///< alive, as far as FORK and EXIT say
    bool threadsCounted = false;  ///< FORK or exec showed its beginning, so `threads` is right
  };
  const Process* process(uint32_t pid) const;
  Process& living(uint32_t pid);
  Life& begin(Process& process);
  Life& reborn(Process& process);
  uint32_t intern(Backing backing);
  void advanceTo(const perfdata::Moment& moment) { now_ = std::max(now_, moment); }
  static uint64_t key(uint32_t pid, uint32_t tid) { return (uint64_t{pid} << 32) | tid; }

  perfdata::Moment now_;
  HashMap<uint32_t, std::unique_ptr<Process>> processes_;
  uint32_t lives_ = 0;
  std::vector<Backing> backings_;
  std::vector<const char*> runtimes_;  ///< by backing
  HashMap<std::string, uint32_t> backingIndex_;
  std::shared_ptr<const MappingSet> none_ = std::make_shared<const MappingSet>();
  bool keepAll_ = false;  ///< records were lost: counts of threads can no longer be trusted

  HashMap<uint64_t, std::string> names_;  ///< of threads
  /// Names by tid, also of who has ended: the kernel's work for them can be sampled later.
  HashMap<uint32_t, std::string> namesByTid_;
  HashMap<uint64_t, std::vector<ThreadLife>> threadLives_;
  HashMap<uint64_t, bool> starters_;     ///< threads that started others
  HashMap<uint32_t, uint64_t> lastEnd_;  ///< of a thread, ns, by process

  std::deque<std::string> texts_;
  std::vector<perfdata::Mmap> kernelMappings_;
  std::vector<perfdata::Ksymbol> kernelSymbols_;
};

/// The address spaces of a timeline, for one thread of ours.
class AddressSpaces {
 public:
  explicit AddressSpaces(const Timeline& timeline) : timeline_(timeline) {}

  /// The space of a pid at a moment, empty where nothing was recorded of it. Good until the next call for the
  /// pid. Fast where moments are near those asked for before.
  const AddressSpace& at(uint32_t pid, const perfdata::Moment& moment) {
    Slot& slot = last_ != nullptr && last_->space.pid == pid ? *last_ : slotOf(pid);
    if (moment < slot.space.from || !(moment < slot.space.until)) move(slot, moment);
    return slot.space;
  }

 private:
  struct Slot {
    const Timeline::Process* process = nullptr;
    const Timeline::Life* life = nullptr;
    size_t applied = 0;  ///< of its changes
    std::shared_ptr<MappingSet> mappings;
    AddressSpace space;  ///< until == from: not asked for yet
  };
  Slot& slotOf(uint32_t pid);
  void move(Slot& slot, const perfdata::Moment& moment);

  const Timeline& timeline_;
  std::shared_ptr<const MappingSet> none_ = std::make_shared<const MappingSet>();
  HashMap<uint32_t, std::unique_ptr<Slot>> slots_;
  Slot* last_ = nullptr;  ///< that was asked for
};

}  // namespace cacheline::analysis
