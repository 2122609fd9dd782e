// One recording from the command to the finished folder.
#include "record/recorder.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "record/build_ids.h"
#include "record/child_process.h"
#include "record/heap_recording.h"
#include "record/machine.h"
#include "record/meta_json.h"
#include "record/perf_event.h"
#include "record/pmu.h"
#include "record/procfs.h"
#include "record/program.h"
#include "record/record_stream.h"
#include "record/ring_buffer.h"

namespace cacheline::record {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{200};  // of progress and of looking at `stop`
constexpr std::chrono::seconds kGrace{5};        // between SIGTERM and SIGKILL
constexpr uint64_t kFewSamples = 20;
// The sample_id trailer of clockAttr()'s records: TID, TIME, CPU, IDENTIFIER.
constexpr size_t kTrailerBytes = 32;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

timespec now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

std::string isoTime(const timespec& time) {
  tm utc{};
  ::gmtime_r(&time.tv_sec, &utc);
  std::array<char, 32> date{}, text{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data(), text.size(), "%.19s.%03dZ", date.data(),
                static_cast<int>(time.tv_nsec / 1'000'000));
  return text.data();
}

std::string absolutePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(
      ::realpath(path.empty() ? "." : path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

void checkOptions(const RecordOptions& options) {
  if (options.command.empty())
    throw Error(ErrorKind::usage, "there is no program to record", "Name a program");
  if (options.frequency == 0)
    throw Error(ErrorKind::usage, "a rate of 0 samples a second records nothing", "Ask for 1 Hz or more");
  if (!std::isfinite(options.durationSeconds) || options.durationSeconds < 0)
    throw Error(ErrorKind::usage, "a duration of " + std::to_string(options.durationSeconds) + " s is none",
                "Give a positive number of seconds, or 0 for the program's whole run");
  struct stat info{};
  if (::stat(options.outputDirectory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    throw Error(ErrorKind::usage, "the output folder " + options.outputDirectory + " does not exist",
                "Create it first");
  if (!options.workingDirectory.empty() &&
      (::stat(options.workingDirectory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    throw Error(ErrorKind::usage, "the working folder " + options.workingDirectory + " does not exist",
                "Name an existing folder");
}

std::string whyThisCollector() {
  if (const std::optional<MemoryPmu> memory = findMemoryPmu())
    return "this version does not record with this machine's memory PMU (" + memory->event +
           "), so clock samples with decoded addresses";
  std::vector<std::string> names;
  for (const Pmu& pmu : listPmus()) names.push_back(pmu.name);
  return "no memory PMU on this machine (" + (names.empty() ? "nothing" : "only " + join(names, ", ")) +
         " under " + kPmuFolder + "), so clock samples with decoded addresses";
}

class Recording {
 public:
  Recording(const RecordOptions& options, const std::atomic<bool>& stop,
            const std::function<void(const RecordProgress&)>& progress)
      : options_(options), stop_(stop), progress_(progress), startTime_(now()), buildIds_(startTime_) {}

  RecordResult run() {
    checkOptions(options_);
    const Permissions permissions = readPermissions();
    std::vector<std::string> environment = mergedEnvironment(options_.environment);
    const Program program = findProgram(options_.command[0], options_.workingDirectory, environment);
    features_ = describeMachine();
    result_.warnings = programWarnings(program, features_.arch);
    const uint32_t frequency = allowedFrequency(options_.frequency, permissions, result_.warnings);
    if (options_.heap) {
      heap_.emplace(*options_.heap, options_.outputDirectory, program);
      environment = heap_->environment(std::move(environment));
    }

    child_ = std::make_unique<ChildProcess>(ChildSetup{program.path, options_.command, environment,
                                                       options_.workingDirectory, options_.stdoutFd,
                                                       options_.stderrFd, options_.stdinFromNull});
    events_ = openClockEvents(child_->pid(), onlineCpus(), frequency, options_.callchains, permissions);
    for (const std::string& warning : events_.warnings) result_.warnings.push_back(warning);
    rings_ = mapRings(events_.fds, permissions);
    fillMeta(frequency);
    start(program);
    loop();
    finish(program);
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }

 private:
  std::string dataPath() const { return options_.outputDirectory + "/perf.data"; }

  void fillMeta(uint32_t frequency) {
    result_.collector = "clock";
    result_.collectorReason = whyThisCollector();
    meta_.command = options_.command;
    meta_.workingDirectory = absolutePath(options_.workingDirectory);
    meta_.startedAt = isoTime(startTime_);
    meta_.collector = result_.collector;
    meta_.collectorReason = result_.collectorReason;
    meta_.frequency = frequency;
    meta_.warnings = result_.warnings;
    meta_.hostname = features_.hostname;
    meta_.kernel = features_.osRelease;
    meta_.cpu = features_.cpuDesc;
    meta_.cpus = features_.cpusOnline;
    meta_.lineSize = cacheLineSize();
    if (heap_) meta_.heap = heap_->counts();  // a killed recorder leaves its blocks, too
    features_.cmdline = {"cacheline", "record", "-F", std::to_string(frequency), "--"};
    features_.cmdline.insert(features_.cmdline.end(), options_.command.begin(), options_.command.end());
  }

  /// Creates the files and lets the program go. Where either fails nothing is left behind.
  void start(const Program& program) {
    try {
      writer_ = perfdata::Writer::create(dataPath(), {events_.event});
      if (events_.kernel) writer_->append(kernelMmapRecord(kTrailerBytes));
      writer_->flush();
      writeMeta(options_.outputDirectory, meta_);
      stream_ = std::make_unique<RecordStream>(rings_, *writer_, buildIds_);
      started_ = Clock::now();
      if (const std::optional<StartFailure> failure = child_->start())
        throw startError(program, *failure, options_.workingDirectory);
      if (heap_) heap_->keep();
    } catch (...) {
      writer_.reset();
      ::unlink(dataPath().c_str());
      ::unlink((options_.outputDirectory + "/meta.json").c_str());
      throw;
    }
  }

  /// Drains until the program ends or is to be ended. A failure (disk full) ends the recording, but not the
  /// program.
  void loop() {
    std::vector<pollfd> waiting{{child_->pidfd(), POLLIN, 0}};
    for (const UniqueFd& fd : events_.fds) waiting.push_back({fd.get(), POLLIN, 0});
    Clock::time_point nextTick = started_ + kTick;
    while (!(ending_ = child_->poll())) {
      if (stop_ || durationOver()) return endProgram();
      waitUntil(nextTick, waiting);
      if (!failure_) attempt([this] { stream_->drain(); });
      if (Clock::now() >= nextTick) {
        if (heap_) heap_->tick();
        if (!failure_) attempt([this] { report(); });
        nextTick = Clock::now() + kTick;
      }
      if (failure_) waiting.resize(1);  // nobody empties the rings any more
    }
    stopEvents();
  }

  void waitUntil(Clock::time_point tick, std::vector<pollfd>& waiting) const {
    Clock::time_point until = tick;
    if (options_.durationSeconds > 0)
      until = std::min(until, started_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(
                                             std::min(options_.durationSeconds, 1e9))));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(left, 0))) <= 0) return;
    // The event of a process that has left it for good (it executed a set-user-ID program) stays readable.
    for (pollfd& entry : waiting)
      if ((entry.revents & (POLLHUP | POLLERR)) != 0) entry.fd = -1;
  }

  bool durationOver() const {
    return options_.durationSeconds > 0 && secondsSince(started_) >= options_.durationSeconds;
  }

  /// Runs a step; the first failure ends the recording and is thrown by run() once the program has ended.
  template <typename Step>
  void attempt(const Step& step) {
    try {
      step();
    } catch (...) {
      if (failure_) return;
      failure_ = std::current_exception();
      stopEvents();
    }
  }

  void stopEvents() {
    if (seconds_ > 0) return;  // they are stopped
    events_.disable();
    seconds_ = secondsSince(started_);
    if (!failure_) attempt([this] { stream_->drain(); });
  }

  void endProgram() {
    result_.interrupted = true;
    result_.durationReached = !stop_;
    stopEvents();
    child_->kill(SIGTERM);
    const Clock::time_point deadline = Clock::now() + kGrace;
    pollfd waiting{child_->pidfd(), POLLIN, 0};
    while (!(ending_ = child_->poll())) {
      if (Clock::now() >= deadline) {
        child_->kill(SIGKILL);
        ending_ = child_->wait();
        return;
      }
      ::poll(&waiting, 1, static_cast<int>(kTick.count()));
    }
  }

  void report() const {
    if (!progress_) return;
    const StreamCounts& counts = stream_->counts();
    progress_({secondsSince(started_), counts.samples, counts.lost, writer_->bytesWritten()});
  }

  void finish(const Program& program) {
    const StreamCounts& counts = stream_->counts();
    features_.buildIds = buildIds_.entries();
    if (events_.kernel)
      if (const std::string id = kernelBuildId(); !id.empty())
        features_.buildIds.push_back({-1, id, "[kernel.kallsyms]", true});
    if (counts.samples > 0) features_.sampleTime = {counts.firstSample, counts.lastSample};
    attempt([this] { writer_->finish(features_); });

    result_.exitStatus = ending_->exitStatus;
    result_.signal = ending_->signal;
    result_.samples = counts.samples;
    result_.lost = counts.lost;
    result_.bytes = writer_->bytesWritten();
    result_.seconds = seconds_;
    result_.programCpuSeconds = ending_->cpuSeconds;
    addWarnings(program, counts);
    finishHeap(program);

    meta_.durationSeconds = seconds_;
    meta_.program = ending_;
    meta_.samples = counts.samples;
    meta_.lost = counts.lost;
    meta_.interrupted = result_.interrupted;
    meta_.warnings = result_.warnings;
    meta_.binaries = buildIds_.binaries();
    attempt([this] { writeMeta(options_.outputDirectory, meta_); });
  }

  void finishHeap(const Program& program) {
    if (!heap_) return;
    heap_->tick();
    result_.heap = meta_.heap = heap_->counts();
    for (const std::string& warning : heap_->warnings(program)) result_.warnings.push_back(warning);
  }

  void addWarnings(const Program& program, const StreamCounts& counts) {
    std::vector<std::string>& warnings = result_.warnings;
    if (failure_) warnings.push_back("the recording is cut short: " + failureText());
    if (counts.lost > 0)
      warnings.push_back(std::to_string(counts.lost) + " records were lost beside " +
                         std::to_string(counts.samples) + " samples, because the ring buffers of " +
                         std::to_string(rings_.dataBytes >> 10) +
                         " KiB a CPU were full: ask for a lower rate");
    if (counts.throttled > 0)
      warnings.push_back("the kernel held sampling back " + std::to_string(counts.throttled) +
                         " times to limit its cost: ask for a lower rate");
    if (!ending_->exitStatus && !ending_->signal)
      warnings.push_back(
          "the program's exit status is unknown: this process leaves its children to somebody else");
    for (const std::string& path : buildIds_.replaced())
      warnings.push_back(path + " was replaced while it ran: its build id is not known");
    if (counts.samples >= kFewSamples) return;
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(),
                  "only %llu samples: the program ran %.2f s and used %.2f s of CPU time",
                  static_cast<unsigned long long>(counts.samples), seconds_, ending_->cpuSeconds);
    std::string sentence = text.data();
    if (counts.samples == 0 && changesPrivilege(program.file))
      sentence += "; the kernel does not let us sample a program that is set-user-ID or not readable";
    warnings.push_back(sentence + "; too few to judge by, so let it run longer or ask for a higher rate");
  }

  /// Of the failure that is kept.
  std::string failureText() const {
    try {
      std::rethrow_exception(failure_);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  static bool changesPrivilege(const std::string& file) {
    struct stat info{};
    return ::access(file.c_str(), R_OK) != 0 ||
           (::stat(file.c_str(), &info) == 0 && (info.st_mode & (S_ISUID | S_ISGID)) != 0);
  }

  const RecordOptions& options_;
  const std::atomic<bool>& stop_;
  const std::function<void(const RecordProgress&)>& progress_;
  const timespec startTime_;
  perfdata::Features features_;
  RecordResult result_;
  Meta meta_;
  std::optional<HeapRecording> heap_;
  std::unique_ptr<ChildProcess> child_;
  ClockEvents events_;
  Rings rings_;
  BuildIds buildIds_;
  std::unique_ptr<perfdata::Writer> writer_;
  std::unique_ptr<RecordStream> stream_;
  Clock::time_point started_;
  double seconds_ = 0;  // recorded
  std::optional<Ending> ending_;
  std::exception_ptr failure_;
};

}  // namespace

RecordResult record(const RecordOptions& options, const std::atomic<bool>& stop,
                    const std::function<void(const RecordProgress&)>& progress) {
  return Recording(options, stop, progress).run();
}

}  // namespace cacheline::record
