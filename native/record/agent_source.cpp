// The agent's records on their way into the file: in order of time, and none that the file has already.
#include "record/agent_source.h"

#include <dlfcn.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <unordered_set>

#include "base/error.h"
#include "base/registers.h"
#include "base/unique_fd.h"
#include "heap/preload.h"
#include "record/agent_memory.h"
#include "record/capability.h"
#include "record/preloading.h"

namespace cacheline::record {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
/// A drain finds rings at most so full.
constexpr uint64_t kSamplesADrain = SAMPLER_RING_BYTES / sizeof(sampler_sample) / 4;
constexpr uint64_t kLongestWaitNs = kSecondNs / 5;
/// Clocks of two CPUs and the stores between them: what a slot that looks idle may yet date back.
constexpr uint64_t kMarginNs = 1'000'000;

constexpr uint32_t kMostByDefault = 250;
constexpr uint32_t kMostSignals = 10'000;  // a signal takes microseconds

uint32_t tickFrequency() {
  return static_cast<uint32_t>(kSecondNs / tickNs());
}

bool isWall(uint32_t frequency) {
  return frequency > tickFrequency();
}

perf_event_attr agentAttr(uint32_t frequency) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = frequency;
  attr.sample_type = SAMPLER_SAMPLE_TYPE;
  attr.sample_regs_intr = kX86SampleRegs;
  attr.inherit = attr.exclude_kernel = attr.exclude_hv = 1;
  attr.mmap = attr.mmap2 = attr.mmap_data = 1;
  attr.comm = attr.comm_exec = attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

uint64_t timeOf(std::span<const uint8_t> record, uint32_t type) {
  const size_t at = type == PERF_RECORD_SAMPLE
                        ? offsetof(sampler_sample, time)
                        : record.size() - sizeof(sampler_trailer) + offsetof(sampler_trailer, time);
  uint64_t time = 0;
  std::memcpy(&time, record.data() + at, sizeof time);
  return time;
}

/// The body of PERF_RECORD_FORK and PERF_RECORD_EXIT.
struct Task {
  uint32_t pid, parent, tid, parentThread;
};
Task taskOf(std::span<const uint8_t> record) {
  Task task{};
  std::memcpy(&task, record.data() + sizeof(perf_event_header), sizeof task);
  return task;
}

std::string counted(uint64_t count, const char* one, const char* many) {
  return count == 1 ? "1 " + std::string(one) : std::to_string(count) + " " + many;
}

class AgentSource final : public Source {
 public:
  explicit AgentSource(const AgentOptions& options)
      : options_(options),
        preload_(agentLibrary(options.library), "the sampling agent", "record with another collector"),
        memory_(options.outputDirectory, kSecondNs / options.frequency, isWall(options.frequency)),
        wakeup_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    const uint64_t wait = std::min(kLongestWaitNs, kSamplesADrain * kSecondNs / options.frequency);
    const timespec each{0, static_cast<long>(wait)};
    const itimerspec times{each, each};
    if (!wakeup_ || ::timerfd_settime(wakeup_.get(), 0, &times, nullptr) != 0)
      throw Error(ErrorKind::impossible, describeErrno("cannot make a timer", errno));
    if (!options.startDisabled) enable();
  }

  std::vector<perfdata::Event> events() const override {
    perfdata::Event event;
    event.attr = agentAttr(options_.frequency);
    event.ids = {SAMPLER_EVENT_ID};
    event.name = "cpu-clock:u";
    return {event};
  }

  std::vector<int> wakeups() const override { return {wakeup_.get()}; }

  std::vector<std::string> environment(std::vector<std::string> environment) const override {
    const std::string preload = preload_.entry(environment);
    std::erase_if(environment, [](const std::string& entry) {
      return entry.starts_with("LD_PRELOAD=") || entry.starts_with("CACHELINE_SAMPLER=");
    });
    environment.push_back(preload);
    environment.push_back("CACHELINE_SAMPLER=" + memory_.path());
    return environment;
  }

  void enable() override { switchTo(true); }
  void disable() override { switchTo(false); }

  bool drain(const Append& append) override;
  std::vector<std::string> warnings() const override;
  std::string whyLost() const override {
    return "the agent's buffers of " + std::to_string(SAMPLER_RING_BYTES >> 10) +
           " KiB a thread were full: ask for a lower rate";
  }

 private:
  struct Record {
    uint64_t time;
    std::vector<uint8_t> bytes;
  };

  void switchTo(bool on) {
    enabled_ = on;
    memory_.enable(on);
  }
  void addLost(uint64_t count, uint64_t time);
  bool isNews(std::span<const uint8_t> record);

  AgentOptions options_;
  heap::Preload preload_;
  AgentMemory memory_;
  UniqueFd wakeup_;
  bool enabled_ = false;
  std::vector<Record> waiting_;
  std::unordered_set<uint32_t> processes_;  // that the file knows
  std::vector<uint8_t> round_;
};

bool AgentSource::drain(const Append& append) {
  uint64_t ticks = 0;
  // Nothing to read is no failure: the recorder comes for other reasons, too.
  if (::read(wakeup_.get(), &ticks, sizeof ticks) < 0 && errno != EAGAIN && errno != EINTR)
    throw Error(ErrorKind::internal, describeErrno("cannot read a timer", errno));
  const AgentMemory::Drained drained = memory_.drain([this](std::span<const uint8_t> record) {
    perf_event_header header{};
    std::memcpy(&header, record.data(), sizeof header);
    waiting_.push_back({timeOf(record, header.type), {record.begin(), record.end()}});
  });
  if (drained.lost > 0) addLost(drained.lost, drained.complete);
  // Switched off, there is nothing yet to come that could be earlier.
  const uint64_t until = enabled_ ? drained.complete - kMarginNs : ~uint64_t{0};
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Record& a, const Record& b) { return a.time < b.time; });
  const auto end = std::partition_point(waiting_.begin(), waiting_.end(),
                                        [&](const Record& record) { return record.time < until; });
  round_.clear();
  for (auto record = waiting_.begin(); record != end; ++record)
    if (isNews(record->bytes)) round_.insert(round_.end(), record->bytes.begin(), record->bytes.end());
  waiting_.erase(waiting_.begin(), end);
  if (!round_.empty()) append(round_);
  return !round_.empty();
}

void AgentSource::addLost(uint64_t count, uint64_t time) {
  struct {
    perf_event_header header{PERF_RECORD_LOST_SAMPLES, 0, 0};
    uint64_t lost = 0;
    sampler_trailer trailer{};
  } record;
  record.header.size = sizeof record;
  record.lost = count;
  record.trailer.time = time;
  record.trailer.identifier = SAMPLER_EVENT_ID;
  Record waiting{time, std::vector<uint8_t>(sizeof record)};
  std::memcpy(waiting.bytes.data(), &record, sizeof record);
  waiting_.push_back(std::move(waiting));
}

/// An image says at its start who its parent is, since nobody sees a vfork: that is a fork only where the
/// process was not known before it executed the image.
bool AgentSource::isNews(std::span<const uint8_t> record) {
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof header);
  if (header.type != PERF_RECORD_FORK && header.type != PERF_RECORD_EXIT) return true;
  const Task task = taskOf(record);
  if (header.type == PERF_RECORD_EXIT) {
    if (task.pid == task.tid) processes_.erase(task.pid);
    return true;
  }
  if (task.pid == task.parent) return true;
  return processes_.insert(task.pid).second && processes_.contains(task.parent);
}

std::vector<std::string> AgentSource::warnings() const {
  const AgentCounts counts = memory_.counts();
  std::vector<std::string> list;
  if (isWall(options_.frequency))
    list.push_back("sampled by the wall clock at " + std::to_string(options_.frequency) +
                   " Hz, since the kernel checks CPU-time timers only in its own tick, " +
                   std::to_string(tickFrequency()) +
                   " times a second; a thread that waits for a CPU counts as running");
  if (counts.cut) {
    list.emplace_back("the program cut the agent's memory short: there are no samples after that");
    return list;
  }
  if (counts.images == 0)
    list.emplace_back(
        "the sampling agent did not get into the program (one that it starts may be statically linked, or "
        "lose LD_PRELOAD)");
  if (counts.unsampled > 0)
    list.push_back(counted(counts.unsampled, "thread was", "threads were") + " not sampled: " +
                   (counts.full              ? "the disk is full"
                    : counts.timerError != 0 ? "a timer was refused with " + errnoText(counts.timerError)
                                             : "more than " + std::to_string(SAMPLER_SLOTS) +
                                                   " at a time, or no memory for them"));
  if (counts.smallStacks > 0)
    list.push_back(counted(counts.smallStacks, "thread was", "threads were") +
                   " not sampled: a stack of less than 64 KiB has no room for the agent's signal, and a "
                   "program with handlers on alternate signal stacks gets none from the agent");
  if (counts.smallAlternates > 0)
    list.push_back(counted(counts.smallAlternates, "thread was", "threads were") +
                   " not sampled for some time: the program's alternate signal stack (sigaltstack) has no "
                   "room for the agent's signal");
  if (counts.leftHandlers > 0)
    list.push_back(counted(counts.leftHandlers, "thread was", "threads were") +
                   " not sampled for some time: a signal handler on an alternate stack left by longjmp, with "
                   "the agent's signal blocked");
  if (counts.sealed > 0)
    list.push_back(counted(counts.sealed, "process", "processes") +
                   " restricted the system calls that may be made (seccomp): not sampled after that");
  if (counts.go > 0)
    list.push_back(
        counted(counts.go, "process was", "processes were") +
        " not sampled: a Go program, or one that has loaded a library of Go's; goroutines' stacks have "
        "no room for the agent's signal");
  if (counts.lostMappings > 0)
    list.push_back(counted(counts.lostMappings, "mapping is", "mappings are") +
                   " unknown: /proc is not readable for the program, or there are too many");
  if (counts.damaged > 0)
    list.push_back(counted(counts.damaged, "thread's samples end", "threads' samples end") +
                   " early: the program wrote into the agent's memory");
  return list;
}

/// A timer of a thread's CPU time, as the agent makes them; 0, or errno.
int tryTimer() {
  sigevent event{};
  event.sigev_notify = SIGEV_NONE;
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return errno;
  ::timer_delete(timer);
  return 0;
}

}  // namespace

uint32_t agentFrequency() {
  return std::min(kMostByDefault, tickFrequency());
}

std::optional<Blocker> whyNoAgent(const Target& target, const std::string& library, const Program* program) {
#if !defined(__x86_64__)
  return Blocker{"architecture", "not x86-64", "Record on an x86-64 machine"};
#endif
  if (target.kind != Target::Kind::command)
    return Blocker{"attaching", "the agent is loaded when a program starts",
                   "Start the program with `cacheline record --collector agent -- PROGRAM`"};
  const std::string path = agentLibrary(library);
  if (::access(path.c_str(), R_OK) != 0)
    return Blocker{"sampling agent", describeErrno("cannot find " + path, errno),
                   "Install Cacheline Lens again"};
  if (const int errnum = tryTimer(); errnum != 0)
    return Blocker{"timer_create", errnoText(errnum),
                   errnum == EAGAIN ? "Raise the limit of pending signals: ulimit -i 4096"
                                    : "Allow timer_create in the sandbox's seccomp filter"};
  return program == nullptr ? std::nullopt : whyNotSampledByAgent(*program);
}

std::optional<Blocker> whyNoAgent(const RecordOptions& options, const Program* program) {
  if (!options.target.cpus.empty())
    return Blocker{"CPUs", "the agent samples threads wherever they run", "Record without -C"};
  if (options.kernelOnly)
    return Blocker{"kernel only", "the agent samples the program's own code only", "Record without -k"};
  if (options.period != 0) return Blocker{"period", "the agent samples by time", "Ask for a rate with -F"};
  return whyNoAgent(options.target, options.agentLibrary, program);
}

uint32_t agentFrequency(const RecordOptions& options, std::vector<std::string>& warnings) {
  if (!options.frequencyGiven) return agentFrequency();
  if (options.frequency > kMostSignals)
    warnings.push_back("asked for " + std::to_string(options.frequency) + " samples a second, recorded " +
                       std::to_string(kMostSignals) + ": more could leave the program no time to run");
  return std::min(options.frequency, kMostSignals);
}

std::string agentLibrary(const std::string& given) {
  if (!given.empty()) return given;
  Dl_info self{};
  const std::string module = ::dladdr(reinterpret_cast<void*>(&tryTimer), &self) != 0 ? self.dli_fname : "";
  return module.substr(0, module.rfind('/') + 1) + "libcacheline_sampler.so";
}

std::string agentTimerText(uint32_t frequency) {
  return std::string(isWall(frequency) ? "a wall-clock timer" : "a CPU-time timer") + " at " +
         std::to_string(frequency) + " Hz in each thread";
}

std::unique_ptr<Source> openAgent(const AgentOptions& options) {
  return std::make_unique<AgentSource>(options);
}

}  // namespace cacheline::record
