// A state for each thread, which records move.
#include "analysis/intervals.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

bool differ(uint32_t one, uint32_t other) {
  return one != kNoCpu && other != kNoCpu && one != other;
}

}  // namespace

ThreadFollower::State* ThreadFollower::stateOf(uint32_t pid, uint32_t tid, uint32_t& thread) {
  constexpr uint32_t kNobody = ~uint32_t{0};  // of a task that is gone
  if (tid == 0 || tid == kNobody || pid == kNobody) return nullptr;
  thread = threads_.index(pid, tid);
  if (thread >= states_.size()) states_.resize(thread + size_t{1});
  return &states_[thread];
}

uint64_t ThreadFollower::advance(uint64_t time) {
  if (end == 0) begin = time;
  return end = std::max(end, time);
}

void ThreadFollower::close(uint32_t thread, State& state, uint64_t time, Activity as) {
  if (time <= state.since) return;
  visitor_.onInterval({thread, as, as == Activity::running ? state.cpu : kNoCpu, state.since, time});
  state.since = time;
}

void ThreadFollower::become(State& state, uint64_t time, Activity activity, uint32_t cpu) {
  state.known = true;
  state.ended = false;
  state.activity = activity;
  state.cpu = cpu;
  state.since = std::max(state.since, time);
  if (cpu != kNoCpu) state.lastCpu = cpu;
}

void ThreadFollower::runs(uint32_t thread, State& state, uint64_t time, uint32_t cpu) {
  if (!state.known) {
    become(state, begin, Activity::running, cpu);
    return;
  }
  if (state.activity == Activity::running && !differ(state.cpu, cpu)) {
    if (state.cpu == kNoCpu) become(state, state.since, Activity::running, cpu);
    return;
  }
  close(thread, state, time, Activity::unknown);
  become(state, time, Activity::running, cpu);
}

void ThreadFollower::onSample(const perfdata::Sample& sample) {
  if (!perfdata::isTime(sample.time)) return;
  const uint64_t time = advance(sample.time);
  uint32_t thread = 0;
  State* const state = stateOf(sample.pid, sample.tid, thread);
  // The kernel samples threads while they end, too.
  if (state != nullptr && !state->ended) runs(thread, *state, time, cpuOf(sample.cpu));
}

void ThreadFollower::onSwitch(const perfdata::Switch& record) {
  if (!perfdata::isTime(record.time)) return;
  const uint64_t time = advance(record.time);
  uint32_t thread = 0;
  State* const state = stateOf(record.pid, record.tid, thread);
  if (state == nullptr) return;
  const uint32_t cpu = cpuOf(record.cpu);
  ++switches;
  if (record.out) {
    if (state->ended) return;  // the last time: it has ended before
    runs(thread, *state, time, cpu);
    close(thread, *state, time, Activity::running);
    visitor_.onLeft(thread, cpu, record.preempted, time);
    become(*state, time, record.preempted ? Activity::runnable : Activity::blocked, kNoCpu);
    return;
  }
  if (!state->known) state->since = begin;
  if (!state->ended)
    close(thread, *state, time, state->activity == Activity::running ? Activity::unknown : state->activity);
  if (differ(state->lastCpu, cpu)) visitor_.onMigrated(thread, time);
  become(*state, time, Activity::running, cpu);
}

void ThreadFollower::onFork(const perfdata::Task& record) {
  if (!perfdata::isTime(record.time)) return;  // it was there before the recording
  const uint64_t time = advance(record.time);
  uint32_t thread = 0;
  State* const state = stateOf(record.pid, record.tid, thread);
  if (state == nullptr) return;
  // One of the same number was there before, and its end is missing.
  if (state->known && !state->ended) close(thread, *state, time, Activity::unknown);
  become(*state, time, Activity::runnable, kNoCpu);
  state->lastCpu = kNoCpu;
}

void ThreadFollower::onExit(const perfdata::Task& record) {
  if (!perfdata::isTime(record.time)) return;
  const uint64_t time = advance(record.time);
  uint32_t thread = 0;
  State* const state = stateOf(record.pid, record.tid, thread);
  if (state == nullptr || state->ended) return;
  // A thread ends while it runs.
  runs(thread, *state, time, state->cpu);
  close(thread, *state, time, Activity::running);
  state->ended = true;
}

void ThreadFollower::onComm(const perfdata::Comm& record) {
  if (!record.exec || !perfdata::isTime(record.time)) return;
  const uint64_t time = advance(record.time);
  uint32_t thread = 0;
  State* const state = stateOf(record.pid, record.tid, thread);
  if (state == nullptr) return;
  if (state->known && !state->ended)
    runs(thread, *state, time, kNoCpu);
  else
    become(*state, time, Activity::running, kNoCpu);
}

void ThreadFollower::finish() {
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    State& state = states_[thread];
    if (state.known && !state.ended) close(thread, state, end, state.activity);
  }
}

}  // namespace cacheline::analysis
