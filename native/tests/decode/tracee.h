// A stopped child process whose registers and code the live tests set and single-step.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <span>

#include "base/registers.h"

namespace cacheline::decode {

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

/// The general-purpose registers in perf's numbering.
Registers toRegisters(const user_regs_struct& native);
/// Sets one general-purpose register, in perf's numbering.
void setRegister(user_regs_struct& native, uint8_t reg, uint64_t value);

}  // namespace cacheline::decode
