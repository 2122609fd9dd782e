// Opening, moving and draining of breakpoint events.
#include "record/watch_events.h"

#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "record/capability.h"
#include "record/clock_plan.h"
#include "record/machine.h"
#include "record/procfs.h"
#include "record/record_fields.h"
#include "record/watch_threads.h"

namespace cacheline::record {
namespace {

constexpr size_t kRingBytes = size_t{128} << 10, kLeastRingBytes = size_t{8} << 10;
constexpr int kListings = 4;  // of a process's threads, until none is new
constexpr std::chrono::seconds kSettling{1};
constexpr int kMeasured = 48, kWarmUp = 8;

perf_event_attr baseAttr(uint32_t type, uint64_t config) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = type;
  attr.config = config;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;
  attr.disabled = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.use_clockid = 1;  // events that share a ring must share the clock, too
  attr.clockid = CLOCK_MONOTONIC;
  attr.sample_id_all = 1;
  return attr;
}

perf_event_attr watchAttr(bool countsLost, bool interruptRegisters, bool threadsOnly) {
  perf_event_attr attr = baseAttr(PERF_TYPE_BREAKPOINT, 0);
  attr.read_format = countsLost ? PERF_FORMAT_LOST : 0;
  addRegisters(attr, interruptRegisters);
  attr.sample_period = 1;
  attr.wakeup_events = 16;
  attr.inherit = 1;
  // A child process has memory of its own at these addresses; before Linux 5.13 it is watched all the same.
  attr.inherit_thread = threadsOnly ? 1 : 0;
  // x86 has no watchpoint for reads alone.
  attr.bp_type = HW_BREAKPOINT_RW;
  return attr;
}

void place(perf_event_attr& attr, const WatchWord& word) {
  attr.bp_addr = word.address;
  attr.bp_len = word.length;
}

/// False: the limit was as high as it gets.
bool raiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

WatchEvents::WatchEvents(const Kernel& kernel) : kernel_(kernel), cpus_(onlineCpus()) {
  measure();
  if (const int errnum = openRings(); errnum != 0)
    throw RefusedError(
        "no memory for the hits of watchpoints: " + errnoText(errnum),
        {"kernel.perf_event_mlock_kb", errnoText(errnum),
         "End other recordings of this user, or: sudo sysctl kernel.perf_event_mlock_kb=2048"});
}

void WatchEvents::measure() {
  volatile uint64_t word = 0;
  int errnum = 0;
  for (const unsigned without : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {  // the newest kernel's abilities first
    attr_ = watchAttr((without & 4) == 0, (without & 1) == 0, (without & 2) == 0);
    perf_event_attr attr = attr_;
    place(attr, {0, reinterpret_cast<uint64_t>(&word), sizeof word, {}});
    attr.disabled = 0;
    const UniqueFd fd(kernel_.perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (!fd) {
      errnum = errno;
      continue;
    }
    for (int i = 0; i < kWarmUp; ++i) word = 1;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kMeasured; ++i) word = 1;
    hitCost_ = (std::chrono::steady_clock::now() - start) / kMeasured;
    return;
  }
  if (errnum == ENOSPC)
    throw RefusedError("all debug registers of this process are in use",
                       {"debug registers", "none is free", "End the debugger or the other recording"});
  throw refusalError(errnum, readPermissions());
}

int WatchEvents::openRings() {
  perf_event_attr attr = baseAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  std::vector<uint32_t> usable;
  for (const uint32_t cpu : cpus_) {
    UniqueFd fd(kernel_.perfEventOpen(attr, 0, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC));
    if (!fd) continue;  // went offline
    ringFds_.push_back(std::move(fd));
    usable.push_back(cpu);
  }
  cpus_ = usable;
  int errnum = ringFds_.empty() ? ENODEV : 0;
  for (size_t bytes = kRingBytes; bytes >= kLeastRingBytes && !ringFds_.empty(); bytes /= 2) {
    rings_.clear();
    for (const UniqueFd& fd : ringFds_) {
      RingBuffer ring = RingBuffer::map(fd.get(), bytes);
      if (!ring) {
        errnum = errno;
        break;
      }
      rings_.push_back(std::move(ring));
    }
    if (rings_.size() == ringFds_.size()) return 0;
  }
  return errnum;
}

std::vector<uint64_t> WatchEvents::ids() const {
  std::vector<uint64_t> list;
  for (const auto& [pid, process] : processes_)
    for (const Thread& thread : process.threads)
      for (const Slot& slot : thread.slots) list.insert(list.end(), slot.ids.begin(), slot.ids.end());
  return list;
}

std::vector<int> WatchEvents::wakeups() const {
  std::vector<int> list;
  for (const UniqueFd& fd : ringFds_) list.push_back(fd.get());
  return list;
}

int WatchEvents::open(Thread& thread, size_t slot, const WatchWord& word) {
  perf_event_attr attr = attr_;
  place(attr, word);
  Slot opened;
  for (size_t i = 0; i < cpus_.size(); ++i) {
    const auto openOne = [&] {
      return UniqueFd(
          kernel_.perfEventOpen(attr, thread.tid, static_cast<int>(cpus_[i]), -1, PERF_FLAG_FD_CLOEXEC));
    };
    UniqueFd fd = openOne();
    if (!fd && errno == EMFILE && raiseFileLimit()) fd = openOne();
    if (!fd && errno == ENODEV) continue;  // went offline
    uint64_t id = 0;
    if (!fd || ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0 ||
        ::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, ringFds_[i].get()) != 0)
      return errno;
    opened.fds.push_back(std::move(fd));
    opened.ids.push_back(id);
    opened.lost.push_back(0);
  }
  for (const UniqueFd& fd : opened.fds) ::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
  if (thread.slots.size() <= slot) thread.slots.resize(slot + 1);
  thread.slots[slot] = std::move(opened);
  return 0;
}

int WatchEvents::watch(Thread& thread, size_t slot, const WatchWord& word) {
  if (slot >= thread.slots.size() || thread.slots[slot].fds.empty()) return open(thread, slot, word);
  perf_event_attr attr = attr_;
  place(attr, word);
  for (const UniqueFd& fd : thread.slots[slot].fds)
    if (::ioctl(fd.get(), PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) != 0 ||
        ::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
      return errno;
  return 0;
}

/// What starts while the events are being opened has inherited them, or not: it is opened, too, and
/// dropDoubled() sees which it was. A thread inherits early in clone(2) and is listed late in it
/// (one_voice.h), and its creator may be kept from running in between: so for a second new threads are taken
/// for such ones. No FORK record tells of them here: it is not written between windows.
void WatchEvents::findThreads(pid_t pid, Process& process) {
  std::vector<Thread>& threads = process.threads;
  const bool first = threads.empty();
  const auto now = std::chrono::steady_clock::now();
  if (first)
    process.settled = now + kSettling;
  else if (now > process.settled)
    return;
  for (int listing = 0; listing < kListings; ++listing) {
    const bool late = !first || listing > 0;
    std::vector<pid_t> known;
    for (const Thread& thread : threads) known.push_back(thread.tid);
    std::sort(known.begin(), known.end());
    const std::vector<pid_t> added = newThreads(threadsOf(pid), known);
    if (added.empty()) return;
    for (const pid_t tid : added) {
      threads.push_back({tid, late, false, {}});
      for (size_t slot = 0; late && slot < process.words.size(); ++slot) {
        const int errnum = watch(threads.back(), slot, process.words[slot]);
        if (errnum == ENOSPC && slot == 0) threads.back().inherited = true;  // it has them all in use
        if (errnum != 0) break;
      }
    }
    if (late) continue;
    for (size_t slot = 0; slot < process.words.size(); ++slot)
      for (Thread& thread : threads) watch(thread, slot, process.words[slot]);
  }
}

int WatchEvents::cover(pid_t pid, const std::vector<WatchWord>& words, Armed& armed) {
  Process& process = processes_[pid];
  process.words = words;
  // Short-lived threads would else hold descriptors to the end. No window is open: all their hits are there.
  const std::vector<pid_t> living = threadsOf(pid);
  std::erase_if(process.threads, [&living](const Thread& thread) {
    return thread.late && !std::ranges::binary_search(living, thread.tid);
  });
  findThreads(pid, process);
  if (process.threads.empty()) return ESRCH;
  for (size_t slot = 0; slot < words.size(); ++slot) {
    int refusal = ESRCH;  // unless one thread lives
    for (Thread& thread : process.threads) {
      if (thread.inherited) continue;
      const int errnum = watch(thread, slot, words[slot]);
      if (thread.late || errnum == ESRCH) continue;
      if (refusal == ESRCH || errnum != 0) refusal = errnum;
      if (errnum != 0) break;
    }
    if (refusal != 0) {
      // Watched on some threads only it would prove nothing.
      for (Thread& thread : process.threads)
        if (slot < thread.slots.size()) thread.slots.resize(slot);
      process.words.resize(slot);
      return refusal;
    }
    armed.words.push_back(words[slot]);
  }
  return 0;
}

void WatchEvents::follow() {
  for (auto& [pid, process] : processes_) findThreads(pid, process);
}

WatchEvents::Armed WatchEvents::arm(const std::vector<WatchWord>& words) {
  std::map<pid_t, std::vector<WatchWord>> byProcess;
  for (const WatchWord& word : words) byProcess[word.pid].push_back(word);
  std::erase_if(processes_, [](const auto& entry) { return !isAlive(entry.first); });
  Armed armed;
  for (const auto& [pid, list] : byProcess) {
    const int errnum = cover(pid, list, armed);
    if (errnum != 0) armed.refused[pid] = errnum;
    if (errnum == ESRCH) processes_.erase(pid);
  }
  return armed;
}

void WatchEvents::disarm() {
  for (auto& [pid, process] : processes_)
    for (Thread& thread : process.threads)
      for (Slot& slot : thread.slots) {
        for (const UniqueFd& fd : slot.fds) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
        countLost(slot);
      }
}

void WatchEvents::countLost(Slot& slot) {
  for (size_t i = 0; i < slot.fds.size() && attr_.read_format != 0; ++i) {
    const uint64_t lost = lostBy(slot.fds[i].get()).value_or(slot.lost[i]);
    lostByEvents_ += lost - slot.lost[i];
    slot.lost[i] = lost;
  }
}

WatchEvents::Drained WatchEvents::drain() {
  Drained drained;
  for (RingBuffer& ring : rings_)
    ring.drain([&](std::span<const uint8_t> records) { take(records, drained); });
  // Both count the same ones, and each may be behind.
  drained.lost = std::max(lostByRecords_, lostByEvents_) - lostTold_;
  lostTold_ += drained.lost;
  dropDoubled(drained);
  std::stable_sort(drained.hits.begin(), drained.hits.end(),
                   [](const WatchHit& a, const WatchHit& b) { return a.time < b.time; });
  return drained;
}

void WatchEvents::take(std::span<const uint8_t> records, Drained& drained) {
  // Places as in sample_type's order, behind the header: IDENTIFIER, IP, TID, TIME, ADDR
  // (perf_event_open(2)).
  constexpr size_t kId = 8, kIp = 16, kPid = 24, kTid = 28, kTime = 32, kAddress = 40;
  constexpr size_t kLostCount = 16, kLostSamples = 8;
  while (!records.empty()) {
    const auto header = fieldAt<perf_event_header>(records, 0);
    if (header.size < sizeof header || header.size > records.size())
      throw Error(ErrorKind::internal, "a ring of watchpoints holds a record of " +
                                           std::to_string(header.size) + " bytes where " +
                                           std::to_string(records.size()) + " are left");
    const std::span<const uint8_t> record = records.first(header.size);
    if (header.type == PERF_RECORD_SAMPLE)
      drained.hits.push_back({fieldAt<uint64_t>(record, kIp), fieldAt<uint64_t>(record, kTime),
                              fieldAt<uint64_t>(record, kAddress), fieldAt<uint64_t>(record, kId),
                              fieldAt<uint32_t>(record, kPid), fieldAt<uint32_t>(record, kTid),
                              std::vector<uint8_t>(record.begin(), record.end())});
    else if (header.type == PERF_RECORD_LOST)
      lostByRecords_ += fieldAt<uint64_t>(record, kLostCount);
    else if (header.type == PERF_RECORD_LOST_SAMPLES)
      lostByRecords_ += fieldAt<uint64_t>(record, kLostSamples);
    else if (header.type == PERF_RECORD_THROTTLE)
      drained.throttled++;
    records = records.subspan(header.size);
  }
}

/// A thread that inherited its events and was opened as well traps twice: the hits of its own events go, and
/// the events, too.
void WatchEvents::dropDoubled(Drained& drained) {
  std::map<uint64_t, const Thread*> late;
  for (const auto& [pid, process] : processes_)
    for (const Thread& thread : process.threads)
      if (thread.late)
        for (const Slot& slot : thread.slots)
          for (const uint64_t id : slot.ids) late[id] = &thread;
  // Those of closed events were already on their way.
  std::erase_if(drained.hits, [this](const WatchHit& hit) { return doubled_.contains(hit.id); });
  if (late.empty()) return;
  std::set<uint32_t> inherited;
  for (const WatchHit& hit : drained.hits)
    if (!late.contains(hit.id)) inherited.insert(hit.tid);
  std::erase_if(drained.hits, [&](const WatchHit& hit) {
    const auto own = late.find(hit.id);
    return own != late.end() && static_cast<uint32_t>(own->second->tid) == hit.tid &&
           inherited.contains(hit.tid);
  });
  for (auto& [pid, process] : processes_)
    for (Thread& thread : process.threads) {
      if (!thread.late || !inherited.contains(static_cast<uint32_t>(thread.tid))) continue;
      for (const Slot& slot : thread.slots) doubled_.insert(slot.ids.begin(), slot.ids.end());
      thread.slots.clear();
      thread.inherited = true;
    }
}

}  // namespace cacheline::record
