// Reading of /proc/PID/task/TID/syscall and of stacks.
#include "record/blocked_looks.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/kernel_files.h"
#include "base/unique_fd.h"
#include "machine/process_watch.h"
#include "record/agent_memory.h"

namespace cacheline::record {
namespace {

constexpr size_t kMostDoublings = 14;  // a look in three minutes

struct BlockedCall {
  uint64_t ip = 0, sp = 0;
};

/// Of proc_pid_syscall(5): "number six-arguments sp pc", hex but for the number; "running" or "-1 sp pc" of a
/// thread that is in no system call. Empty: it is in none that waits for a futex.
std::optional<BlockedCall> futexWaitIn(std::string_view text) {
  const auto word = [&] { return takeUntil(text, ' '); };
  const auto hex = [](std::string_view digits) {
    uint64_t number = 0;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return number;
  };
  text = trim(text);
  if (parseNumber<long>(word()) != SYS_futex) return std::nullopt;
  std::array<uint64_t, 8> values{};
  for (uint64_t& value : values) value = hex(word());
  switch (static_cast<int>(values[1]) & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
      return BlockedCall{values[7], values[6]};
    default:
      return std::nullopt;
  }
}

}  // namespace

void BlockedLooks::tick(const std::vector<pid_t>& processes) {
  if (Clock::now() < next_) return;
  const std::chrono::nanoseconds before = machine::ownCpuTime();
  for (const pid_t pid : processes)
    for (const std::string& name : listDirectory(procfs_ + "/" + std::to_string(pid) + "/task"))
      if (const auto tid = parseNumber<pid_t>(name)) lookAt(pid, *tid);
  const size_t doublings =
      std::min(kMostDoublings, stacks_.size() / kStacksADoubling + looks_ / kLooksADoubling);
  const auto pause = std::max<std::chrono::nanoseconds>(kPause * (1 << doublings),
                                                        kPauses * (machine::ownCpuTime() - before));
  next_ = Clock::now() + pause;
}

void BlockedLooks::lookAt(pid_t pid, pid_t tid) {
  const uint64_t begin = monotonicNs();
  const std::string path = procfs_ + "/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/syscall";
  const std::string text = readText(path).value_or("");
  looked_ |= !text.empty();
  const auto call = futexWaitIn(text);
  if (!call) return;
  std::array<uint8_t, kStackBytes> bytes{};
  // At the top of a stack there can be less.
  const iovec here{bytes.data(), bytes.size()};
  const iovec there{reinterpret_cast<void*>(call->sp), bytes.size()};
  const ssize_t read = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
  const uint64_t end = monotonicNs();
  if (read <= 0) return;
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(read));
  const uint64_t key =
      mix(mix(std::hash<std::string_view>()(content), call->ip), mix(call->sp, static_cast<uint64_t>(tid)));
  const auto [found, isNew] = index_.try_emplace(key, static_cast<uint32_t>(stacks_.size()));
  if (isNew) stacks_.push_back({pid, tid, call->ip, call->sp, {bytes.begin(), bytes.begin() + read}, {}});
  std::vector<uint64_t>& looks = stacks_[found->second].looks;
  looks.insert(looks.end(), {begin, end});
  ++looks_;
}

void BlockedLooks::finish(const std::string& folder) const {
  static constexpr const char* kDigits = "0123456789abcdef";
  if (!looked_) return;
  const std::string path = folder + "/" + kBlockedFile;
  // It holds pieces of the program's memory, as perf.data can.
  const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  std::ofstream file(path);
  for (const Stack& stack : stacks_) {
    file << R"({"pid":)" << stack.pid << R"(,"tid":)" << stack.tid << std::hex << R"(,"ip":")" << stack.ip
         << R"(","sp":")" << stack.sp << std::dec << R"(","stack":")";
    for (const uint8_t byte : stack.bytes) file << kDigits[byte >> 4] << kDigits[byte & 15];
    file << R"(","looks":[)";
    for (size_t i = 0; i < stack.looks.size(); ++i) file << (i > 0 ? "," : "") << stack.looks[i];
    file << "]}\n";
  }
  file.close();
  if (!file) throw Error(ErrorKind::io, "cannot write " + path, "Make room on the disk.");
}

}  // namespace cacheline::record
