// The life of watchpoints in one recording: words, windows, pauses.
#include "record/watcher.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "record/capability.h"
#include "record/watch_events.h"
#include "record/watch_log.h"
#include "record/watch_schedule.h"
#include "record/watch_threads.h"

namespace cacheline::record {
namespace {

using namespace std::chrono_literals;
using Time = Watcher::Clock::time_point;

// A program that has just started has not loaded its libraries yet: it is asked about again soon, then less
// often.
constexpr std::chrono::milliseconds kFirstAsking{5}, kAsking{1000}, kNothingToWatch{50};

// A program and its libraries are loaded by then: what is not there may never come, and a person can mend a
// name while little was recorded.
constexpr std::chrono::seconds kPatience{2};

// Hits of the same words after which windows become rarer: a recording of hours is not one of hits.
constexpr uint64_t kWellKnown = 8192;

/// Of CLOCK_MONOTONIC, which steady_clock is on Linux.
uint64_t nanosecondsOf(Time time) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

std::string inProcess(pid_t pid) {
  return " in process " + std::to_string(pid);
}

}  // namespace

struct Watcher::Impl {
  Impl(WatchOptions given, Processes living, std::string path, const Kernel& kernel)
      : options(std::move(given)), processes(std::move(living)), folder(std::move(path)) {
    try {
      events.emplace(kernel);
      budget.emplace(options.budget, events->hitCost());
    } catch (const RefusedError& error) {
      if (options.required) throw;
      say("nothing was confirmed by watchpoints: " + std::string(error.what()));
      off = refusedAtAll = true;
    }
  }

  void say(const std::string& sentence) {
    if (said.insert(sentence).second) warnings.push_back(sentence);
  }

  void tick() {
    if (off) return;
    const Time now = Clock::now();
    try {
      if (options.asksForWords && options.asksForWords()) nextWords = now;
      if (!window.empty()) {
        drain();
        if (throttledNow)
          close("throttled");
        else if (hits >= budget->mostHits() && !budget->unlimited())
          close("hits");
        else if (now >= windowEnd)
          roll();
      }
      if (window.empty() && now >= nextWords) ask();
      if (window.empty() && now >= nextWindow) open(nextGroup());
    } catch (const Error& error) {
      fail(error);
    }
  }

  std::vector<WatchWord> nextGroup() {
    return upcoming.empty() ? rotation.next(slots) : std::exchange(upcoming, {});
  }

  /// The words of now. What is not mapped is left out, and said.
  void ask() {
    asking = std::min(asking * 2, kAsking);
    std::vector<WatchWord> words = options.words(folder, processes());
    std::erase_if(words, [this](const WatchWord& word) {
      if (!isAlive(word.pid)) return true;
      if (isMapped(word.pid, word.address, word.length)) return false;
      say(word.name + " is not mapped" + inProcess(word.pid) +
          " (any more): it was not watched from then on");
      return true;
    });
    if (!words.empty()) asking = kAsking;
    if (rotation.set(std::move(words))) hitsOfWords = 0;
    upcoming.clear();
    slots = kDebugRegisters;  // a debugger may have gone
    nextWords = Clock::now() + asking;
    if (rotation.empty())
      nextWindow = nextWords;
    else
      nextWindow = std::min(nextWindow, std::max(earliest, Clock::now()));
  }

  void open(const std::vector<WatchWord>& words) {
    if (words.empty()) return;
    const Time begin = Clock::now();
    WatchEvents::Armed armed = events->arm(words);
    for (const auto& [pid, errnum] : armed.refused) refused(pid, errnum, armed.words);
    if (armed.words.empty()) {
      nextWindow = Clock::now() + kNothingToWatch;
      return;
    }
    if (!log) log.emplace(folder, events->attr(), events->ids());
    const Time watched = Clock::now();
    overhead = watched - begin;
    start(begin, watched, armed.words);
  }

  void start(Time begin, Time watched, const std::vector<WatchWord>& words) {
    windowStart = begin;
    watchedFrom = watched;
    windowEnd = watched + budget->length();
    hits = lost = 0;
    throttledNow = false;
    window.clear();
    for (const WatchWord& word : words) {
      window.push_back({word, nanosecondsOf(begin), 0, 0, 0, 0, {}});
      everWatched.insert({word.pid, word.address, word.length});
    }
  }

  void refused(pid_t pid, int errnum, const std::vector<WatchWord>& armed) {
    const auto got = static_cast<size_t>(
        std::count_if(armed.begin(), armed.end(), [pid](const WatchWord& word) { return word.pid == pid; }));
    if (errnum == ESRCH) return;  // it ended
    if (errnum == ENOSPC) {
      slots = std::max<size_t>(got, 1);
      say("only " + std::to_string(got) + " of " + std::to_string(kDebugRegisters) +
          " debug registers were free" + inProcess(pid) +
          ": a debugger or another recording holds the others");
      return;
    }
    if (errnum == EMFILE) {
      slots = std::max<size_t>(got, 1);
      say("too few file descriptors to watch every thread" + inProcess(pid) +
          " (ulimit -n): " + std::to_string(got) + " words were watched at a time");
      return;
    }
    say("the kernel refused watchpoints" + inProcess(pid) + ": " + errnoText(errnum));
  }

  void drain() {
    const WatchEvents::Drained drained = events->drain();
    for (const WatchHit& hit : drained.hits)
      for (WatchedWord& watched : window)
        if (watched.word.address == hit.address && static_cast<uint32_t>(watched.word.pid) == hit.pid) {
          ++watched.hits;
          break;
        }
    hits += drained.hits.size();
    lost += drained.lost;
    log->add(drained.hits);
    if (drained.throttled == 0) return;
    throttled += drained.throttled;
    throttledNow = true;
    budget->throttled();
  }

  /// The window's time is over.
  void roll() {
    if (!budget->unlimited()) return close({});
    // Watched without a gap, as long as the words are the same.
    events->follow();
    if (Clock::now() >= nextWords) ask();
    const std::vector<WatchWord> words = nextGroup();
    const auto isWatched = [&](const WatchWord& word) {
      return std::any_of(window.begin(), window.end(), [&](const WatchedWord& watched) {
        return watched.word.pid == word.pid && watched.word.address == word.address &&
               watched.word.length == word.length;
      });
    };
    if (words.size() != window.size() || !std::all_of(words.begin(), words.end(), isWatched)) {
      upcoming = words;
      return close({});
    }
    const Time now = Clock::now();
    write(now, now, {});
    start(now, now, words);
  }

  void close(const std::string& cut) {
    const Time last = Clock::now();
    events->disarm();
    drain();
    const Time end = Clock::now();
    write(last, end, cut);
    window.clear();
    overhead += end - last;
    hitsOfWords += hits;
    earliest = windowStart + budget->interval(last - windowStart, hits, overhead, cut == "hits") *
                                 (1 + hitsOfWords / kWellKnown);
    nextWindow = earliest;
  }

  void write(Time watchedTo, Time end, const std::string& cut) {
    const uint64_t ns = nanosecondsOf(watchedTo) - nanosecondsOf(watchedFrom);
    for (WatchedWord& watched : window) {
      watched.end = nanosecondsOf(end);
      watched.watchedNs = ns;
      watched.lost = lost;
      watched.cut = cut;
    }
    log->close(window);
    totals.hits += hits;
    totals.watchedMs += static_cast<double>(ns) / 1e6;
    lostHits += lost;
  }

  void fail(const Error& error) {
    if (error.kind() != ErrorKind::io) throw error;
    off = true;
    events.reset();
    window.clear();
    say("watching ended early: " + std::string(error.what()));
  }

  std::vector<std::string> news() {
    if (off || told || !options.missing || Clock::now() < begun + kPatience) return {};
    told = true;
    return options.missing();
  }

  void finish() {
    if (!off) {
      try {
        if (!window.empty()) close("end");
        if (log) log->finish();
      } catch (const Error& error) {
        fail(error);
      }
      off = true;
      events.reset();
    }
    if (lostHits > 0)
      say(std::to_string(lostHits) + " hits of watchpoints were lost: the ring buffers were full");
    if (throttled > 0)
      say("the kernel held watchpoints back " + std::to_string(throttled) +
          " times; the pauses were made longer");
    if (!everWatched.empty() && options.remarks)
      for (const std::string& sentence : options.remarks()) say(sentence);
    if (!everWatched.empty() || refusedAtAll) return;
    if (options.required)
      throw Error(ErrorKind::usage, "nothing was watched: " + whyNothing(),
                  "Name what the program has in memory while it runs");
    say("nothing was confirmed by watchpoints: " + whyNothing());
  }

  std::string whyNothing() const {
    const std::string why = options.whyNothing ? options.whyNothing() : std::string();
    if (!why.empty()) return why;
    return warnings.empty() ? "the program ended first" : warnings.back();
  }

  const WatchOptions options;
  const Processes processes;
  const std::string folder;
  std::optional<WatchEvents> events;
  std::optional<WatchBudget> budget;
  std::optional<WatchLog> log;
  WatchRotation rotation;
  std::vector<WatchWord> upcoming;  ///< taken from the rotation and not watched yet
  size_t slots = kDebugRegisters;
  bool off = false, refusedAtAll = false;
  bool told = false;  ///< what was missing
  const Time begun = Clock::now();

  std::chrono::milliseconds asking = kFirstAsking;
  Time nextWords{}, nextWindow{}, earliest{};

  std::vector<WatchedWord> window;  ///< the open one; empty: none is
  Time windowStart{}, watchedFrom{}, windowEnd{};
  Clock::duration overhead{};
  uint64_t hits = 0, lost = 0;  ///< of the window
  bool throttledNow = false;

  WatchCounts totals;
  uint64_t hitsOfWords = 0;  ///< since the words changed
  std::set<std::tuple<pid_t, uint64_t, uint32_t>> everWatched;
  uint64_t lostHits = 0, throttled = 0;
  std::vector<std::string> warnings;
  std::set<std::string> said;
};

Watcher::Watcher(WatchOptions options, Processes processes, std::string folder, const Kernel& kernel)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(processes), std::move(folder), kernel)) {}

Watcher::~Watcher() = default;

void Watcher::tick() {
  impl_->tick();
}

void Watcher::askSoon() {
  impl_->nextWords = Clock::now();
}

Watcher::Clock::time_point Watcher::next() const {
  if (impl_->off) return Clock::time_point::max();
  if (!impl_->window.empty()) return impl_->windowEnd;
  return impl_->rotation.empty() ? impl_->nextWords : std::min(impl_->nextWords, impl_->nextWindow);
}

std::vector<std::string> Watcher::news() {
  return impl_->news();
}

std::vector<int> Watcher::wakeups() const {
  return impl_->events ? impl_->events->wakeups() : std::vector<int>();
}

void Watcher::finish() {
  impl_->finish();
}

WatchCounts Watcher::counts() const {
  WatchCounts counts = impl_->totals;
  counts.words = impl_->everWatched.size();
  return counts;
}

std::vector<std::string> Watcher::warnings() const {
  return impl_->warnings;
}

}  // namespace cacheline::record
