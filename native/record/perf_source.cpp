// Opening, mapping and draining of perf events.
#include "record/perf_source.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/error.h"
#include "record/memory_plan.h"
#include "record/perf_opener.h"

namespace cacheline::record {
namespace {

bool asksForTooMuch(int errnum) {
  return errnum == EACCES || errnum == EPERM || errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ENOENT;
}

/// Throws where the paranoid level is above the one that `what` needs of users without CAP_PERFMON.
void refuseAbove(int64_t level, const std::string& what, int errnum, const Permissions& permissions) {
  const int64_t paranoid = permissions.perfEventParanoid.value_or(2);
  if (paranoid <= level) return;
  const std::string why = std::to_string(paranoid) + ", and this user has no CAP_PERFMON";
  throw RefusedError("cannot record " + what + ": perf_event_open is refused with " + errnoText(errnum) +
                         "; kernel.perf_event_paranoid is " + why,
                     {"kernel.perf_event_paranoid", why + ": " + what + " needs " + std::to_string(level),
                      "sudo sysctl kernel.perf_event_paranoid=" + std::to_string(level)});
}

[[noreturn]] void refuse(int errnum, const EventPlan& plan, const Target& target,
                         const Permissions& permissions) {
  if (errnum == ESRCH)
    throw Error(ErrorKind::usage, "the recording could not begin: what it was to record has ended",
                "List what runs: ps -eLf");
  const bool denied = (errnum == EACCES || errnum == EPERM) && !permissions.privileged();
  if (denied && target.kind == Target::Kind::system) refuseAbove(0, "the whole machine", errnum, permissions);
  if (denied && std::ranges::all_of(plan.attempts, &Attempt::kernel))
    refuseAbove(1, "the kernel", errnum, permissions);
  if (plan.collector == "pmu") {
    const Blocker blocker = explainMemoryRefusal(errnum, plan, permissions);
    throw RefusedError("cannot record with the memory PMU: " + blocker.value, blocker);
  }
  throw refusalError(errnum, permissions);
}

}  // namespace

std::unique_ptr<PerfSource> PerfSource::open(const Kernel& kernel, const EventPlan& plan,
                                             const Target& target, const Permissions& permissions,
                                             const PerfSetup& setup) {
  auto opener = std::make_unique<PerfOpener>(kernel, target, setup);
  int errnum = EINVAL;
  for (const Attempt& attempt : plan.attempts) {
    errnum = opener->open(attempt);
    if (errnum == 0 || !asksForTooMuch(errnum)) break;
  }
  if (errnum != 0) refuse(errnum, plan, target, permissions);
  std::unique_ptr<PerfSource> source(new PerfSource);
  source->attempt_ = opener->attempt;
  source->open_ = std::exchange(opener->events, {});
  source->opener_ = std::move(opener);
  source->target_ = target;
  source->tracking_ = setup.tracking;
  if (target.kind == Target::Kind::processes) source->oneVoice_.emplace(source->open_);
  source->warnings_ = source->attempt_.warnings;
  source->map(permissions, setup.ringBytes);
  source->mapAux(kernel, permissions);
  return source;
}

/// One ring a CPU: all events of a CPU write into that of its first one.
void PerfSource::map(const Permissions& permissions, size_t ringBytes) {
  std::vector<int> fds;
  for (size_t i = 0; i < open_.size(); i++) {
    if (!ringOfCpu_.try_emplace(open_[i].cpu, open_[i].fd.get()).second) continue;
    fds.push_back(open_[i].fd.get());
    firstOnCpu_.push_back(i);
  }
  rings_ = mapRings(fds, ringBytes, permissions);
  if (rings_.dataBytes < ringBytes)
    warnings_.push_back("asked for ring buffers of " + std::to_string(ringBytes >> 10) + " KiB a CPU, got " +
                        std::to_string(rings_.dataBytes >> 10) +
                        " KiB: kernel.perf_event_mlock_kb allows no more");

  wakeup_.reset(::epoll_create1(EPOLL_CLOEXEC));
  for (const OpenEvent& event : open_) share(event);
}

/// Lets an event write into the ring of its CPU.
void PerfSource::share(const OpenEvent& event) const {
  const int first = ringOfCpu_.at(event.cpu), fd = event.fd.get();
  if (fd != first && ::ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) != 0)
    throw Error(
        ErrorKind::internal,
        describeErrno("cannot let the events of CPU " + std::to_string(event.cpu) + " share a ring", errno));
  epoll_event wanted{EPOLLIN, {.fd = fd}};
  if (::epoll_ctl(wakeup_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0)
    throw Error(ErrorKind::impossible, describeErrno("cannot wait for perf events", errno),
                "Raise fs.epoll.max_user_watches");
}

/// Events for what may have none (one_voice.h). Where they are refused it has ended, or there are too many
/// descriptors, and most likely it has inherited its own.
void PerfSource::openLate() {
  for (const OneVoice::Doubtful& one : oneVoice_->doubtful()) {
    if (one.ofOtherProcess && !target_.children) continue;
    if (opener_->openThread(one.thread) != 0) continue;
    for (OpenEvent& event : std::exchange(opener_->events, {})) {
      // A CPU that came online since then has no ring.
      if (!ringOfCpu_.contains(event.cpu)) continue;
      share(event);
      oneVoice_->add(event, attempt_.events[event.event].event.ids.front());
      if (enabled_ && !isTracker(event)) ::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0);
      open_.push_back(std::move(event));
    }
  }
}

/// An AUX area beside each ring whose first event writes traces, halving where the kernel refuses so much
/// locked memory.
void PerfSource::mapAux(const Kernel& kernel, const Permissions& permissions) {
  constexpr size_t kLeastBytes = size_t{8} << 10;  // perf's least for Arm SPE
  for (size_t i = 0; i < rings_.rings.size(); i++) {
    const OpenEvent& event = open_[firstOnCpu_[i]];
    const size_t wanted = attempt_.events[event.event].auxBytes;
    aux_.emplace_back();
    for (size_t bytes = wanted; bytes >= kLeastBytes && !aux_.back(); bytes /= 2) {
      aux_.back() = AuxRing::map(kernel, rings_.rings[i], event.fd.get(), bytes);
      if (!aux_.back() && errno != EPERM && errno != ENOMEM) break;
    }
    if (wanted == 0) continue;
    if (!aux_.back())
      throw RefusedError(
          "cannot map a trace buffer of CPU " + std::to_string(event.cpu) + ": " + errnoText(errno),
          {"RLIMIT_MEMLOCK",
           permissions.memlockBytes ? std::to_string(*permissions.memlockBytes) + " bytes" : "unlimited",
           "Raise the limit of locked memory: ulimit -l unlimited, or run as root"});
    if (timeConversion_.empty()) timeConversion_ = timeConversionRecord(rings_.rings[i].control());
  }
  const bool traces = std::any_of(aux_.begin(), aux_.end(), [](const AuxRing& aux) { return bool(aux); });
  if (traces && timeConversion_.empty())
    warnings_.push_back(
        "the kernel does not relate the trace's timestamps to its clock: accesses have the time at "
        "which their buffer was handed over");
}

std::vector<perfdata::Event> PerfSource::events() const {
  std::vector<perfdata::Event> events;
  for (const PlannedEvent& planned : attempt_.events) events.push_back(planned.event);
  return events;
}

bool PerfSource::drain(const Append& append) {
  // The event of a thread that has ended, or left for good (it executed a set-user-ID program), stays
  // readable for ever.
  std::array<epoll_event, 64> ready;
  const int count = ::epoll_wait(wakeup_.get(), ready.data(), ready.size(), 0);
  for (int i = 0; i < count; i++)
    if ((ready[i].events & (EPOLLHUP | EPOLLERR)) != 0)
      ::epoll_ctl(wakeup_.get(), EPOLL_CTL_DEL, ready[i].data.fd, nullptr);
  bool any = false;
  for (RingBuffer& ring : rings_.rings) {
    any |= ring.drain(
        [&](std::span<const uint8_t> records) { append(oneVoice_ ? oneVoice_->filter(records) : records); });
  }
  if (oneVoice_) openLate();
  for (size_t i = 0; i < aux_.size(); i++)
    if (aux_[i]) any |= aux_[i].drain(open_[firstOnCpu_[i]].cpu, static_cast<uint32_t>(i), append);
  return any;
}

/// Whether it goes on while sampling is off.
bool PerfSource::isTracker(const OpenEvent& event) const {
  return tracking_ && isTracking(attempt_.events[event.event].event.attr);
}

void PerfSource::control(unsigned long request) const {
  for (const OpenEvent& event : open_)
    if (!isTracker(event)) ::ioctl(event.fd.get(), request, 0);
}

void PerfSource::enable() {
  enabled_ = true;
  control(PERF_EVENT_IOC_ENABLE);
}

void PerfSource::disable() {
  enabled_ = false;
  control(PERF_EVENT_IOC_DISABLE);
}

std::optional<uint64_t> PerfSource::lost() const {
  if (attempt_.events.front().event.attr.read_format == 0) return std::nullopt;
  uint64_t lost = 0;
  for (const OpenEvent& event : open_) lost += lostBy(event.fd.get()).value_or(0);
  return lost;
}

std::string PerfSource::whyLost() const {
  return "the ring buffers of " + std::to_string(rings_.dataBytes >> 10) +
         " KiB a CPU were full: ask for a lower rate or larger ones";
}

}  // namespace cacheline::record
