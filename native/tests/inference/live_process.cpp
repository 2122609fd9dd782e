// ptrace: single steps inside of the program, a breakpoint at the return of what leaves it.
#include "tests/inference/live_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "base/error.h"
#include "decode/instruction.h"

namespace cacheline::inference::test {
namespace {

constexpr uint64_t kLargestStack = 1 << 20;  // of these programs, bytes

Registers toRegisters(const user_regs_struct& native) {
  Registers registers;
  const auto set = [&](uint8_t reg, uint64_t value) {
    registers.mask |= uint64_t{1} << reg;
    registers.value[reg] = value;
  };
  set(kRegAx, native.rax);
  set(kRegBx, native.rbx);
  set(kRegCx, native.rcx);
  set(kRegDx, native.rdx);
  set(kRegSi, native.rsi);
  set(kRegDi, native.rdi);
  set(kRegBp, native.rbp);
  set(kRegSp, native.rsp);
  set(kRegIp, native.rip);
  set(kRegR8, native.r8);
  set(kRegR9, native.r9);
  set(kRegR10, native.r10);
  set(kRegR11, native.r11);
  set(kRegR12, native.r12);
  set(kRegR13, native.r13);
  set(kRegR14, native.r14);
  set(kRegR15, native.r15);
  return registers;
}

class Child {
 public:
  explicit Child(const std::string& binary) {
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error(describeErrno("fork", errno));
    if (pid_ == 0) {
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(127);
      ::setenv("LD_BIND_NOW", "1", 1);  // no symbol look-ups between the steps
      const int quiet = ::open("/dev/null", O_WRONLY);
      if (quiet >= 0) ::dup2(quiet, STDOUT_FILENO);
      ::execl(binary.c_str(), binary.c_str(), nullptr);
      ::_exit(127);
    }
    wait();
    if (ended) throw std::runtime_error("the program could not be traced: ptrace is refused here");
    ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL);
  }
  ~Child() {
    if (ended) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  user_regs_struct registers() const {
    user_regs_struct registers{};
    if (::ptrace(PTRACE_GETREGS, pid_, nullptr, &registers) != 0)
      throw std::runtime_error(describeErrno("PTRACE_GETREGS", errno));
    return registers;
  }
  void step() { go(PTRACE_SINGLESTEP); }
  uint64_t peek(uint64_t address) const {
    errno = 0;
    return static_cast<uint64_t>(::ptrace(PTRACE_PEEKDATA, pid_, address, nullptr));
  }
  std::string text(uint64_t address) const {
    std::string result;
    for (uint64_t at = address; result.size() < 200; at += 8) {
      const uint64_t word = peek(at);
      for (int i = 0; i < 8; i++) {
        const char c = static_cast<char>(word >> (8 * i));
        if (c == 0 || errno != 0) return result;
        result += c;
      }
    }
    return result;
  }
  /// Runs until the address is reached with a stack pointer above `stack`.
  void runTo(uint64_t address, uint64_t stack = 0) {
    const uint64_t code = peek(address);
    while (!ended) {
      ::ptrace(PTRACE_POKETEXT, pid_, address, (code & ~0xffull) | 0xcc);
      go(PTRACE_CONT);
      if (ended) return;
      ::ptrace(PTRACE_POKETEXT, pid_, address, code);
      user_regs_struct now = registers();
      if (now.rip != address + 1) continue;  // another signal
      now.rip = address;
      ::ptrace(PTRACE_SETREGS, pid_, nullptr, &now);
      if (now.rsp > stack) return;
      step();
    }
  }
  /// Where the binary was mapped, minus its own address 0.
  uint64_t loadBias(const std::string& binary, const symbols::ElfImage& image) const {
    std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.size() > binary.size() &&
          line.compare(line.size() - binary.size(), binary.size(), binary) == 0)
        return std::stoull(line, nullptr, 16) - image.segments().front().address;
    throw std::runtime_error("no mapping of " + binary);
  }

  bool ended = false;

 private:
  void go(__ptrace_request request) {
    if (::ptrace(request, pid_, nullptr, nullptr) != 0)
      throw std::runtime_error(describeErrno("ptrace", errno));
    wait();
  }
  void wait() {
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) ended = true;
  }
  pid_t pid_ = -1;
};

}  // namespace

bool NotedObject::is(const std::string& name) const {
  const std::string all = "|" + type + "|";
  return !name.empty() && all.find("|" + name + "|") != std::string::npos;
}

const NotedObject* LiveRun::objectOf(const LiveAccess& access) const {
  return access.object != LiveAccess::kNoObject ? &objects[access.object] : nullptr;
}

LiveRun runStepByStep(const std::string& binary, const symbols::Module& module, size_t mostSteps) {
  const symbols::ElfImage& image = *module.image();
  const auto entry = image.addressOfSymbol("main"), note = image.addressOfSymbol("note");
  if (!entry) throw std::runtime_error(binary + " has no main");
  Child child(binary);
  LiveRun run;
  run.loadBias = child.loadBias(binary, image);
  child.runTo(*entry + run.loadBias);
  const auto isOwn = [&](uint64_t ip) { return !image.bytesAt(ip - run.loadBias, 1).empty(); };
  user_regs_struct now = child.registers();
  const uint64_t lowest = now.rsp;  // main() returns above it
  for (size_t steps = 0; steps < mostSteps && !child.ended; steps++) {
    if (!isOwn(now.rip)) {
      if (now.rsp > lowest) break;
      child.runTo(child.peek(now.rsp), now.rsp);
      if (child.ended) break;
      now = child.registers();
      continue;
    }
    const uint64_t ip = now.rip - run.loadBias;
    if (note && ip == *note) run.objects.push_back({child.text(now.rdi), now.rsi, now.rdx, now.rcx});
    decode::Instruction instruction;
    LiveAccess access;
    const bool decoded =
        decode::decodeInstruction(image.bytesAt(ip, decode::kLongestInstruction), ip, instruction);
    const bool threadLocal = instruction.segment == decode::Instruction::Segment::fs;
    bool known = decoded && instruction.accesses &&
                 (instruction.failure == decode::Failure::none || threadLocal) &&
                 decode::effectiveAddress(instruction.operand, toRegisters(now), access.address);
    if (threadLocal)
      access.address += now.fs_base;
    else if (instruction.operand.base == kRegNone && instruction.operand.index == kRegNone)
      access.address += run.loadBias;  // RIP-relative operands are ELF addresses
    child.step();
    if (child.ended) break;
    now = child.registers();
    access.access = ip;
    access.ip = now.rip - run.loadBias;
    access.width = instruction.operand.width;
    access.registers = toRegisters(now);
    known = known && access.ip == ip + instruction.length;
    for (size_t i = 0; i < run.objects.size(); i++) {
      // What was on the stack of a function that has returned is gone.
      const bool gone = run.objects[i].base < now.rsp && run.objects[i].base > now.rsp - kLargestStack;
      if (!gone && run.objects[i].contains(access.address)) access.object = i;
    }
    if (known) run.accesses.push_back(access);
  }
  // What was written before it was noted: its constructor, of an object that is not on the stack.
  for (LiveAccess& access : run.accesses)
    for (size_t i = 0; i < run.objects.size() && access.object == LiveAccess::kNoObject; i++)
      if (run.objects[i].contains(access.address) &&
          (run.objects[i].base > lowest || run.objects[i].base < lowest - kLargestStack))
        access.object = i;
  return run;
}

}  // namespace cacheline::inference::test
