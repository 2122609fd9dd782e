// The measured loops, and the threads that run them.
#include "calibration/slice.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "calibration/cpu_set.h"

namespace cacheline::calibration {
namespace {

/// What the two threads tell each other lies so far apart that no prefetcher brings it along.
constexpr size_t kApart = 256;
/// Of a slice's time: what a thread may lack on its CPU.
constexpr double kMostMissing = 0.05;
/// From Knuth's linear congruential generator MMIX: any odd factor keeps the CPU from shortening the chain.
constexpr uint64_t kFactor = 6364136223846793005u, kSummand = 1442695040888963407u;

/// Lives in registers from batch to batch.
struct Chain {
  uint64_t value = 1;
  uint64_t zero = 0;  ///< that the compiler does not know to be 0
  uint64_t count = 0;
  uint64_t seen = 0, changes = 0;
};

/// Hides from the compiler where a value comes from.
inline void hide(uint64_t& value) {
  asm volatile("" : "+r"(value));
}

template <Action kAction, bool kWatches>
void iterate(const Part& part, uint32_t steps, uint64_t iterations, Chain& chain) {
  uint64_t value = chain.value, zero = chain.zero, count = chain.count;
  uint64_t seen = chain.seen, changes = chain.changes;
  hide(zero);
  for (uint64_t i = 0; i < iterations; i++) {
    for (uint32_t step = 0; step < steps; step++) {
      value = value * kFactor + kSummand;
      hide(value);
    }
    // The address waits for the work, and the work to come for what is read.
    std::atomic<uint64_t>* const word = part.own + (value & zero);
    if constexpr (kAction == Action::none) {
      value ^= value & zero;
      hide(value);
    } else if constexpr (kAction == Action::load) {
      value ^= word->load(std::memory_order_relaxed);
    } else if constexpr (kAction == Action::store) {
      word->store(++count, std::memory_order_relaxed);
    } else if constexpr (kAction == Action::update) {
      const uint64_t old = word->load(std::memory_order_relaxed);
      word->store(old + 1, std::memory_order_relaxed);
      value ^= old;
    } else if constexpr (kAction == Action::locked) {
      value ^= word->fetch_add(1, std::memory_order_relaxed);
    } else {
      uint64_t old = word->load(std::memory_order_relaxed);
      while (!word->compare_exchange_weak(old, old + 1, std::memory_order_relaxed)) {
      }
      value ^= old;
    }
    if constexpr (kWatches) {
      const uint64_t now = part.watched->load(std::memory_order_relaxed);
      changes += now != seen ? 1 : 0;
      seen = now;
    }
  }
  chain = {value, zero, count, seen, changes};
}

template <Action kAction>
void iterate(const Part& part, uint32_t steps, uint64_t iterations, Chain& chain) {
  if (part.watched != nullptr)
    iterate<kAction, true>(part, steps, iterations, chain);
  else
    iterate<kAction, false>(part, steps, iterations, chain);
}

void runBatch(const Part& part, const Slice& slice, Chain& chain) {
  switch (part.action) {
    case Action::none:
      return iterate<Action::none>(part, slice.steps, slice.batch, chain);
    case Action::load:
      return iterate<Action::load>(part, slice.steps, slice.batch, chain);
    case Action::store:
      return iterate<Action::store>(part, slice.steps, slice.batch, chain);
    case Action::update:
      return iterate<Action::update>(part, slice.steps, slice.batch, chain);
    case Action::locked:
      return iterate<Action::locked>(part, slice.steps, slice.batch, chain);
    case Action::exchange:
      return iterate<Action::exchange>(part, slice.steps, slice.batch, chain);
  }
}

uint64_t nowOf(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

/// How often this thread lost its CPU or gave it up.
long switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

/// Of the calling thread; an errno, or 0.
int moveTo(uint32_t cpu) {
  CpuSet set;
  set.add(cpu);
  return set.apply() ? 0 : errno;
}

[[noreturn]] void refuse(uint32_t cpu, int errnum) {
  throw Error(ErrorKind::impossible,
              describeErrno("cannot move a thread to CPU " + std::to_string(cpu), errnum),
              "Run it again: the CPUs that this process may use have changed.");
}

}  // namespace

struct ThreadPair::State {
  /// What one thread writes and the other reads.
  struct alignas(kApart) Side {
    std::atomic<uint64_t> begun{0}, measured{0}, done{0};  ///< numbers of slices
    SliceResult result;
  };

  SliceResult measure(size_t side, uint64_t number) {
    const Part& part = slice.parts[side];
    Side &mine = sides[side], &other = sides[1 - side];
    Chain chain;
    SliceResult result;
    const long switchesBefore = switches();
    mine.begun.store(number, std::memory_order_release);
    do {
      runBatch(part, slice, chain);
    } while (other.begun.load(std::memory_order_acquire) != number);
    const uint64_t changesBefore = chain.changes, cpuBefore = nowOf(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t from = nowOf(CLOCK_MONOTONIC);
    do {
      runBatch(part, slice, chain);
      result.iterations += slice.batch;
      result.ns = nowOf(CLOCK_MONOTONIC) - from;
    } while (result.ns < slice.ns);
    const uint64_t cpuNs = nowOf(CLOCK_THREAD_CPUTIME_ID) - cpuBefore;
    result.changes = chain.changes - changesBefore;
    mine.measured.store(number, std::memory_order_release);
    while (other.measured.load(std::memory_order_acquire) != number) runBatch(part, slice, chain);
    result.descheduled = switches() != switchesBefore ||
                         static_cast<double>(cpuNs) < static_cast<double>(result.ns) * (1 - kMostMissing);
    return result;
  }

  void second(uint32_t cpu) {
    moved.store(moveTo(cpu), std::memory_order_release);
    for (uint64_t number = 1;; number++) {
      while (wanted.load(std::memory_order_acquire) < number) {
      }
      if (end.load(std::memory_order_acquire)) return;
      sides[1].result = measure(1, number);
      sides[1].done.store(number, std::memory_order_release);
    }
  }

  ~State() {
    if (thread.joinable()) {
      end.store(true, std::memory_order_release);
      wanted.fetch_add(1, std::memory_order_release);
      thread.join();
    }
    if (firstMoved) (void)before.apply();
  }

  std::array<Side, 2> sides;
  alignas(kApart) std::atomic<uint64_t> wanted{0};  ///< number of the newest slice
  std::atomic<bool> end{false};
  std::atomic<int> moved{-1};  ///< the second thread's errno; -1: it did not try yet
  Slice slice;
  CpuSet before;            ///< the first thread's CPUs
  bool firstMoved = false;  ///< away from them
  std::thread thread;
};

ThreadPair::ThreadPair(const std::array<uint32_t, 2>& cpus) : state_(std::make_unique<State>()) {
  if (!state_->before.read()) refuse(cpus[0], errno);
  if (const int errnum = moveTo(cpus[0]); errnum != 0) refuse(cpus[0], errnum);
  state_->firstMoved = true;
  try {
    state_->thread = std::thread([state = state_.get(), cpu = cpus[1]] { state->second(cpu); });
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::impossible, std::string("cannot start a second thread: ") + error.what(),
                "Raise the limit of processes (ulimit -u), or end some.");
  }
  int errnum = -1;
  while ((errnum = state_->moved.load(std::memory_order_acquire)) == -1) ::sched_yield();
  if (errnum != 0) refuse(cpus[1], errnum);
}

ThreadPair::~ThreadPair() = default;

std::array<SliceResult, 2> ThreadPair::run(const Slice& slice) {
  state_->slice = slice;
  const uint64_t number = state_->wanted.load(std::memory_order_relaxed) + 1;
  state_->wanted.store(number, std::memory_order_release);
  const SliceResult first = state_->measure(0, number);
  while (state_->sides[1].done.load(std::memory_order_acquire) != number) {
  }
  return {first, state_->sides[1].result};
}

}  // namespace cacheline::calibration
