// `cacheline-threads/1`.
#include <algorithm>

#include "base/json_writer.h"
#include "scheduling/schedule.h"

namespace cacheline::scheduling {

namespace {

using analysis::Activity;
using analysis::kActivities;

constexpr const char* kActivityNames[kActivities] = {"running", "runnable", "blocked", "unknown"};

/// Rounded; periods of a damaged recording can be any number.
uint64_t wholeNs(double ns) {
  constexpr double kMost = 9e18;
  return static_cast<uint64_t>(std::min(ns, kMost) + 0.5);
}

class ScheduleWriter : public JsonWriter {
 public:
  std::string document(const Schedule& schedule, const std::string& basisReason) {
    open();
    field("schema", "cacheline-threads/1");
    field("basis", basisName(schedule.basis));
    if (schedule.basis == Basis::switches)
      null("basisReason");
    else
      field("basisReason", basisReason);
    field("fromNs", schedule.from);
    field("spanNs", schedule.span);
    optional("periodNs", schedule.period);
    field("lost", schedule.lost);
    field("bins", uint64_t{schedule.bins});
    list("threads", schedule.threads, [&](const ThreadSchedule& each) { thread(each, schedule); });
    list("cpus", schedule.cpus, [&](const CpuSchedule& each) { cpu(each); });
    field("callChains", schedule.callChains);
    if (schedule.functions)
      list("functions", *schedule.functions,
           [&](const ContendedFunction& each) { function(each, *schedule.period); });
    else
      null("functions");
    list("warnings", schedule.warnings, [&](const std::string& text) { value(text); });
    close();
    return take();
  }

 private:
  void thread(const ThreadSchedule& thread, const Schedule& schedule) {
    open();
    field("pid", thread.pid);
    field("tid", thread.tid);
    field("comm", thread.comm);
    field("firstNs", thread.first);
    field("lastNs", thread.last);
    field("runningNs", thread.running);
    optional("runnableNs", thread.runnable);
    optional("blockedNs", thread.blocked);
    field("unknownNs", thread.unknown);
    if (thread.contended)
      field("contendedNs", wholeNs(*thread.contended));
    else
      null("contendedNs");
    if (thread.locks)
      list("locks", *thread.locks, [&](const LockWait& wait) {
        open();
        field("lock", wait.call.lock);
        field("caller", wait.call.caller);
        field("ns", wait.ns);
        field("waits", wait.waits);
        close();
      });
    else
      null("locks");
    optional("switches", thread.switches);
    optional("preempted", thread.preempted);
    optional("migrations", thread.migrations);
    list("cpus", thread.cpus, [&](const CpuShare& share) {
      open();
      field("cpu", share.cpu);
      field("runningNs", share.running);
      close();
    });
    if (thread.lane)
      lane(*thread.lane, schedule.basis == Basis::switches, thread.migrations.has_value());
    else
      null("lane");
    close();
  }

  void lane(const Lane& lane, bool exact, bool knowsMigrations) {
    open("lane");
    for (size_t activity = 0; activity < kActivities; ++activity) {
      const bool known = exact || static_cast<Activity>(activity) == Activity::running;
      if (known)
        bins(kActivityNames[activity], lane.activities[activity]);
      else
        null(kActivityNames[activity]);
    }
    if (lane.contended.empty())
      null("contended");
    else
      list("contended", lane.contended, [&](double ns) { value(wholeNs(ns)); });
    if (knowsMigrations)
      bins("migrations", lane.migrations);
    else
      null("migrations");
    close();
  }

  void cpu(const CpuSchedule& cpu) {
    open();
    field("cpu", cpu.cpu);
    field("runningNs", cpu.running);
    field("threads", cpu.threads);
    optional("switches", cpu.switches);
    bins("running", cpu.bins);
    close();
  }

  void function(const ContendedFunction& function, uint64_t period) {
    const auto time = [&](double samples) { return wholeNs(samples * static_cast<double>(period)); };
    const auto calls = [&](const char* name, const std::vector<CallShare>& shares) {
      list(name, shares, [&](const CallShare& share) {
        open();
        field("name", share.function.name);
        field("object", share.function.object);
        field("ns", time(share.samples));
        close();
      });
    };
    open();
    field("name", function.function.name);
    field("object", function.function.object);
    field("selfNs", time(function.self));
    field("totalNs", time(function.total));
    calls("callers", function.callers);
    calls("callees", function.callees);
    close();
  }

  void bins(const char* name, const std::vector<uint64_t>& amounts) {
    list(name, amounts, [&](uint64_t each) { value(each); });
  }
};

}  // namespace

std::string scheduleJson(const Schedule& schedule, const std::string& basisReason) {
  return ScheduleWriter().document(schedule, basisReason);
}

}  // namespace cacheline::scheduling
