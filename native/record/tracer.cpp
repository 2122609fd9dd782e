// The life of a trace: an object is asked about, watched, freed; then comes the next.
#include "record/tracer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/error.h"
#include "heap/preload.h"
#include "heap/trace_box.h"
#include "record/capability.h"
#include "record/preloading.h"
#include "record/trace_log.h"
#include "record/trace_rotation.h"
#include "record/watch_events.h"
#include "record/watch_log.h"

namespace cacheline::record {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC on Linux
using std::chrono::nanoseconds;

// Blocks of more than one object, of a container's node or with a count in front may hold one.
constexpr uint64_t kLargestBlock = uint64_t{1} << 20;

constexpr nanoseconds kIdle = 20ms;        // between looks whether the recording ends
constexpr nanoseconds kLook = 2ms;         // between looks at the hits of an object: a ring holds some 600
constexpr nanoseconds kAnswered = 1ms;     // for the agent to see an answer
constexpr nanoseconds kCredit = 10ms;      // that tracing may cost ahead of the program's time
constexpr nanoseconds kStalled = 2ms;      // of an object's life, that counts as cost: see spendLife()
constexpr uint64_t kMostObjectHits = 400;  // of one object
constexpr nanoseconds kLongestTrace = 2s;  // of one object
constexpr nanoseconds kWindow = 20ms;      // of a variable, or so many hits
constexpr uint64_t kFewHits = 64;
constexpr nanoseconds kVariables = 1s;  // between looks for variables, while there are none

uint64_t nowNs() {
  return static_cast<uint64_t>(Clock::now().time_since_epoch() / 1ns);
}

void requirePreloading(const Program& program) {
  if (const std::optional<Blocker> blocker = whyNotPreloaded(program))
    throw Error(ErrorKind::impossible, program.name + " cannot be traced: " + blocker->value, blocker->fix);
}

}  // namespace

struct Tracer::Impl {
  Impl(TraceOptions request, TraceSubject traced, const Program& program, Processes living, std::string path,
       const Kernel& kernel)
      : options(std::move(request)),
        subject(std::move(traced)),
        processes(std::move(living)),
        folder(std::move(path)),
        name(program.name),
        preload(options.agent, "the agent for traces", "trace a program of this machine"),
        events(kernel),
        box(folder, std::max<uint64_t>(subject.size, 1), std::max(subject.size, kLargestBlock)),
        groups(wordGroups(subject.words.size(), kDebugRegisters)) {}

  ~Impl() { stop(); }

  void stop() {
    stopping = true;
    if (worker.joinable()) worker.join();
  }

  void say(const std::string& sentence) {
    if (said.insert(sentence).second) warnings.push_back(sentence);
  }

  void run() {
    try {
      while (!stopping && !enough()) step();
      if (current) end({});
    } catch (...) {
      failure = std::current_exception();
    }
    // Whatever the program still asks, nobody answers.
    for (const trace_state from : {TRACE_OPEN, TRACE_ASKED, TRACE_WATCHED}) box.change(from, TRACE_CLOSED);
  }

  bool enough() const { return counts.instances >= options.instances || hopeless; }

  void step() {
    const trace_state state = box.state();
    switch (state) {
      case TRACE_CLOSED:
        if (current) return watchVariable();
        if (Clock::now() < next) return box.wait(state, std::min<nanoseconds>(next - Clock::now(), kIdle));
        if (!startVariable()) box.change(TRACE_CLOSED, TRACE_OPEN);
        return;
      case TRACE_OPEN:
        box.wait(state, kIdle);
        if (!variables.empty() || Clock::now() >= nextVariables) box.change(TRACE_OPEN, TRACE_CLOSED);
        return;
      case TRACE_ASKED:
        return answer();
      case TRACE_WATCHED:
        box.wait(state, kLook);
        return watchBlock();
      case TRACE_FREED:
        return freed();
      case TRACE_REFUSED:
        box.wait(state, kAnswered);
        if (++patience > 100) box.change(TRACE_REFUSED, TRACE_CLOSED);  // its thread was killed
        return;
      case TRACE_TAKEN:
      case TRACE_FREEING:
        box.wait(state, kAnswered);
        if (++patience > 100) leave(state);
        return;
    }
    throw Error(ErrorKind::internal,
                "the letter box of the trace is in the state " + std::to_string(static_cast<int>(state)));
  }

  /// The thread that was to go on was killed.
  void leave(trace_state state) {
    if (box.change(state, TRACE_CLOSED) && current) end({});
  }

  void answer() {
    patience = 0;
    const heap::AskedBlock asked = box.asked();
    const std::optional<uint64_t> offset =
        options.place(static_cast<pid_t>(asked.pid), asked.allocated.frames, asked.size);
    if (!offset || *offset > asked.size || asked.size - *offset < subject.size) {
      ++refused;
      box.change(TRACE_ASKED, TRACE_REFUSED);
      return spend(asked.allocated.ns, 0);
    }
    TracedObject object;
    object.object = {static_cast<pid_t>(asked.pid), asked.address + *offset, {}};
    object.block = asked.address;
    object.blockSize = asked.size;
    object.allocated = asked.allocated;
    if (!follow(std::move(object))) {
      box.change(TRACE_ASKED, TRACE_CLOSED);
    } else {
      current->start = nowNs();                             // the program goes on
      if (!box.change(TRACE_ASKED, TRACE_WATCHED)) drop();  // it did before
    }
    spend(asked.allocated.ns, 0);
  }

  /// Of the program's time, at most: `since` then a thread waited for us, or all were interrupted to have
  /// their debug registers changed. No thread waits longer than its agent does.
  void spend(uint64_t since, uint64_t trapped) {
    spent += std::min<nanoseconds>(nanoseconds(nowNs() - since), nanoseconds(TRACE_WAIT_NS)) +
             trapped * events.hitCost();
    const auto due = std::max<nanoseconds>(spent - kCredit, 0ns);
    next = started + std::chrono::duration_cast<nanoseconds>(due / options.budget);
  }

  /// What waits for the object waits for its traps, too, and so do the threads that wait for these. How many
  /// they are is not known, so the first part of the time in which a block is followed counts whole: an
  /// object that is handed from thread to thread has a short life. Its hits are in it.
  void spendLife() {
    const uint64_t life = current->end - current->start;
    const nanoseconds stalled = std::min(nanoseconds(life), kStalled);
    const nanoseconds trapped = current->hits * events.hitCost();
    spent += current->allocated ? std::max(stalled - trapped, 0ns) : 0ns;
  }

  bool follow(TracedObject object) {
    object.words = groups[turn % groups.size()];
    std::vector<WatchWord> words;
    for (const uint32_t index : object.words) {
      const TraceWord& word = subject.words[index];
      const uint64_t address = object.object.address + word.offset;
      if (address % word.length != 0) {
        say("objects at addresses that are not a multiple of " + std::to_string(word.length) +
            " bytes were left out: a debug register cannot watch their words");
        return false;
      }
      words.push_back({object.object.pid, address, word.length,
                       object.object.name.empty() ? subject.type + "+" + std::to_string(word.offset)
                                                  : object.object.name + "+" + std::to_string(word.offset)});
    }
    WatchEvents::Armed armed = events.arm(words);
    if (armed.words.size() < words.size()) return refusedBy(armed);
    ++turn;
    if (!hits) hits.emplace(folder, events.attr(), events.ids());
    current = std::move(object);
    watched = std::move(armed.words);
    return true;
  }

  /// False: nothing is watched.
  bool refusedBy(const WatchEvents::Armed& armed) {
    events.disarm();
    for (const auto& [pid, errnum] : armed.refused) {
      if (errnum == ESRCH) continue;
      const size_t got = armed.words.size();
      if (errnum == ENOSPC && got > 0 && got < slots) {
        slots = got;
        groups = wordGroups(subject.words.size(), slots);
        say("only " + std::to_string(got) + " of " + std::to_string(kDebugRegisters) +
            " debug registers were free: a debugger or another recording holds the others");
        continue;
      }
      // Where all registers are taken, the kernel refuses to open an event with ENOSPC
      // (kernel/events/hw_breakpoint.c). EBUSY comes from putting an open event on a CPU, behind that check:
      // nothing that another process does makes perf_event_open return it.
      const std::string why =
          errnum == ENOSPC   ? "no debug register was free: a debugger or another recording holds them"
          : errnum == EMFILE ? "there are too few file descriptors to watch every thread (ulimit -n)"
                             : "the kernel refused watchpoints: " + errnoText(errnum);
      say(why);
      if (++failures == 10) hopeless = true;
    }
    return false;
  }

  void drop() {
    events.disarm();
    events.drain();
    current.reset();
    say("some objects were not followed: it was not known in time whether they are of the type");
  }

  WatchEvents::Drained drain() {
    WatchEvents::Drained drained = events.drain();
    hits->add(drained.hits);
    current->hits += drained.hits.size();
    return drained;
  }

  /// Why it is followed no longer; empty: it is.
  std::string look(nanoseconds longest) {
    const WatchEvents::Drained drained = drain();
    if (drained.lost > 0 || drained.throttled > 0) return "lost";
    if (current->hits >= kMostObjectHits) return "hits";
    return nanoseconds(nowNs() - current->start) >= longest ? "time" : "";
  }

  void watchBlock() {
    if (!current) return leave(TRACE_WATCHED);
    const std::string cut = look(kLongestTrace);
    if (!cut.empty() && box.change(TRACE_WATCHED, TRACE_CLOSED)) end(cut);
  }

  void freed() {
    patience = 0;
    if (current) {
      current->freed = box.freed();
      end({});
    }
    box.change(TRACE_FREED, TRACE_CLOSED);
  }

  void end(std::string cut) {
    const uint64_t begin = nowNs();
    events.disarm();
    const WatchEvents::Drained drained = drain();
    const uint32_t stray = std::exchange(strayBefore, box.stray());
    if ((drained.lost > 0 || stray != strayBefore) && cut.empty()) cut = "lost";
    current->end = current->freed ? std::max(current->freed->ns, current->start) : nowNs();
    current->cut = std::move(cut);
    std::vector<WatchedWord> words;
    for (const WatchWord& word : watched)
      words.push_back({word, current->start, current->end, current->end - current->start, current->hits,
                       drained.lost, current->cut});
    hits->close(words);
    log->add(*current);
    ++counts.instances;
    counts.hits += current->hits;
    spendLife();
    spend(begin, current->hits);
    current.reset();
  }

  /// Variables take turns with heap blocks.
  bool startVariable() {
    if (variables.empty() && Clock::now() >= nextVariables) {
      nextVariables = Clock::now() + kVariables;
      for (const pid_t pid : processes())
        for (TraceObject& variable : options.variables(pid)) variables.push_back(std::move(variable));
    }
    blockIsNext = !blockIsNext;
    if (variables.empty() || blockIsNext) return false;
    TracedObject object;
    object.object = variables[nextVariable++ % variables.size()];
    object.start = nowNs();
    if (follow(std::move(object))) return true;
    variables.clear();  // the process has ended
    return false;
  }

  void watchVariable() {
    std::this_thread::sleep_for(kLook);
    const std::string cut = look(kWindow);
    if (current->hits >= kFewHits || cut == "time" || cut == "hits")
      end({});
    else if (!cut.empty())
      end(cut);
  }

  void finish() {
    stop();
    if (failure) std::rethrow_exception(failure);
    if (hits) hits->finish();
    if (log)
      log->finish(nowNs() - static_cast<uint64_t>(started.time_since_epoch() / 1ns),
                  static_cast<uint64_t>(spent / 1ns), refused);
    if (strayBefore > 0)
      say(std::to_string(strayBefore) + (strayBefore == 1 ? " access is" : " accesses are") +
          " missing: the processor, or the hypervisor below, did not say why it trapped");
    if (counts.instances > 0 || failures > 0) return;  // or what refused is said already
    if (box.agents() == 0)
      say("nothing was followed: the agent did not get into " + name +
          " (a program that it starts may be statically linked, or lose LD_PRELOAD)");
    else if (refused > 0)
      say("no object of the type " + subject.type + " was followed: " + std::to_string(refused) +
          " kinds of allocations were checked, but the code around none of them shows that it makes one");
    else
      say("no object of the type " + subject.type +
          " was followed: the program allocated no block of its size through malloc or new, and has no "
          "variable of it");
  }

  const TraceOptions options;
  const TraceSubject subject;
  const Processes processes;
  const std::string folder, name;
  heap::Preload preload;
  WatchEvents events;
  heap::TraceBox box;
  std::optional<TraceLog> log;   ///< once the program runs
  std::optional<WatchLog> hits;  ///< once something was watched
  size_t slots = kDebugRegisters;
  std::vector<std::vector<uint32_t>> groups;
  size_t turn = 0;

  std::optional<TracedObject> current;  ///< that is followed
  std::vector<WatchWord> watched;
  std::vector<TraceObject> variables;
  Clock::time_point nextVariables;
  size_t nextVariable = 0;
  bool blockIsNext = false;

  Clock::time_point started, next;
  nanoseconds spent{0};
  uint64_t refused = 0;
  uint32_t strayBefore = 0;  ///< TraceBox::stray(), when the last object ended
  int patience = 0, failures = 0;
  bool hopeless = false;  ///< nothing can be watched here

  TraceCounts counts;
  std::vector<std::string> warnings;
  std::set<std::string> said;
  std::exception_ptr failure;
  std::atomic<bool> stopping = false;
  std::thread worker;
};

Tracer::Tracer(TraceOptions options, TraceSubject subject, const Program& program, Processes processes,
               std::string folder, const Kernel& kernel) {
  requirePreloading(program);
  impl_ = std::make_unique<Impl>(std::move(options), std::move(subject), program, std::move(processes),
                                 std::move(folder), kernel);
}

Tracer::~Tracer() = default;

std::vector<std::string> Tracer::environment(std::vector<std::string> environment) const {
  return withEntries(environment, {impl_->preload.entry(environment), impl_->box.entry()});
}

void Tracer::start() {
  impl_->log.emplace(impl_->folder, impl_->subject);
  impl_->started = impl_->next = Clock::now();
  impl_->worker = std::thread([this] { impl_->run(); });
}

void Tracer::finish() {
  impl_->finish();
}

TraceCounts Tracer::counts() const {
  return impl_->counts;
}

std::vector<std::string> Tracer::warnings() const {
  return impl_->warnings;
}

}  // namespace cacheline::record
