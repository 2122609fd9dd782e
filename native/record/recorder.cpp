// One recording from the command or the process to the finished folder.
#include "record/recorder.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "base/error.h"
#include "calibration/kept.h"
#include "machine/process_watch.h"
#include "machine/where_json.h"
#include "record/blocked_looks.h"
#include "record/build_ids.h"
#include "record/check_options.h"
#include "record/collector_choice.h"
#include "record/control_fifo.h"
#include "record/describe.h"
#include "record/heap_recording.h"
#include "record/kernel_map.h"
#include "record/machine.h"
#include "record/meta_json.h"
#include "record/record_stream.h"
#include "record/subject.h"
#include "record/synthesize.h"
#include "record/tracer.h"
#include "record/watcher.h"

namespace cacheline::record {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{200};  // of progress and of looking at `stop`
constexpr uint64_t kFewSamples = 20;
/// Of looks at memory and threads: 0.2 s, 0.4 s, 0.8 s ... after the start, as few as that.
constexpr machine::Cadence kFewLooks{kTick, kTick, true};

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

timespec now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

class Recording {
 public:
  Recording(const RecordOptions& options, const std::atomic<bool>& stop,
            const std::function<void(const RecordProgress&)>& progress, const Kernel& kernel)
      : options_(options),
        stop_(stop),
        progress_(progress),
        kernel_(kernel),
        startTime_(now()),
        neverOn_(options.control && options.control->startDisabled),
        buildIds_(startTime_) {}

  RecordResult run() {
    checkOptions(options_);
    const Permissions permissions = readPermissions();
    features_ = describeMachine();
    readCalibration();
    CollectorSelection selection(kernel_, options_, permissions);
    if (options_.control) control_.emplace(*options_.control);
    subject_.emplace(options_);
    addWarnings(subject_->warnings(features_.arch));
    if (subject_->program() != nullptr) holdProgram();
    chosen_ = selection.open(subject_->target(), subject_->program());
    if (chosen_.collector == "agent") subject_->hold(chosen_.source->environment(environment_));
    events_ = chosen_.source->events();
    addWarnings(chosen_.warnings);
    if (options_.watch)
      watcher_.emplace(
          *options_.watch, [this] { return subject_->processes(); }, options_.outputDirectory, kernel_);
    fillMeta();
    if (options_.chosen) options_.chosen(result_);
    start();
    loop();
    finish();
    if (failure_) std::rethrow_exception(failure_);
    return result_;
  }

 private:
  std::string dataPath() const { return options_.outputDirectory + "/perf.data"; }

  /// What contention costs here, where it was measured. A recording without it is as good otherwise.
  void readCalibration() {
    try {
      meta_.calibration = calibration::load(features_.cpuDesc, features_.cpuId);
    } catch (const Error& wrong) {
      addWarnings({std::string("the calibration of this machine is not used: ") + wrong.what() + ". " +
                   wrong.nextStep()});
    }
  }

  /// Before its exec, with the agent that records heap blocks.
  void holdProgram() {
    environment_ = subject_->environment();
    if (options_.heap) {
      heap_.emplace(*options_.heap, options_.outputDirectory, *subject_->program());
      environment_ = heap_->environment(std::move(environment_));
    }
    if (options_.trace) {
      tracer_.emplace(
          *options_.trace, *subject_->traced(), *subject_->program(),
          [this] { return subject_->processes(); }, options_.outputDirectory, kernel_);
      environment_ = tracer_->environment(std::move(environment_));
    }
    subject_->hold(environment_);
  }

  void fillMeta() {
    const Rate rate = rateOf(events_);
    result_.collector = meta_.collector = chosen_.collector;
    result_.collectorReason = meta_.collectorReason = chosen_.reason;
    result_.notTaken = meta_.notTaken = chosen_.notTaken;
    meta_.target = chosen_.target;
    meta_.command = options_.command;
    meta_.workingDirectory = absolutePath(options_.workingDirectory);
    meta_.startedAt = isoTime(startTime_);
    meta_.frequency = rate.frequency;
    meta_.period = rate.period;
    meta_.ldlat = chosen_.ldlat;
    meta_.warnings = result_.warnings;
    for (const std::string& warning : chosen_.source->warnings()) meta_.warnings.push_back(warning);
    meta_.switches = chosen_.source->switches();
    meta_.hostname = features_.hostname;
    meta_.kernel = features_.osRelease;
    meta_.cpu = features_.cpuDesc;
    meta_.cpus = meta_.usableCpus = features_.cpusOnline;
    if (chosen_.target.kind == Target::Kind::command) countUsableCpus({0});
    meta_.lineSize = cacheLineSize();
    topology_ = machine::readTopology(kernel_.sysfs);
    meta_.topology = machine::topologyJson(topology_);
    if (heap_) meta_.heap = heap_->counts();  // a killed recorder leaves its blocks, too
    features_.cmdline = commandLine(options_, rate);
  }

  /// Creates the files and lets the program go. Where either fails nothing is left behind.
  void start() {
    try {
      writeMeta(options_.outputDirectory, meta_);
      writer_ = perfdata::Writer::create(dataPath(), events_);
      if (!chosen_.preamble.empty()) writer_->append(chosen_.preamble);
      if (samplesKernel(events_)) {
        kernelMap_ = kernelMap(sampleIdBytes(events_[0].attr), features_.osRelease);
        writer_->append(kernelMap_.records);
      }
      writer_->flush();
      stream_ = std::make_unique<RecordStream>(*chosen_.source, *writer_, buildIds_);
      started_ = Clock::now();
      if (topology_.nodes.size() > 1 && chosen_.target.kind != Target::Kind::system)
        placement_.emplace(machine::Roots{kernel_.sysfs, "/proc"}, topology_, kFewLooks, started_);
      // Looks are told by the clock of the records.
      if (meta_.switches.recorded && chosen_.target.kind != Target::Kind::system &&
          events_[0].attr.use_clockid != 0)
        blocked_.emplace("/proc");
      if (chosen_.target.kind != Target::Kind::command) startOnWhatRuns();
      subject_->start();
      if (tracer_) tracer_->start();
      if (heap_) heap_->keep();
    } catch (...) {
      writer_.reset();
      ::unlink(dataPath().c_str());
      ::unlink((options_.outputDirectory + "/meta.json").c_str());
      throw;
    }
  }

  /// Sampling begins first: what happens while /proc is read is in both, and nowhere else would it be missed.
  void startOnWhatRuns() {
    if (!options_.control || !options_.control->startDisabled) enable();
    const size_t trailer = sampleIdBytes(events_[0].attr);
    const bool all = chosen_.target.kind == Target::Kind::system;
    for (const pid_t process : all ? allProcesses() : subject_->attachedTo())
      synthesizeProcess(process, trailer,
                        [this](std::span<const uint8_t> record) { stream_->append(record); });
    writer_->flush();
  }

  void enable() {
    neverOn_ = false;
    chosen_.source->enable();
  }

  /// Drains until what is recorded ends or is to be ended. A failure (disk full) ends the recording, but not
  /// the program.
  void loop() {
    Clock::time_point nextTick = started_ + kTick;
    if (blocked_) processes_ = subject_->processes();
    while (!subject_->ended()) {
      if (stop_ || stopAsked_ || durationOver()) return endEarly();
      if (failure_ && subject_->program() == nullptr) return stopEvents();
      const bool woken = waitUntil(nextTick);
      if (blocked_ && !failure_) blocked_->tick(processes_);
      if (!woken && !watcher_ && Clock::now() < nextTick) continue;  // it was for a look alone
      if (control_) obey();
      if (!failure_) attempt([this] { stream_->drain(); });
      if (watcher_ && !failure_) attempt([this] { watcher_->tick(); });
      if (Clock::now() >= nextTick) {
        if (heap_) heap_->tick();
        lookWhereItIs();
        if (chosen_.target.kind != Target::Kind::system) countUsableCpus(subject_->processes());
        if (blocked_) processes_ = subject_->processes();
        result_.programCpuSeconds = subject_->cpuSeconds();  // of what may end before the next tick
        if (!failure_) attempt([this] { report(); });
        if (!failure_) attempt([this] { keepBinaries(); });
        nextTick = Clock::now() + kTick;
      }
    }
    stopEvents();
  }

  /// On how many CPUs one of some processes may run; 0: this one, whose child may do the same.
  void countUsableCpus(const std::vector<pid_t>& processes) {
    cpu_set_t all, own;
    CPU_ZERO(&all);
    for (const pid_t process : processes)
      if (::sched_getaffinity(process, sizeof own, &own) == 0) CPU_OR(&all, &all, &own);
    if (const int count = CPU_COUNT(&all); count > 0) meta_.usableCpus = static_cast<uint32_t>(count);
  }

  /// Where the memory and the threads are, now and then.
  void lookWhereItIs() {
    if (!placement_ || Clock::now() < placement_->next()) return;
    for (const pid_t process : subject_->processes())
      placement_->follow(process, subject_->program() != nullptr);
    placement_->tick(Clock::now());
  }

  /// Writes down what was mapped so far: for looks at the recording while it is made, and after a kill. What
  /// is watched may be in what is new.
  void keepBinaries() {
    if (meta_.binaries.size() == buildIds_.binaries().size()) return;
    meta_.binaries = buildIds_.binaries();
    writeMeta(options_.outputDirectory, meta_);
    if (watcher_) watcher_->askSoon();
  }

  /// False: nobody woke it.
  bool waitUntil(Clock::time_point tick) const {
    Clock::time_point until = tick;
    if (options_.durationSeconds > 0)
      until = std::min(until, started_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(
                                             std::min(options_.durationSeconds, 1e9))));
    if (watcher_ && !failure_) until = std::min(until, watcher_->next());
    if (blocked_ && !failure_) until = std::min(until, blocked_->next());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    std::vector<pollfd> waiting;
    const auto add = [&](int fd) { waiting.push_back({fd, POLLIN, 0}); };
    std::ranges::for_each(subject_->wakeups(), add);
    if (control_) add(control_->wakeup());
    if (watcher_ && !failure_) std::ranges::for_each(watcher_->wakeups(), add);
    if (!failure_) std::ranges::for_each(chosen_.source->wakeups(), add);  // else nobody empties the rings
    return ::poll(waiting.data(), waiting.size(), static_cast<int>(std::max<int64_t>(left, 0))) != 0;
  }

  void obey() {
    for (const ControlChannel::Command command : control_->read(result_.warnings)) {
      if (command == ControlChannel::Command::enable) enable();
      if (command == ControlChannel::Command::disable) chosen_.source->disable();
      if (command == ControlChannel::Command::stop) stopAsked_ = true;
      control_->acknowledge();
    }
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
    chosen_.source->disable();
    seconds_ = secondsSince(started_);
    result_.programCpuSeconds = subject_->cpuSeconds();
    if (!failure_) attempt([this] { stream_->drain(); });
    if (!failure_) attempt([this] { stream_->tellLost(); });
    if (watcher_) attempt([this] { watcher_->finish(); });
    if (tracer_) attempt([this] { tracer_->finish(); });
  }

  /// What was attached to goes on; a program that was started here is asked to end.
  void endEarly() {
    result_.interrupted = true;
    result_.durationReached = !stop_ && !stopAsked_;
    stopEvents();
    subject_->end();
  }

  void report() {
    if (!progress_) return;
    const StreamCounts& counts = stream_->counts();
    progress_({secondsSince(started_), counts.samples, counts.lost, writer_->bytesWritten(),
               watcher_ ? watcher_->news() : std::vector<std::string>()});
  }

  void finish() {
    const StreamCounts& counts = stream_->counts();
    features_.buildIds = buildIds_.entries();
    if (samplesKernel(events_))
      if (const std::string id = kernelBuildId(); !id.empty())
        features_.buildIds.push_back({-1, id, "[kernel.kallsyms]", true});
    features_.buildIds.insert(features_.buildIds.end(), kernelMap_.buildIds.begin(),
                              kernelMap_.buildIds.end());
    if (counts.samples > 0) features_.sampleTime = {counts.firstSample, counts.lastSample};
    attempt([this] { writer_->finish(features_); });

    const std::optional<Ending>& ending = subject_->ending();
    if (ending) {
      result_.exitStatus = ending->exitStatus;
      result_.signal = ending->signal;
      result_.programCpuSeconds = ending->cpuSeconds;
    }
    result_.samplesWereDue = samplesWereDue(meta_.frequency, result_.programCpuSeconds);
    result_.samples = counts.samples;
    result_.lost = counts.lost;
    result_.bytes = writer_->bytesWritten();
    result_.seconds = seconds_;
    addWarnings(chosen_.source->warnings());
    if (watcher_) {
      result_.watch = watcher_->counts();
      addWarnings(watcher_->warnings());
    }
    if (tracer_) {
      result_.trace = tracer_->counts();
      addWarnings(tracer_->warnings());
    }
    judge(counts);
    finishHeap();
    if (blocked_) attempt([this] { blocked_->finish(options_.outputDirectory); });

    meta_.durationSeconds = seconds_;
    meta_.program = ending;
    meta_.samples = counts.samples;
    meta_.lost = counts.lost;
    meta_.interrupted = result_.interrupted;
    meta_.warnings = result_.warnings;
    meta_.binaries = buildIds_.binaries();
    if (placement_) meta_.placement = machine::placementJson(topology_, placement_->placement());
    attempt([this] { writeMeta(options_.outputDirectory, meta_); });
  }

  void finishHeap() {
    if (!heap_) return;
    heap_->tick();
    result_.heap = meta_.heap = heap_->counts();
    addWarnings(heap_->warnings(*subject_->program()));
  }

  void addWarnings(const std::vector<std::string>& warnings) {
    result_.warnings.insert(result_.warnings.end(), warnings.begin(), warnings.end());
  }

  void judge(const StreamCounts& counts) {
    std::vector<std::string>& warnings = result_.warnings;
    if (failure_) warnings.push_back("the recording is cut short: " + failureText());
    if (counts.lost > 0)
      warnings.push_back(std::to_string(counts.lost) + " records were lost, besides " +
                         std::to_string(counts.samples) + " samples, because " + chosen_.source->whyLost());
    if (counts.throttled > 0)
      warnings.push_back("the kernel held sampling back " + std::to_string(counts.throttled) +
                         " times to limit its cost: ask for a lower rate");
    if (subject_->ending() && !result_.exitStatus && !result_.signal)
      warnings.push_back("the program's exit status is unknown: another process collected it");
    for (const std::string& path : buildIds_.replaced())
      warnings.push_back(path + " was replaced while it ran: its build id is not known");
    if (neverOn_)
      warnings.push_back("nothing was sampled: nobody wrote enable to " + options_.control->command);
    else if (counts.samples < kFewSamples && counts.traceBytes == 0)
      warnings.push_back(fewSamplesText(options_, result_));
  }

  /// Of the failure that is kept.
  std::string failureText() const {
    try {
      std::rethrow_exception(failure_);
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  const RecordOptions& options_;
  const std::atomic<bool>& stop_;
  const std::function<void(const RecordProgress&)>& progress_;
  const Kernel& kernel_;
  const timespec startTime_;
  bool neverOn_;  // sampling, which waits for the control FIFO
  perfdata::Features features_;
  KernelMap kernelMap_;
  RecordResult result_;
  Meta meta_;
  std::optional<ControlChannel> control_;
  std::optional<Subject> subject_;
  std::vector<std::string> environment_;  // of the program
  std::optional<HeapRecording> heap_;
  std::optional<Watcher> watcher_;
  std::optional<Tracer> tracer_;
  machine::Topology topology_;
  std::optional<machine::ProcessWatch> placement_;  // empty: one node, or the whole machine is recorded
  std::optional<BlockedLooks> blocked_;             // empty: context switches are not recorded
  std::vector<pid_t> processes_;                    // that it looks at
  Chosen chosen_;
  std::vector<perfdata::Event> events_;
  BuildIds buildIds_;
  std::unique_ptr<perfdata::Writer> writer_;
  std::unique_ptr<RecordStream> stream_;
  Clock::time_point started_;
  double seconds_ = 0;      // recorded
  bool stopAsked_ = false;  // by the control FIFO
  std::exception_ptr failure_;
};

}  // namespace

RecordResult record(const RecordOptions& options, const std::atomic<bool>& stop,
                    const std::function<void(const RecordProgress&)>& progress, const Kernel& kernel) {
  return Recording(options, stop, progress, kernel).run();
}

}  // namespace cacheline::record
