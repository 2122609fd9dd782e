// Threads and their stacks over time.
#include "analysis/stack_owners.h"

namespace cacheline::analysis {

namespace {

// Stacks come in such units (glibc: 8 MiB, Rust: 2 MiB); data of the loader and the C library, which the
// kernel may have merged one with, is some pages long.
constexpr uint64_t kStackUnit = 1 << 20;
// One look covers so much of the main stack, which may have no mapping.
constexpr uint64_t kNear = 64 * 1024;

}  // namespace

void StackOwners::onFork(const perfdata::Task& record) {
  const auto ended = lastEnd_.find(record.pid);
  lives_[key(record.pid, record.tid)] = {.from = ended == lastEnd_.end() ? 0 : ended->second};
  ++changes_;
}

void StackOwners::onExit(const perfdata::Task& record) {
  lastEnd_[record.pid] = record.time;
  const auto it = lives_.find(key(record.pid, record.tid));
  if (it == lives_.end()) return;
  for (const uint32_t index : it->second.stacks) stacks_[index].until = record.time;
  lives_.erase(it);
  ++changes_;
}

void StackOwners::look(const AddressSpace& space, uint32_t thread, const Registers& registers) {
  const uint64_t sp = registers.value[kRegSp];
  const Mapping* mapping = space.mappings->find(sp);
  if (mapping == nullptr && !isMainStack(space, sp, registers)) return;
  const uint64_t start = mapping == nullptr ? sp / kNear * kNear : mapping->start;
  const uint64_t size = mapping == nullptr ? kNear : mapping->end - mapping->start;
  slots_[thread] = {space.id, space.generation, changes_, start, size};
  if (names_.isGo(space)) return;
  // Where the main stack begins is told by its lines, not by stack pointers.
  const uint32_t region = names_.regionOf(space, mapping, mapping == nullptr ? ~uint64_t{0} : sp);
  if (names_.isMainStack(region) && threads_[thread].tid == threads_[thread].pid) return;
  add(space, thread, region, size % kStackUnit == 0);
}

void StackOwners::add(const AddressSpace& space, uint32_t thread, uint32_t region, bool single) {
  Life& life = lives_[key(threads_[thread].pid, threads_[thread].tid)];
  if (!life.regions.try_emplace(region).second) return;
  Stack stack{.thread = thread, .space = space.id, .from = life.from, .single = single};
  if (!life.stacks.empty() && stacks_[life.stacks.back()].space == space.id)
    stack.wanders = stacks_[life.stacks.back()].wanders = true;
  const auto index = static_cast<uint32_t>(stacks_.size());
  stacks_.push_back(stack);
  life.stacks.push_back(index);
  byRegion_[region].push_back(index);
}

std::optional<StackOwner> StackOwners::of(uint32_t region, uint32_t pid, const Span& accessed) const {
  const Stack* only = nullptr;
  if (const auto here = byRegion_.find(region); here != byRegion_.end())
    for (const uint32_t index : here->second) {
      const Stack& stack = stacks_[index];
      if (stack.from > accessed.last || stack.until < accessed.first) continue;
      if (only != nullptr) return std::nullopt;
      only = &stack;
    }
  if (region != kNone && names_.isMainStack(region)) {
    if (only != nullptr) return std::nullopt;
    return named(threads_.index(pid, pid));
  }
  if (only == nullptr || !only->single || only->wanders || lost_ || accessed.first < only->from ||
      accessed.last > only->until)
    return std::nullopt;
  return named(only->thread);
}

StackOwner StackOwners::named(uint32_t thread) const {
  const Thread& known = threads_[thread];
  return {known.pid, known.tid, known.comm};
}

}  // namespace cacheline::analysis
