// ptrace, as the live tests need it.
#include "tests/decode/tracee.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace cacheline::decode {
namespace {

struct Slot {
  uint8_t reg;
  unsigned long long user_regs_struct::*member;
};

constexpr Slot kSlots[] = {
    {kRegAx, &user_regs_struct::rax},  {kRegBx, &user_regs_struct::rbx},  {kRegCx, &user_regs_struct::rcx},
    {kRegDx, &user_regs_struct::rdx},  {kRegSi, &user_regs_struct::rsi},  {kRegDi, &user_regs_struct::rdi},
    {kRegBp, &user_regs_struct::rbp},  {kRegSp, &user_regs_struct::rsp},  {kRegR8, &user_regs_struct::r8},
    {kRegR9, &user_regs_struct::r9},   {kRegR10, &user_regs_struct::r10}, {kRegR11, &user_regs_struct::r11},
    {kRegR12, &user_regs_struct::r12}, {kRegR13, &user_regs_struct::r13}, {kRegR14, &user_regs_struct::r14},
    {kRegR15, &user_regs_struct::r15}};

int waitFor(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) throw std::runtime_error(describeErrno("waitpid", errno));
  return status;
}

}  // namespace

Tracee::Tracee(const std::function<void()>& body) {
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error(describeErrno("fork", errno));
  if (pid_ == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(127);
    ::raise(SIGSTOP);
    body();
    ::_exit(0);
  }
  if (!WIFSTOPPED(waitFor(pid_))) {
    pid_ = -1;
    throw std::runtime_error("the child could not be traced: ptrace is refused here");
  }
  ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
}

Tracee::~Tracee() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
}

user_regs_struct Tracee::registers() const {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0) {
    throw std::runtime_error(describeErrno("PTRACE_GETREGS", errno));
  }
  return registers;
}

void Tracee::setRegisters(const user_regs_struct& registers) const {
  user_regs_struct copy = registers;
  if (::ptrace(PTRACE_SETREGS, pid_, nullptr, &copy) != 0) {
    throw std::runtime_error(describeErrno("PTRACE_SETREGS", errno));
  }
}

Stop Tracee::step() const {
  if (::ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) {
    throw std::runtime_error(describeErrno("PTRACE_SINGLESTEP", errno));
  }
  const int status = waitFor(pid_);
  Stop stop;
  stop.exited = !WIFSTOPPED(status);
  if (stop.exited) return stop;
  stop.signal = WSTOPSIG(status);
  siginfo_t info{};
  if (stop.signal != SIGTRAP && ::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &info) == 0) {
    stop.hasFaultAddress =
        stop.signal == SIGSEGV && (info.si_code == SEGV_MAPERR || info.si_code == SEGV_ACCERR);
    stop.faultAddress = reinterpret_cast<uint64_t>(info.si_addr);
  }
  return stop;
}

size_t wantedSteps(size_t usual) {
  const char* asked = std::getenv("CACHELINE_TEST_STEPS");
  return asked == nullptr ? usual : std::stoul(asked);
}

Registers toRegisters(const user_regs_struct& native) {
  Registers registers;
  for (const Slot& slot : kSlots) {
    registers.mask |= uint64_t{1} << slot.reg;
    registers.value[slot.reg] = native.*slot.member;
  }
  return registers;
}

void setRegister(user_regs_struct& native, uint8_t reg, uint64_t value) {
  for (const Slot& slot : kSlots) {
    if (slot.reg == reg) native.*slot.member = value;
  }
}

}  // namespace cacheline::decode
