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

void StackOwners::look(const AddressSpace& space, uint32_t thread, const perfdata::Moment& moment,
                       const Registers& registers) {
  const uint64_t sp = registers.value[kRegSp];
  const Mapping* mapping = space.mappings->find(sp);
  if (mapping == nullptr && !isMainStack(space, sp, registers)) return;
  const uint64_t start = mapping == nullptr ? sp / kNear * kNear : mapping->start;
  const uint64_t size = mapping == nullptr ? kNear : mapping->end - mapping->start;
  const ThreadLife& life = timeline_.threadLife(threads_[thread].pid, threads_[thread].tid, moment);
  if (slots_.size() <= thread) slots_.resize(thread + size_t{1});
  slots_[thread] = {space.id, space.generation, &life, start, size};
  if (names_.isGo(space)) return;
  // Where the main stack begins is told by its lines, not by stack pointers.
  const uint32_t region = names_.regionOf(space, mapping, mapping == nullptr ? ~uint64_t{0} : sp);
  if (names_.isMainStack(region) && threads_[thread].tid == threads_[thread].pid) return;
  add(space.id, thread, life, region, size % kStackUnit == 0);
}

void StackOwners::add(const StackOwners& other) {
  for (const Stack& stack : other.stacks_)
    add(stack.space, stack.thread, *stack.life, stack.region, stack.single);
}

void StackOwners::add(uint32_t space, uint32_t thread, const ThreadLife& life, uint32_t region, bool single) {
  Seen& seen = seen_[SeenKey{&life, thread}];
  if (!seen.regions.try_emplace(region).second) return;
  Stack stack{.thread = thread,
              .space = space,
              .from = life.endBefore,
              .until = life.until.time,
              .single = single,
              .region = region,
              .life = &life};
  for (const uint32_t other : seen.stacks)
    if (stacks_[other].space == space) stack.wanders = stacks_[other].wanders = true;
  const auto index = static_cast<uint32_t>(stacks_.size());
  stacks_.push_back(stack);
  seen.stacks.push_back(index);
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
  if (only == nullptr || !only->single || only->wanders || timeline_.lost > 0 ||
      accessed.first < only->from || accessed.last > only->until)
    return std::nullopt;
  return named(only->thread);
}

StackOwner StackOwners::named(uint32_t thread) const {
  const Thread& known = threads_[thread];
  return {known.pid, known.tid, known.comm};
}

}  // namespace cacheline::analysis
