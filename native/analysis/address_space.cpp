// Address spaces over time.
#include "analysis/address_space.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "analysis/code_runtime.h"

namespace cacheline::analysis {

namespace {

constexpr size_t kLeafSize = 128;  // pieces; a leaf splits at twice that

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

}  // namespace

bool Backing::namesFile() const {
  if (!name.starts_with('/') || name.starts_with("//")) return false;
  if (name.starts_with("/dev/")) return name.starts_with("/dev/shm/");
  return !name.starts_with("/memfd:") && !name.starts_with("/SYSV") && !name.starts_with("/anon_hugepage");
}

size_t MappingSet::leafOf(uint64_t address) const {
  const auto it = std::upper_bound(leaves_.begin(), leaves_.end(), address,
                                   [](uint64_t value, const LeafRef& ref) { return value < ref.first; });
  return it == leaves_.begin() ? 0 : static_cast<size_t>(it - leaves_.begin()) - 1;
}

const Mapping* MappingSet::find(uint64_t address) const {
  if (leaves_.empty()) return nullptr;
  const Leaf& leaf = *leaves_[leafOf(address)].leaf;
  const auto it = std::upper_bound(leaf.begin(), leaf.end(), address,
                                   [](uint64_t value, const Mapping& piece) { return value < piece.end; });
  return it != leaf.end() && it->start <= address ? &*it : nullptr;
}

const Mapping* MappingSet::before(uint64_t address) const {
  if (leaves_.empty()) return nullptr;
  const size_t index = leafOf(address);
  const Leaf& leaf = *leaves_[index].leaf;
  const auto it = std::upper_bound(leaf.begin(), leaf.end(), address,
                                   [](uint64_t value, const Mapping& piece) { return value < piece.end; });
  if (it != leaf.begin()) return &*std::prev(it);
  return index > 0 ? &leaves_[index - 1].leaf->back() : nullptr;
}

const Mapping* MappingSet::last() const {
  return leaves_.empty() ? nullptr : &leaves_.back().leaf->back();
}

size_t MappingSet::size() const {
  size_t count = 0;
  for (const LeafRef& ref : leaves_) count += ref.leaf->size();
  return count;
}

MappingSet::Leaf& MappingSet::own(size_t index) {
  std::shared_ptr<Leaf>& leaf = leaves_[index].leaf;
  if (leaf.use_count() > 1) leaf = std::make_shared<Leaf>(*leaf);
  return *leaf;
}

void MappingSet::erase(uint64_t start, uint64_t end) {
  size_t firstEmpty = leaves_.size(), emptied = 0;
  for (size_t i = leafOf(start); i < leaves_.size() && leaves_[i].first < end; ++i) {
    const auto overlaps = [&](const Mapping& piece) { return piece.start < end && piece.end > start; };
    if (std::none_of(leaves_[i].leaf->begin(), leaves_[i].leaf->end(), overlaps)) continue;
    Leaf kept;
    kept.reserve(leaves_[i].leaf->size() + 1);
    for (const Mapping& piece : *leaves_[i].leaf) {
      if (!overlaps(piece)) {
        kept.push_back(piece);
        continue;
      }
      if (piece.start < start) {
        kept.push_back(piece);
        kept.back().end = start;
      }
      if (piece.end > end) {
        kept.push_back(piece);
        kept.back().start = end;
      }
    }
    if (kept.empty()) {  // neighbours: only the first and the last leaf can keep something
      if (emptied++ == 0) firstEmpty = i;
      continue;
    }
    leaves_[i].first = kept.front().start;
    leaves_[i].leaf = std::make_shared<Leaf>(std::move(kept));
  }
  const auto from = leaves_.begin() + static_cast<ptrdiff_t>(firstEmpty);
  leaves_.erase(from, from + static_cast<ptrdiff_t>(emptied));
}

void MappingSet::insert(const Mapping& mapping) {
  if (mapping.end <= mapping.start) return;
  if (!leaves_.empty()) erase(mapping.start, mapping.end);
  if (leaves_.empty()) {
    leaves_.push_back({mapping.start, std::make_shared<Leaf>(Leaf{mapping})});
    return;
  }
  const size_t index = leafOf(mapping.start);
  Leaf& leaf = own(index);
  leaf.insert(std::upper_bound(leaf.begin(), leaf.end(), mapping.start,
                               [](uint64_t value, const Mapping& piece) { return value < piece.start; }),
              mapping);
  leaves_[index].first = leaf.front().start;
  if (leaf.size() < 2 * kLeafSize) return;
  const auto middle = leaf.begin() + static_cast<ptrdiff_t>(kLeafSize);
  auto upper = std::make_shared<Leaf>(middle, leaf.end());
  leaf.erase(middle, leaf.end());
  const uint64_t first = upper->front().start;
  leaves_.insert(leaves_.begin() + static_cast<ptrdiff_t>(index) + 1, LeafRef{first, std::move(upper)});
}

void MappingSet::insertAnonymous(const Mapping& mapping) {
  std::vector<Mapping> kept;
  for (size_t i = leaves_.empty() ? 0 : leafOf(mapping.start); i < leaves_.size() && kept.size() <= kMaxKept;
       ++i) {
    if (leaves_[i].first >= mapping.end) break;
    for (const Mapping& piece : *leaves_[i].leaf) {
      const bool inside = piece.start >= mapping.start && piece.end <= mapping.end;
      const bool whole = piece.start == mapping.start && piece.end == mapping.end;
      if (inside && !whole && piece.backing == mapping.backing) kept.push_back(piece);
      if (kept.size() > kMaxKept) break;
    }
  }
  insert(mapping);
  if (kept.size() > kMaxKept) return;
  for (Mapping& piece : kept) {
    piece.code = mapping.code;
    insert(piece);
  }
}

AddressSpace& AddressSpaces::fresh(uint32_t pid) {
  std::unique_ptr<AddressSpace>& space = spaces_[pid];
  space = std::make_unique<AddressSpace>();
  space->pid = pid;
  space->id = static_cast<uint32_t>(pids_.size());
  space->mappings = none_;
  if (const auto it = incarnations_.find(pid); it != incarnations_.end()) space->incarnation = it->second;
  pids_.push_back(pid);
  ++version_;
  return *space;
}

AddressSpace& AddressSpaces::reborn(uint32_t pid) {
  ++incarnations_[pid];
  return fresh(pid);
}

AddressSpace& AddressSpaces::of(uint32_t pid) {
  const auto it = spaces_.find(pid);
  return it != spaces_.end() ? *it->second : fresh(pid);
}

uint32_t AddressSpaces::intern(Backing backing) {
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

void AddressSpaces::onMmap(const perfdata::Mmap& record) {
  if (record.kernel || record.length == 0) return;
  AddressSpace& space = of(record.pid);
  const uint64_t end = record.address + record.length;
  if (end < record.address) return;
  auto changed = space.mappings.use_count() == 1
                     ? std::const_pointer_cast<MappingSet>(std::move(space.mappings))
                     : std::make_shared<MappingSet>(*space.mappings);
  const uint32_t backing = intern(backingOf(record));
  const Mapping mapping{record.address, end, record.address, record.pageOffset, backing, !record.data};
  if (backings_[backing].anonymous() && !backings_[backing].shared)
    changed->insertAnonymous(mapping);
  else
    changed->insert(mapping);
  space.mappings = std::move(changed);
  space.codeHint = space.dataHint = nullptr;
  ++space.generation;
  if (space.program == kNone && backings_[backing].namesFile()) space.program = backing;
  if (runtimes_[backing] != nullptr) space.runtime = runtimes_[backing];
  if (space.program == backing) space.programEnd = std::max(space.programEnd, end);
  if (const std::string& name = backings_[backing].name; name.empty() || name[0] != '[' || name == "[heap]")
    space.top = std::max(space.top, end);
}

void AddressSpaces::onComm(const perfdata::Comm& record) {
  if (!record.exec) return;
  reborn(record.pid).threadsCounted = true;  // exec leaves one thread
}

void AddressSpaces::onFork(const perfdata::Task& record) {
  if (record.pid == record.parentPid) {
    ++of(record.pid).threads;
    return;
  }
  AddressSpace parent;
  if (const auto it = spaces_.find(record.parentPid); it != spaces_.end()) parent = *it->second;
  AddressSpace& child = reborn(record.pid);
  if (parent.mappings) child.mappings = parent.mappings;
  child.top = parent.top;
  child.program = parent.program;
  child.programEnd = parent.programEnd;
  child.runtime = parent.runtime;
  child.threadsCounted = true;
}

void AddressSpaces::onExit(const perfdata::Task& record) {
  const auto it = spaces_.find(record.pid);
  if (it == spaces_.end()) return;
  AddressSpace& space = *it->second;
  if (space.threads > 0) --space.threads;
  if (space.threads > 0 || !space.threadsCounted || keepAll_) return;
  spaces_.erase(it);
  ++version_;
}

}  // namespace cacheline::analysis
