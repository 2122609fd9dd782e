// A stopped child process whose registers and code the live tests set and single-step.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>

#include "base/registers.h"

namespace cacheline::decode {

/// Pages shared with the child, so that the test writes its code directly.
class SharedPages {
 public:
  SharedPages(uint64_t address, uint64_t size, int protection) : size_(size) {
    data_ = static_cast<uint8_t*>(::mmap(reinterpret_cast<void*>(address), size, protection,
                                         MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    if (data_ == MAP_FAILED) throw std::runtime_error("the test's fixed address is taken");
  }
  ~SharedPages() { ::munmap(data_, size_); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;
  void write(std::span<const uint8_t> bytes) {
    std::memset(data_, 0x90, 32);
    std::memcpy(data_, bytes.data(), bytes.size());
  }

 private:
  uint8_t* data_;
  uint64_t size_;
};

/// Where a stop came from: SIGTRAP after a single step, or a fault and its address.
struct Stop {
  int signal = 0;
  bool exited = false;
  bool hasFaultAddress = false;  ///< a page fault; a general protection fault names no address
  uint64_t faultAddress = 0;
};

class Tracee {
 public:
  /// Forks a child that stops at once and then runs `body` and exits. Throws std::runtime_error where ptrace
  /// is refused.
  explicit Tracee(const std::function<void()>& body);
  ~Tracee();
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;

  user_regs_struct registers() const;
  void setRegisters(const user_regs_struct& registers) const;
  Stop step() const;

 private:
  pid_t pid_ = -1;
};

/// How many steps a test makes: as many as it asks for, or CACHELINE_TEST_STEPS (a million take a minute).
size_t wantedSteps(size_t usual);

/// The general-purpose registers in perf's numbering.
Registers toRegisters(const user_regs_struct& native);
/// Sets one general-purpose register, in perf's numbering.
void setRegister(user_regs_struct& native, uint8_t reg, uint64_t value);

}  // namespace cacheline::decode
