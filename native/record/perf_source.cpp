// Opening, mapping and draining of perf events.
#include "record/perf_source.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "base/error.h"
#include "record/perf_opener.h"

namespace cacheline::record {
namespace {

bool asksForTooMuch(int errnum) {
  return errnum == EACCES || errnum == EPERM || errnum == EINVAL || errnum == EOPNOTSUPP || errnum == ENOENT;
}

[[noreturn]] void refuse(int errnum, const Target& target, const Permissions& permissions) {
  if (errnum == ESRCH)
    throw Error(ErrorKind::usage, "what was to be recorded has ended before it could be",
                "List what runs: ps -eLf");
  const int64_t paranoid = permissions.perfEventParanoid.value_or(2);
  if (target.kind == Target::Kind::system && (errnum == EACCES || errnum == EPERM) && paranoid > 0 &&
      !permissions.privileged())
    throw RefusedError(
        "cannot record the whole machine: perf_event_open is refused with " + errnoText(errnum) +
            "; kernel.perf_event_paranoid is " + std::to_string(paranoid) +
            ", and this user has no CAP_PERFMON",
        {"kernel.perf_event_paranoid",
         std::to_string(paranoid) + ", and this user has no CAP_PERFMON: the whole machine needs 0",
         "sudo sysctl kernel.perf_event_paranoid=0"});
  throw refusalError(errnum, permissions);
}

}  // namespace

std::unique_ptr<PerfSource> PerfSource::open(const Kernel& kernel, const EventPlan& plan,
                                             const Target& target, const Permissions& permissions,
                                             const PerfSetup& setup) {
  PerfOpener opener(kernel, target, setup);
  int errnum = EINVAL;
  for (const Attempt& attempt : plan.attempts) {
    errnum = opener.open(attempt);
    if (errnum == 0 || !asksForTooMuch(errnum)) break;
  }
  if (errnum != 0) refuse(errnum, target, permissions);
  std::unique_ptr<PerfSource> source(new PerfSource);
  source->attempt_ = std::move(opener.attempt);
  source->open_ = std::move(opener.events);
  source->warnings_ = source->attempt_.warnings;
  source->map(permissions, setup.ringBytes);
  return source;
}

/// One ring a CPU: all events of a CPU write into that of its first one.
void PerfSource::map(const Permissions& permissions, size_t ringBytes) {
  std::map<uint32_t, int> firstOnCpu;
  std::vector<int> fds;
  for (const OpenEvent& event : open_)
    if (firstOnCpu.try_emplace(event.cpu, event.fd.get()).second) fds.push_back(event.fd.get());
  rings_ = mapRings(fds, ringBytes, permissions);
  if (rings_.dataBytes < ringBytes)
    warnings_.push_back("asked for ring buffers of " + std::to_string(ringBytes >> 10) + " KiB a CPU, got " +
                        std::to_string(rings_.dataBytes >> 10) +
                        " KiB: kernel.perf_event_mlock_kb allows no more");

  wakeup_.reset(::epoll_create1(EPOLL_CLOEXEC));
  for (const OpenEvent& event : open_) {
    const int first = firstOnCpu.at(event.cpu), fd = event.fd.get();
    if (fd != first && ::ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first) != 0)
      throw Error(ErrorKind::internal,
                  describeErrno("cannot let the events of CPU " + std::to_string(event.cpu) + " share a ring",
                                errno));
    epoll_event wanted{EPOLLIN, {.fd = fd}};
    if (::epoll_ctl(wakeup_.get(), EPOLL_CTL_ADD, fd, &wanted) != 0)
      throw Error(ErrorKind::impossible, describeErrno("cannot wait for perf events", errno),
                  "Raise fs.epoll.max_user_watches");
  }
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
  for (RingBuffer& ring : rings_.rings) any |= ring.drain(append);
  return any;
}

void PerfSource::control(unsigned long request) const {
  for (const OpenEvent& event : open_) ::ioctl(event.fd.get(), request, 0);
}

void PerfSource::enable() {
  control(PERF_EVENT_IOC_ENABLE);
}

void PerfSource::disable() {
  control(PERF_EVENT_IOC_DISABLE);
}

std::string PerfSource::whyLost() const {
  return "the ring buffers of " + std::to_string(rings_.dataBytes >> 10) +
         " KiB a CPU were full: ask for a lower rate or larger ones";
}

}  // namespace cacheline::record
