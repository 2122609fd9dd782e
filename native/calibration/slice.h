// Two threads, each on a CPU of its own, that repeat work and an access for a short while at the same time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace cacheline::calibration {

enum class Action : uint8_t { none, load, store, update, locked, exchange };

/// What one thread does in a slice.
struct Part {
  Action action = Action::none;
  std::atomic<uint64_t>* own = nullptr;  ///< the word it accesses
  /// Loaded after each access, too, to count its changes; null: not.
  std::atomic<uint64_t>* watched = nullptr;
};

struct Slice {
  std::array<Part, 2> parts;
  uint32_t steps = 0;  ///< of work between two accesses: a multiplication and an addition each
  uint64_t batch = 1;  ///< iterations between two looks at the clock
  uint64_t ns = 0;     ///< how long it is measured
};

/// Of one thread.
struct SliceResult {
  uint64_t iterations = 0, ns = 0;
  uint64_t changes = 0;      ///< of the watched word
  bool descheduled = false;  ///< the kernel gave its CPU to another thread meanwhile
};

/// The calling thread, moved to the first CPU for as long as this lives, and a second one on the other.
class ThreadPair {
 public:
  /// Throws Error(impossible) where a thread cannot be moved there or started.
  explicit ThreadPair(const std::array<uint32_t, 2>& cpus);
  ~ThreadPair();
  ThreadPair(const ThreadPair&) = delete;
  ThreadPair& operator=(const ThreadPair&) = delete;

  /// Both threads begin before either is measured, and go on until both were.
  std::array<SliceResult, 2> run(const Slice& slice);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cacheline::calibration
