// The loop around the looks of native/machine.
#include "record/where.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "machine/process_watch.h"
#include "machine/task_files.h"
#include "record/procfs.h"
#include "record/subject.h"
#include "record/watch_threads.h"

namespace cacheline::record {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProgress{200};
constexpr std::chrono::milliseconds kChildren{100};  // between two looks for new processes

void checkProcess(pid_t pid, const machine::Roots& roots) {
  const std::string folder = roots.procfs + "/" + std::to_string(pid), id = std::to_string(pid);
  const std::optional<std::string> status = readText(folder + "/status");
  const auto stat = machine::parseTaskStat(readText(folder + "/stat").value_or(""));
  if (pid <= 0 || !status || !stat)
    throw Error(ErrorKind::usage, "there is no process " + id, "List the processes that run: ps -ef");
  const auto process = parseNumber<pid_t>(fieldOf(*status, "Tgid"));
  if (process && *process != pid)
    throw Error(ErrorKind::usage, id + " is a thread of process " + std::to_string(*process),
                "Look at the process with -p " + std::to_string(*process));
  const std::string what = "process " + id + " (" + stat->name + ")";
  if (stat->ended() && listDirectory(folder + "/task").size() < 2)
    throw Error(ErrorKind::usage, what + " has ended and waits for its parent to notice",
                "Start it again, or look at its parent");
  if (stat->kernelThread)
    throw Error(ErrorKind::usage, what + " is one of the kernel's own: it has no memory of its own",
                "Name a process of a program");
}

class Looking {
 public:
  Looking(const WhereOptions& options, const std::atomic<bool>& stop,
          const std::function<void(double)>& progress)
      : options_(options), stop_(stop), progress_(progress) {}

  WhereResult run() {
    if (!std::isfinite(options_.seconds) || options_.seconds <= 0)
      throw Error(ErrorKind::usage, std::to_string(options_.seconds) + " s is not a time to look for",
                  "Give a number of seconds above 0");
    result_.topology = machine::readTopology(options_.roots.sysfs);
    if (options_.pid != 0)
      lookAtProcess();
    else
      runCommand();
    return std::move(result_);
  }

 private:
  void lookAtProcess() {
    checkProcess(options_.pid, options_.roots);
    began_ = Clock::now();
    machine::ProcessWatch watch(options_.roots, result_.topology, {}, began_);
    watch.follow(options_.pid, false);
    const auto end = began_ + std::chrono::ceil<Clock::duration>(
                                  std::chrono::duration<double>(std::min(options_.seconds, 1e9)));
    while (Clock::now() < end && !watch.ended() && !stop_) {
      watch.tick(Clock::now());
      tell();
      wait(std::min({watch.next(), end, told_ + kProgress}), {});
    }
    watch.lookAtThreads(Clock::now());
    watch.lookAtMemory(Clock::now());
    result_.interrupted = stop_;
    result_.placement = watch.placement();
  }

  void runCommand() {
    RecordOptions options;
    options.command = options_.command;
    Subject subject(options);
    subject.hold(subject.environment());
    began_ = Clock::now();
    machine::ProcessWatch watch(options_.roots, result_.topology, {}, began_);
    watch.follow(subject.target().ids.at(0), true);
    subject.start();
    Clock::time_point nextChildren = began_ + kChildren;
    while (true) {
      watch.tick(Clock::now());
      tell();
      if (Clock::now() >= nextChildren) nextChildren = Clock::now() + followChildren(subject, watch);
      const bool ends = wait(std::min({watch.next(), nextChildren, told_ + kProgress}), subject.wakeups());
      if (ends || stop_) watch.lookAtThreads(Clock::now());  // before it is reaped
      if (subject.ended()) break;
      if (!stop_) continue;
      result_.interrupted = true;
      subject.end();
      break;
    }
    result_.ending = subject.ending();
    result_.placement = watch.placement();
  }

  /// Returns the pause until the next time: looking through all processes takes longer than all else.
  Clock::duration followChildren(const Subject& subject, machine::ProcessWatch& watch) const {
    const auto before = machine::ownCpuTime();
    for (const pid_t pid : subject.processes()) watch.follow(pid, true);
    return std::max<Clock::duration>(kChildren,
                                     machine::ProcessWatch::kPauses * (machine::ownCpuTime() - before));
  }

  /// True where one of `wakeups` woke it.
  static bool wait(Clock::time_point until, const std::vector<int>& wakeups) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    std::vector<pollfd> waiting;
    for (const int fd : wakeups) waiting.push_back({fd, POLLIN, 0});
    return ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(left, 0))) > 0;
  }

  void tell() {
    if (Clock::now() < told_ + kProgress) return;
    told_ = Clock::now();
    if (progress_) progress_(std::chrono::duration<double>(told_ - began_).count());
  }

  const WhereOptions& options_;
  const std::atomic<bool>& stop_;
  const std::function<void(double)>& progress_;
  WhereResult result_;
  Clock::time_point began_, told_;
};

}  // namespace

WhereResult where(const WhereOptions& options, const std::atomic<bool>& stop,
                  const std::function<void(double)>& progress) {
  return Looking(options, stop, progress).run();
}

}  // namespace cacheline::record
