// The looks, how often they come, and what they add up to.
#include "machine/process_watch.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/kernel_files.h"

namespace cacheline::machine {
namespace {

void addTimes(CpuTimes& sum, const CpuTimes& part) {
  for (const auto& [cpu, ns] : part) sum[cpu] += ns;
}

std::optional<uint32_t> busiestCpu(const CpuTimes& times) {
  const auto most = std::max_element(times.begin(), times.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::nullopt : std::optional<uint32_t>(most->first);
}

/// Two neighbours become one.
template <typename Item, typename Join>
void halve(std::vector<Item>& items, const Join& join) {
  std::vector<Item> merged;
  for (size_t i = 0; i < items.size(); i += 2) {
    merged.push_back(std::move(items[i]));
    if (i + 1 < items.size()) join(merged.back(), items[i + 1]);
  }
  items = std::move(merged);
}

/// Runs `look`; the pause after it.
template <typename Look>
std::chrono::nanoseconds pauseAfter(const Look& look, std::chrono::nanoseconds pause) {
  const std::chrono::nanoseconds before = ownCpuTime();
  look();
  return std::max(pause, ProcessWatch::kPauses * (ownCpuTime() - before));
}

}  // namespace

std::chrono::nanoseconds ownCpuTime() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::map<uint32_t, uint64_t> timesByNode(const CpuTimes& times, const Topology& topology) {
  std::map<uint32_t, uint64_t> byNode;
  for (const auto& [cpu, ns] : times)
    if (const auto node = topology.nodeOf(cpu)) byNode[*node] += ns;
  return byNode;
}

uint64_t sumOf(const CpuTimes& times) {
  uint64_t sum = 0;
  for (const auto& [cpu, ns] : times) sum += ns;
  return sum;
}

ProcessWatch::ProcessWatch(const Roots& roots, const Topology& topology, const Cadence& cadence,
                           Clock::time_point start)
    : roots_(roots),
      topology_(topology),
      cadence_(cadence),
      start_(start),
      last_(start),
      lastThreads_(start),
      nextThreads_(start),
      nextMemory_(start),
      threadPause_(cadence.threads),
      memoryPause_(cadence.memory) {}

std::string ProcessWatch::folderOf(pid_t process) const {
  return roots_.procfs + "/" + std::to_string(process);
}

void ProcessWatch::follow(pid_t pid, bool fromBirth) {
  if (processes_.contains(pid)) return;
  const auto stat = parseTaskStat(readText(folderOf(pid) + "/stat").value_or(""));
  if (!stat) return;
  Process process;
  process.place.pid = pid;
  process.startTicks = stat->startTicks;
  process.firstCpuNs = process.lastCpuNs = fromBirth ? 0 : stat->cpuNs;
  process.fromBirth = fromBirth;
  processes_.emplace(pid, std::move(process));
}

void ProcessWatch::tick(Clock::time_point now) {
  const auto later = [&](std::chrono::nanoseconds& pause, std::chrono::nanoseconds least, const auto& look) {
    const auto wait = pauseAfter(look, pause);
    pause = cadence_.doubling ? 2 * pause : least;
    return now + wait;
  };
  if (now >= nextThreads_) nextThreads_ = later(threadPause_, cadence_.threads, [&] { lookAtThreads(now); });
  if (now >= nextMemory_) nextMemory_ = later(memoryPause_, cadence_.memory, [&] { lookAtMemory(now); });
}

ProcessWatch::Clock::time_point ProcessWatch::next() const {
  return std::min(nextThreads_, nextMemory_);
}

void ProcessWatch::lookAtThreads(Clock::time_point now) {
  last_ = std::max(last_, now);
  bin_ = binAt(now);
  firstBin_ = std::min(indexOf(lastThreads_) + 1, bin_);
  lastThreads_ = now;
  for (auto& [key, thread] : threads_) thread.seen = false;
  for (auto& [pid, process] : processes_)
    if (!process.place.ended) lookAtProcess(pid, process);
  for (auto& [key, thread] : threads_) {
    if (thread.alive && !thread.seen) starts_.erase({std::get<0>(key), std::get<1>(key)});
    thread.alive = thread.alive && thread.seen;
  }
  threadLooks_++;
  if (threads_.size() > kMostThreads) foldEnded();
}

void ProcessWatch::lookAtProcess(pid_t pid, Process& process) {
  const auto stat = parseTaskStat(readText(folderOf(pid) + "/stat").value_or(""));
  std::vector<pid_t> ids;
  for (const std::string& name : listDirectory(folderOf(pid) + "/task"))
    if (const auto id = parseNumber<pid_t>(name)) ids.push_back(*id);
  // The id may be another process's by now. The first thread may end before the others.
  process.place.ended =
      !stat || stat->startTicks != process.startTicks || ids.empty() || (stat->ended() && ids.size() < 2);
  if (!stat || stat->startTicks != process.startTicks) return;
  process.lastCpuNs = std::max(process.lastCpuNs, stat->cpuNs);
  process.place.name = stat->name;
  for (const pid_t id : ids) lookAtThread(pid, process, id);
  process.looked = true;
}

void ProcessWatch::lookAtThread(pid_t pid, Process& process, pid_t tid) {
  const std::string folder = folderOf(pid) + "/task/" + std::to_string(tid);
  std::string schedstat = readText(folder + "/schedstat").value_or("");
  const std::optional<uint64_t> exact = parseSchedstat(schedstat);
  if (const auto known = starts_.find({pid, tid}); known != starts_.end() && exact) {
    Thread& thread = threads_[{pid, tid, known->second}];
    if (thread.schedstat == schedstat) {  // it did not run: nothing else to read
      thread.seen = true;
      return;
    }
  }
  const auto stat = parseTaskStat(readText(folder + "/stat").value_or(""));
  if (!stat) return;
  const auto [entry, isNew] = threads_.try_emplace(ThreadKey{pid, tid, stat->startTicks});
  Thread& thread = entry->second;
  const uint64_t cpuNs = exact.value_or(stat->cpuNs);
  starts_[{pid, tid}] = stat->startTicks;
  // A thread that was not there at the look before ran all its time since then.
  if (isNew && !process.looked && !process.fromBirth) thread.cpuNs = cpuNs;
  if (cpuNs > thread.cpuNs) {
    credit(thread, stat->cpu, cpuNs - thread.cpuNs);
    process.seenNs += cpuNs - thread.cpuNs;
  }
  thread.cpuNs = std::max(thread.cpuNs, cpuNs);
  thread.schedstat = std::move(schedstat);
  thread.name = stat->name;
  thread.alive = thread.seen = true;
}

/// Over the stretches since the look before: it is not known in which of them the thread ran.
void ProcessWatch::credit(Thread& thread, uint32_t cpu, uint64_t ns) {
  thread.ran[cpu] += ns;
  if (thread.bins.size() <= bin_) thread.bins.resize(bin_ + 1);
  const uint64_t count = bin_ - firstBin_ + 1;
  for (size_t bin = firstBin_; bin <= bin_; bin++)
    if (const uint64_t part = ns / count + (bin < bin_ ? 0 : ns % count)) thread.bins[bin][cpu] += part;
}

/// Those that ran least are kept as a sum alone.
void ProcessWatch::foldEnded() {
  std::vector<std::pair<uint64_t, ThreadKey>> ended;
  for (const auto& [key, thread] : threads_)
    if (!thread.alive) ended.emplace_back(sumOf(thread.ran), key);
  std::sort(ended.begin(), ended.end());
  // Half of them: sorting each time would cost more than looking.
  ended.resize(std::min(ended.size(), threads_.size() - kMostThreads / 2));
  for (const auto& [ran, key] : ended) {
    addTimes(unlisted_, threads_[key].ran);
    unlistedThreads_++;
    threads_.erase(key);
  }
}

/// What execve(2) and others may have changed. One that has ended has nothing left.
void ProcessWatch::describe(pid_t pid, ProcessPlace& place) const {
  std::vector<std::string> command = commandOf(folderOf(pid));
  if (!command.empty()) place.command = std::move(command);
  const std::string status = readText(folderOf(pid) + "/status").value_or("");
  if (auto cpus = parseCpuList(fieldOf(status, "Cpus_allowed_list")); !cpus.empty())
    place.allowedCpus = std::move(cpus);
  if (auto nodes = parseCpuList(fieldOf(status, "Mems_allowed_list")); !nodes.empty())
    place.allowedNodes = std::move(nodes);
}

void ProcessWatch::lookAtMemory(Clock::time_point now) {
  last_ = std::max(last_, now);
  bin_ = binAt(now);
  std::optional<NodeMemory> sum;
  std::string reason;
  for (auto& [pid, process] : processes_) {
    if (process.place.ended) continue;
    describe(pid, process.place);
    const MemoryLook look = memoryOf(pid, roots_, topology_);
    if (!look.reason.empty()) reason = look.reason;
    if (!look.memory) continue;
    if (!sum) sum.emplace();
    addTo(*sum, *look.memory);
  }
  memoryLooks_++;
  // A process that ends has no memory any more: what was seen before stands.
  if (sum && bytesOf(*sum) > 0) {
    bins_[bin_].memory = sum;
    if (!memory_ || bytesOf(*sum) >= bytesOf(*memory_)) {
      memory_ = std::move(sum);
      memoryReason_ = reason;
    }
  } else if (!memory_) {
    memoryReason_ = reason;
  }
}

size_t ProcessWatch::indexOf(Clock::time_point time) const {
  return static_cast<size_t>(std::max<int64_t>(0, (time - start_).count()) / binWidth_.count());
}

size_t ProcessWatch::binAt(Clock::time_point now) {
  while (indexOf(now) >= kMostBins) mergeBins();
  const size_t bin = indexOf(now);
  if (bins_.size() <= bin) bins_.resize(bin + 1);
  return bin;
}

void ProcessWatch::mergeBins() {
  binWidth_ *= 2;
  halve(bins_, [](TimeBin& into, TimeBin& from) {
    if (from.memory) into.memory = std::move(from.memory);
  });
  for (auto& [key, thread] : threads_) halve(thread.bins, addTimes);
}

bool ProcessWatch::ended() const {
  return std::all_of(processes_.begin(), processes_.end(),
                     [](const auto& entry) { return entry.second.place.ended; });
}

Placement ProcessWatch::placement() const {
  Placement placement;
  placement.seconds = std::chrono::duration<double>(last_ - start_).count();
  for (const auto& [pid, process] : processes_) {
    placement.processes.push_back(process.place);
    const uint64_t total = process.lastCpuNs - process.firstCpuNs;
    // The process's own time is counted in clock ticks, 10 ms each.
    constexpr uint64_t kTolerance = 20'000'000;
    if (total > process.seenNs + kTolerance) placement.processes.back().missedNs = total - process.seenNs;
  }
  for (const auto& [key, thread] : threads_) {
    ThreadPlace place{std::get<1>(key), std::get<0>(key), thread.name, thread.ran, {}};
    place.cpuOverTime.resize(bins_.size());
    for (size_t i = 0; i < std::min(thread.bins.size(), bins_.size()); i++)
      place.cpuOverTime[i] = busiestCpu(thread.bins[i]);
    placement.threads.push_back(std::move(place));
  }
  std::sort(placement.threads.begin(), placement.threads.end(), [](const auto& a, const auto& b) {
    const uint64_t ranA = sumOf(a.ran), ranB = sumOf(b.ran);
    return ranA != ranB ? ranA > ranB : a.tid < b.tid;
  });
  placement.unlistedThreads = unlistedThreads_;
  placement.unlisted = unlisted_;
  placement.memory = memory_;
  placement.memoryReason = memoryReason_;
  placement.threadLooks = threadLooks_;
  placement.memoryLooks = memoryLooks_;
  placement.binSeconds = std::chrono::duration<double>(binWidth_).count();
  placement.bins = bins_;
  return placement;
}

}  // namespace cacheline::machine
