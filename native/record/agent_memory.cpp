// Making and reading of the memory shared with the agent. The program can write anything into it: nothing in
// it is believed.
#include "record/agent_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace cacheline::record {
namespace {

constexpr uint64_t kSweepNs = 1'000'000'000;

template <typename Number>
Number load(const Number& place) {
  return std::atomic_ref(const_cast<Number&>(place)).load();
}

template <typename Number>
void store(Number& place, Number value) {
  std::atomic_ref(place).store(value);
}

/// Of a kind and a size that the agent writes, within the bytes.
bool isRecord(const perf_event_header& header, size_t left) {
  if (header.size < sizeof header || header.size % 8 != 0 || header.size > left) return false;
  switch (header.type) {
    case SAMPLER_PADDING:
      return true;
    case PERF_RECORD_SAMPLE:
      return header.size == sizeof(sampler_sample);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_COMM:
      return header.size == sizeof header + 24 + sizeof(sampler_trailer);
    case PERF_RECORD_MMAP2:
      return header.size > sizeof header + 64 + sizeof(sampler_trailer);
    default:
      return false;
  }
}

bool isAlive(uint32_t pid, uint32_t tid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid);
  return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

uint64_t monotonicNs() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t tickNs() {
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec == 0)
    return 10'000'000;  // the longest that Linux is configured with
  return static_cast<uint64_t>(tick.tv_nsec);
}

AgentMemory::AgentMemory(const std::string& folder, uint64_t intervalNs, bool wall)
    : seen_(SAMPLER_SLOTS), lastDrain_(monotonicNs()) {
  const std::unique_ptr<char, decltype(&std::free)> absolute(::realpath(folder.c_str(), nullptr), &std::free);
  path_ = std::string(absolute ? absolute.get() : folder.c_str()) + "/agent";
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd_ < 0)
    throw Error(ErrorKind::io, describeErrno("cannot create " + path_, errno),
                "Choose another output folder");
  const auto fail = [this](const std::string& action, int errnum, const char* nextStep) {
    ::close(fd_);
    ::unlink(path_.c_str());
    throw Error(ErrorKind::io, describeErrno(action + " " + path_, errnum), nextStep);
  };
  if (const int errnum = ::posix_fallocate(fd_, 0, static_cast<off_t>(SAMPLER_RINGS_AT)); errnum != 0)
    fail("cannot write", errnum, "Free space on that disk, or record into another folder");
  void* memory = ::mmap(nullptr, SAMPLER_RINGS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (memory == MAP_FAILED)
    fail("cannot share with the agent", errno, "Record into a folder on a local disk");
  header_ = static_cast<sampler_file_header*>(memory);
  slots_ = reinterpret_cast<sampler_slot*>(static_cast<char*>(memory) + SAMPLER_PAGE);
  header_->version = SAMPLER_VERSION;
  header_->slots = SAMPLER_SLOTS;
  header_->interval = intervalNs;
  header_->tick = tickNs();
  header_->wall = wall ? 1 : 0;
  header_->heartbeat = lastDrain_;
  struct stat space{};
  if (::stat("/proc/self/ns/pid", &space) == 0) header_->pid_namespace = space.st_ino;
  header_->magic = SAMPLER_MAGIC;
}

AgentMemory::~AgentMemory() {
  ::munmap(header_, SAMPLER_RINGS_AT);
  ::close(fd_);
  ::unlink(path_.c_str());
}

bool AgentMemory::isWhole() const {
  struct stat info{};
  return ::fstat(fd_, &info) == 0 && info.st_size >= static_cast<off_t>(SAMPLER_RINGS_AT);
}

void AgentMemory::enable(bool on) {
  cut_ = cut_ || !isWhole();
  if (cut_) return;
  store(header_->enabled, on ? 1u : 0u);
}

bool AgentMemory::consumeWhole(std::span<const uint8_t> bytes, const Consume& consume) {
  while (!bytes.empty()) {
    perf_event_header header{};
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (!isRecord(header, bytes.size())) return false;
    if (header.type != SAMPLER_PADDING) consume(bytes.first(header.size));
    bytes = bytes.subspan(header.size);
  }
  return true;
}

void AgentMemory::read(uint64_t index, const Consume& consume) {
  sampler_slot& slot = slots_[index];
  const uint64_t head = load(slot.head), tail = load(slot.tail), size = head - tail;
  if (size == 0 || seen_[index].damaged) return;
  const uint64_t at = tail % SAMPLER_RING_BYTES, first = std::min<uint64_t>(size, SAMPLER_RING_BYTES - at);
  const auto ring = static_cast<off_t>(SAMPLER_RINGS_AT + index * SAMPLER_RING_BYTES);
  bool whole = size <= SAMPLER_RING_BYTES;
  if (whole) {
    buffer_.resize(size);
    const auto readInto = [&](uint64_t to, uint64_t from, uint64_t count) {
      return ::pread(fd_, buffer_.data() + to, count, ring + static_cast<off_t>(from)) ==
             static_cast<ssize_t>(count);
    };
    whole = readInto(0, at, first) && readInto(first, 0, size - first);
  }
  if (!whole || !consumeWhole(buffer_, consume)) {
    seen_[index].damaged = true;
    damaged_++;
  }
  store(slot.tail, head);
}

/// For the next thread. Its counts are those of the slot's whole life, as told so far.
void AgentMemory::give(uint64_t index) {
  sampler_slot& slot = slots_[index];
  seen_[index] = Slot{};
  store(slot.busy, 0u);
  store(slot.head, uint64_t{0});
  store(slot.tail, uint64_t{0});
  store(slot.lost, uint64_t{0});
  store(slot.pid, 0u);
  store(slot.state, uint32_t{SLOT_FREE});
}

AgentMemory::Drained AgentMemory::drain(const Consume& consume) {
  const uint64_t now = monotonicNs();
  cut_ = cut_ || !isWhole();
  if (cut_) return {now, 0};
  const bool sweep = now >= nextSweep_;
  if (sweep) nextSweep_ = now + kSweepNs;
  store(header_->heartbeat, now);
  Drained result{now, 0};
  const uint64_t made = std::min<uint64_t>(load(header_->slots_made), SAMPLER_SLOTS);
  for (uint64_t i = 0; i < made; i++) {
    sampler_slot& slot = slots_[i];
    const uint32_t state = load(slot.state);
    if (state == SLOT_NONE || state == SLOT_FREE || load(slot.pid) == 0) continue;
    Slot& seen = seen_[i];
    const bool gone =
        sweep && state == SLOT_USED && load(slot.foreign) == 0 && !isAlive(load(slot.pid), load(slot.tid));
    if (seen.idleAt == 0) seen.idleAt = lastDrain_;
    if (gone || load(slot.busy) == 0)
      seen.idleAt = now;
    else
      result.complete = std::min(result.complete, seen.idleAt);
    read(i, consume);
    const uint64_t lost = load(slot.lost);
    if (lost > seen.lost) result.lost += lost - seen.lost;
    seen.lost = lost;
    if (gone || state == SLOT_ENDED) give(i);
  }
  lastDrain_ = now;
  return result;
}

AgentCounts AgentMemory::counts() const {
  if (cut_ || !isWhole()) return {.cut = true};
  return {load(header_->images),
          load(header_->unsampled),
          load(header_->small_stacks),
          load(header_->small_alternates),
          load(header_->left_handlers),
          load(header_->sealed),
          load(header_->go),
          load(header_->lost_mappings),
          damaged_,
          load(header_->full) != 0,
          false,
          static_cast<int>(load(header_->timer_error))};
}

}  // namespace cacheline::record
