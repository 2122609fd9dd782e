// Processes, threads and mappings over time.
#include "analysis/timeline.h"

#include <sys/mman.h>

#include <algorithm>

#include "analysis/code_runtime.h"

namespace cacheline::analysis {

namespace {

using perfdata::Moment;

Backing backingOf(const perfdata::Mmap& record) {
  Backing backing;
  backing.name = std::string(record.file);
  backing.buildId = record.buildId;
  backing.inode = record.inode;
  backing.major = record.major;
  backing.minor = record.minor;
  // MAP_SHARED_VALIDATE has MAP_SHARED's bit too; the kernel reports MAP_SHARED for both.
  backing.shared = (record.flags & MAP_SHARED) != 0;
  return backing;
}

/// In the ids of the spaces of processes of which no record tells: above all others.
constexpr uint32_t kUnknownProcess = 1u << 29;

}  // namespace

Timeline Timeline::of(perfdata::Reader& reader, const std::function<bool(double)>& progress,
                      unsigned threads) {
  Timeline timeline;
  reader.readOthers(timeline, progress, threads);
  return timeline;
}

void Timeline::Change::applyTo(MappingSet& mappings) const {
  if (anonymous)
    mappings.insertAnonymous(mapping);
  else
    mappings.insert(mapping);
}

const Timeline::Process* Timeline::process(uint32_t pid) const {
  const auto it = processes_.find(pid);
  return it == processes_.end() ? nullptr : it->second.get();
}

/// A process that is there. Of one that no record began, that was always so.
Timeline::Process& Timeline::living(uint32_t pid) {
  const auto [it, isNew] = processes_.try_emplace(pid);
  if (isNew) {
    it.value() = std::make_unique<Process>();
    begin(*it.value()).from = {};
  }
  return *it.value();
}

/// A life without mappings.
Timeline::Life& Timeline::begin(Process& process) {
  Life& life = *process.lives.emplace_back(std::make_unique<Life>());
  life.from = now_;
  life.id = lives_++;
  life.incarnation = process.incarnations;
  life.kept.push_back(none_);
  process.mappings.clear();
  process.threads = 1;
  process.threadsCounted = false;
  return life;
}

/// By fork or exec.
Timeline::Life& Timeline::reborn(Process& process) {
  ++process.incarnations;
  Life& life = begin(process);
  process.threadsCounted = true;
  return life;
}

uint32_t Timeline::intern(Backing backing) {
  std::string key = backing.name;
  key.append(1, '\0').append(backing.buildId).append(1, backing.shared ? '\1' : '\0');
  for (const uint64_t value : {backing.inode, uint64_t{backing.major}, uint64_t{backing.minor}})
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  const auto [it, added] = backingIndex_.try_emplace(std::move(key), static_cast<uint32_t>(backings_.size()));
  if (added) {
    runtimes_.push_back(backing.namesFile() ? codeRuntime(backing.name) : nullptr);
    backings_.push_back(std::move(backing));
  }
  return it->second;
}

void Timeline::onMmap(const perfdata::Mmap& record) {
  advanceTo(record.moment);
  if (record.kernel) {
    perfdata::Mmap& kept = kernelMappings_.emplace_back(record);
    kept.file = texts_.emplace_back(record.file);
    return;
  }
  const uint64_t end = record.address + record.length;
  if (record.length == 0 || end < record.address) return;
  Process& process = living(record.pid);
  Life& life = *process.lives.back();
  const uint32_t index = intern(backingOf(record));
  const Backing& backing = backings_[index];
  Change change;
  change.from = now_;
  change.mapping = {record.address, end, record.address, record.pageOffset, index, !record.data};
  change.anonymous = backing.anonymous() && !backing.shared;
  ProcessFacts& facts = change.facts;
  facts = life.changes.empty() ? life.facts : life.changes.back().facts;
  if (facts.program == kNone && backing.namesFile()) facts.program = index;
  if (runtimes_[index] != nullptr) facts.runtime = runtimes_[index];
  if (facts.program == index) facts.programEnd = std::max(facts.programEnd, end);
  if (backing.name.empty() || backing.name[0] != '[' || backing.name == "[heap]")
    facts.top = std::max(facts.top, end);
  change.applyTo(process.mappings);
  life.changes.push_back(change);
  if (life.changes.size() % kBetween == 0)
    life.kept.push_back(std::make_shared<const MappingSet>(process.mappings));
}

void Timeline::onComm(const perfdata::Comm& record) {
  advanceTo(record.moment);
  names_[key(record.pid, record.tid)] = namesByTid_[record.tid] = std::string(record.name);
  if (record.exec) reborn(living(record.pid));  // exec leaves one thread
}

void Timeline::onFork(const perfdata::Task& record) {
  advanceTo(record.moment);
  const uint64_t thread = key(record.pid, record.tid);
  if (const auto parent = namesByTid_.find(record.parentTid); parent != namesByTid_.end()) {
    const std::string name = parent->second;  // the insertions below may move it
    names_[thread] = namesByTid_[record.tid] = name;
  } else {  // and what had the number before is no longer meant
    names_.erase(thread);
    namesByTid_.erase(record.tid);
  }
  starters_[key(record.parentPid, record.parentTid)] = true;
  const auto ended = lastEnd_.find(record.pid);
  std::vector<ThreadLife>& lives = threadLives_[thread];
  if (!lives.empty()) lives.back().until = now_;
  lives.push_back({now_, kEnd, ended == lastEnd_.end() ? 0 : ended->second});

  if (record.pid == record.parentPid) {
    ++living(record.pid).threads;
    return;
  }
  Process* parent = nullptr;
  if (const auto it = processes_.find(record.parentPid); it != processes_.end()) parent = it->second.get();
  std::unique_ptr<Process>& child = processes_[record.pid];
  if (child == nullptr) child = std::make_unique<Process>();
  Life& life = reborn(*child);
  if (parent == nullptr) return;
  const Life& inherited = *parent->lives.back();
  life.facts = inherited.changes.empty() ? inherited.facts : inherited.changes.back().facts;
  child->mappings = parent->mappings;
  life.kept.front() = std::make_shared<const MappingSet>(child->mappings);
}

void Timeline::onExit(const perfdata::Task& record) {
  advanceTo(record.moment);
  lastEnd_[record.pid] = record.time;
  std::vector<ThreadLife>& lives = threadLives_[key(record.pid, record.tid)];
  if (lives.empty()) lives.push_back({{}, kEnd, 0});
  lives.back().until = now_;
  lives.push_back({.from = now_, .until = kEnd, .ended = true});

  const auto it = processes_.find(record.pid);
  if (it == processes_.end()) return;
  Process& process = *it->second;
  if (process.threads > 0) --process.threads;
  if (process.threads > 0 || !process.threadsCounted || keepAll_) return;
  begin(process);
}

void Timeline::onLost(const perfdata::Lost& record) {
  lost += record.count;
  if (record.samples) lostSamples += record.count;
  keepAll_ = true;
}

void Timeline::onKsymbol(const perfdata::Ksymbol& record) {
  kernelSymbols_.push_back(record);
  kernelSymbols_.back().name = texts_.emplace_back(record.name);
}

std::string Timeline::threadName(uint32_t pid, uint32_t tid) const {
  if (const auto own = names_.find(key(pid, tid)); own != names_.end()) return own->second;
  const auto other = namesByTid_.find(tid);
  return other == namesByTid_.end() ? std::string() : other->second;
}

const ThreadLife& Timeline::threadLife(uint32_t pid, uint32_t tid, const Moment& moment) const {
  static const ThreadLife always{{}, kEnd, 0};
  const auto it = threadLives_.find(key(pid, tid));
  if (it == threadLives_.end()) return always;
  const std::vector<ThreadLife>& lives = it->second;
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), moment,
                       [](const Moment& at, const ThreadLife& life) { return at < life.from; });
  return after == lives.begin() ? always : *std::prev(after);
}

std::vector<LifeSpan> Timeline::workerLives(const std::vector<std::pair<uint32_t, uint32_t>>& threads) const {
  std::vector<LifeSpan> spans;
  for (const auto& [pid, tid] : threads) {
    if (starters_.contains(key(pid, tid))) continue;
    const auto found = threadLives_.find(key(pid, tid));
    if (found == threadLives_.end()) {
      spans.emplace_back();
      continue;
    }
    for (const ThreadLife& life : found->second) {
      if (life.ended) continue;
      const bool hasEnd = life.until != kEnd;
      spans.push_back({life.from.time, hasEnd ? life.until.time : LifeSpan().until});
    }
  }
  return spans;
}

AddressSpaces::Slot& AddressSpaces::slotOf(uint32_t pid) {
  const auto [it, isNew] = slots_.try_emplace(pid);
  if (isNew) {
    it.value() = std::make_unique<Slot>();
    it.value()->process = timeline_.process(pid);
    it.value()->space.pid = pid;
    it.value()->space.mappings = none_;
  }
  return *(last_ = it.value().get());
}

void AddressSpaces::move(Slot& slot, const Moment& moment) {
  using Life = Timeline::Life;
  AddressSpace& space = slot.space;
  space.codeHint = space.dataHint = nullptr;
  const auto before = [](const Moment& at, const auto& life) { return at < life->from; };
  const Life* life = nullptr;
  Moment until = Timeline::kEnd;
  if (slot.process != nullptr) {
    const auto& lives = slot.process->lives;
    const auto after = std::upper_bound(lives.begin(), lives.end(), moment, before);
    if (after != lives.begin()) life = std::prev(after)->get();
    if (after != lives.end()) until = (*after)->from;
  }
  if (life == nullptr) {  // nothing is known of it yet
    slot.life = nullptr;
    slot.mappings = nullptr;
    space.mappings = none_;
    static_cast<ProcessFacts&>(space) = {};
    space.id = kUnknownProcess | space.pid;
    space.generation = space.incarnation = 0;
    space.from = {};
    space.until = until;
    return;
  }
  const std::vector<Timeline::Change>& changes = life->changes;
  const auto next = std::upper_bound(changes.begin(), changes.end(), moment,
                                     [](const Moment& at, const auto& change) { return at < change.from; });
  const auto wanted = static_cast<size_t>(next - changes.begin());
  const size_t nearest = wanted / Timeline::kBetween;
  space.mappings = none_;  // so that ours is not shared with it
  if (slot.life != life || slot.applied > wanted || slot.applied < nearest * Timeline::kBetween) {
    slot.life = life;
    slot.applied = nearest * Timeline::kBetween;
    slot.mappings = std::make_shared<MappingSet>(*life->kept[nearest]);
  }
  for (; slot.applied < wanted; ++slot.applied) changes[slot.applied].applyTo(*slot.mappings);
  space.mappings = slot.mappings;
  static_cast<ProcessFacts&>(space) = wanted == 0 ? life->facts : changes[wanted - 1].facts;
  space.id = life->id;
  space.generation = static_cast<uint32_t>(wanted);
  space.incarnation = life->incarnation;
  space.from = wanted == 0 ? life->from : changes[wanted - 1].from;
  space.until = next == changes.end() ? until : next->from;
}

}  // namespace cacheline::analysis
