// The processor as the judge: fault addresses, register effects and whole traces of single-stepped code.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode/instruction.h"
#include "tests/decode/code_bytes.h"
#include "tests/decode/encodings.h"
#include "tests/decode/tracee.h"
#include "tests/live/loaded_functions.h"
#include "tests/live/objdump_text.h"

namespace cacheline::decode {
namespace {

constexpr uint64_t kUnmapped =
    0x2000'0000'0000;  // far from programs, libraries, stacks and sanitizer shadows
constexpr uint64_t kCodePage = 0x2100'0000'0000;
constexpr uint64_t kScratch = 0x2200'0000'0000;
constexpr uint64_t kScratchSize = 1 << 20;
constexpr uint64_t kScratchMiddle = kScratch + kScratchSize / 2;
constexpr uint8_t kGeneral[] = {kRegAx, kRegBx, kRegCx,  kRegDx,  kRegSi,  kRegDi,  kRegBp,  kRegSp,
                                kRegR8, kRegR9, kRegR10, kRegR11, kRegR12, kRegR13, kRegR14, kRegR15};

/// A child that executes single instructions of the test's choosing.
struct Bench {
  SharedPages code{kCodePage, 4096, PROT_READ | PROT_WRITE | PROT_EXEC};
  SharedPages scratch{kScratch, kScratchSize, PROT_READ | PROT_WRITE};
  Tracee tracee{[] {}};
  user_regs_struct initial = tracee.registers();
};

/// Puts the operand's address where `address` is; all other registers are left alone. False where no register
/// can.
bool aim(const MemoryOperand& operand, uint64_t address, user_regs_struct& registers) {
  const uint64_t rest = address - static_cast<uint64_t>(operand.displacement);
  if (operand.base == kRegNone && operand.index == kRegNone) return false;
  if (operand.base == operand.index || operand.base == kRegNone) {
    const uint64_t parts = operand.base == kRegNone ? operand.scale : operand.scale + 1u;
    setRegister(registers, operand.index, rest / parts);
    return true;
  }
  setRegister(registers, operand.base, rest);
  if (operand.index != kRegNone) {
    setRegister(registers, operand.base, rest - 64u * operand.scale);
    setRegister(registers, operand.index, 64);
  }
  return true;
}

TEST(Live, FaultAddressesAreTheEffectiveAddresses) {
  Bench bench;
  size_t checked = 0, completed = 0, refused = 0;
  for (const Encoding& encoding : encodings()) {
    if (encoding.expected.failure != Failure::none) continue;
    const std::vector<uint8_t> bytes = fromHex(encoding.hex);
    bench.code.write(bytes);
    const AccessPlan plan = planAccess(bytes, kCodePage, kCodePage);
    ASSERT_EQ(plan.failure, Failure::none) << encoding.text;
    user_regs_struct native = bench.initial;
    for (const uint8_t reg : kGeneral) setRegister(native, reg, kScratchMiddle);
    // 1 MiB aligned parts of the address keep every operand aligned and within one page.
    aim(plan.operand, kUnmapped + 0x9000'0000, native);
    native.rip = kCodePage;
    native.orig_rax = ~0ull;
    uint64_t address = 0;
    ASSERT_TRUE(effectiveAddress(plan.operand, toRegisters(native), address)) << encoding.text;
    bench.tracee.setRegisters(native);
    const Stop stop = bench.tracee.step();
    ASSERT_FALSE(stop.exited) << encoding.text;
    if (stop.hasFaultAddress) {
      // Instructions of many parts may touch a later part first; they have no other address, though.
      if (plan.operand.width == 0 || plan.operand.width > 64) {
        EXPECT_EQ(stop.faultAddress & ~0xfffull, address & ~0xfffull) << encoding.text;
      } else if (encoding.text.substr(0, 7) == "maskmov") {  // the first byte the mask selects
        EXPECT_LT(stop.faultAddress - address, plan.operand.width) << encoding.text;
      } else if (encoding.text == "pop [rsp+8]") {  // the stack slot faults first, 16 bytes below
        EXPECT_EQ(stop.faultAddress, address - 16) << encoding.text;
      } else {
        EXPECT_EQ(stop.faultAddress, address) << encoding.text;
      }
      ++checked;
    } else {
      ++(stop.signal == SIGTRAP ? completed : refused);
    }
  }
  std::printf(
      "%zu fault addresses checked, %zu ran without a fault (masked off), %zu refused by this processor\n",
      checked, completed, refused);
  EXPECT_GE(checked, 100u);
}

/// Of a definition, by the registers before it.
uint64_t valueOf(const Sum& sum, const Registers& before) {
  uint64_t value = sum.constant;
  for (const Sum::Term& term : sum.terms)
    if (term.part < kRegCount) value += before.value[term.part] * term.factor;  // the code has no bias
  return sum.extend(value);
}

TEST(Live, RegisterEffectsAreComplete) {
  if (!haveObjdump()) GTEST_SKIP() << "objdump is not installed: apt-get install binutils";
  std::map<std::string, std::vector<uint8_t>> distinct;  // by text
  for (const Encoding& encoding : encodings()) distinct.emplace(encoding.text, fromHex(encoding.hex));
  const std::vector<std::string> binaries = judgedBinaries();
  if (binaries.empty()) GTEST_SKIP() << "no C library found to take instructions from";
  listFunctions(binaries.front(), [&](const ListedFunction& function) {
    for (const ListedInstruction& listed : function.instructions) {
      if (!listed.hasTarget && !listed.hasComment) distinct.emplace(listed.text, listed.bytes);
    }
    return true;
  });
  // Beyond compiled code: every implicit writer of user-mode instructions.
  for (const char* hex : {"f6 e3",
                          "f7 e3",
                          "48 f7 e3",
                          "48 f7 eb",
                          "48 f7 f3",
                          "0f a2",
                          "0f 31",
                          "0f 01 f9",
                          "0f 01 d0",
                          "49 0f c7 f1",
                          "49 0f c7 f9",
                          "9f",
                          "98",
                          "48 98",
                          "99",
                          "48 99",
                          "a4",
                          "a5",
                          "a6",
                          "48 a7",
                          "aa",
                          "ac",
                          "ae",
                          "f3 a4",
                          "f3 a6",
                          "f2 ae",
                          "f3 ac",
                          "d7",
                          "0f b1 1f",
                          "48 0f c7 0f",
                          "0f c7 0f",
                          "0f c1 1f",
                          "c8 10 00 00",
                          "c8 10 00 02",
                          "c9",
                          "5c",
                          "54",
                          "58",
                          "66 58",
                          "9c",
                          "9d",
                          "66 0f 3a 61 c1 00",
                          "66 0f 3a 63 c1 00",
                          "c4 e2 f3 f6 d8",
                          "48 87 d8",
                          "86 e0",
                          "0f 01 ee",
                          "f3 48 0f ae c3",
                          "48 0f 1e c8",
                          "48 c1 e0 05",
                          "48 0f a4 d8 03",
                          "0f ae 1f",
                          "8c c0",
                          "0f 00 c0",
                          "48 8d 40 10",
                          "48 8d 04 80",
                          "8d 40 10",
                          "67 48 8d 40 10",
                          "48 83 c0 7f",
                          "48 81 e8 00 00 00 80",
                          "48 ff c0",
                          "48 ff c8",
                          "ff c0",
                          "04 03",
                          "48 05 00 00 00 80",
                          "8f 00",
                          "8f 44 24 08",
                          "ff 74 24 08",
                          "66 50",
                          "6a ff",
                          "f3 0f c7 f8",
                          "66 c9",
                          "66 c8 10 00 00",
                          "66 5c",
                          "48 0f c8",
                          "f3 48 0f b8 c3",
                          "c4 e2 78 f3 d8",
                          "e4 00",
                          "d6"}) {
    distinct.emplace(hex, fromHex(hex));
  }
  Bench bench;
  std::mt19937_64 random(1);
  size_t checked = 0, skipped = 0, defined = 0;
  for (const auto& [text, bytes] : distinct) {
    Flow flow;
    Instruction instruction;
    if (!decodeFlow(bytes, flow) || !decodeInstruction(bytes, kCodePage, instruction) || flow.endsBlock)
      continue;
    bench.code.write(bytes);
    for (int round = 0; round < 2; ++round) {
      user_regs_struct native = bench.initial;
      for (const uint8_t reg : kGeneral) setRegister(native, reg, random());
      for (const uint8_t reg : {kRegSi, kRegDi, kRegSp, kRegBp})
        setRegister(native, reg, kScratchMiddle + random() % 64 * 64);
      if (instruction.repeats) native.rcx = 3;
      if (text.rfind("f7", 0) == 0 || text.rfind("div", 0) == 0) native.rdx = 0;
      if (instruction.accesses && instruction.failure == Failure::none)
        aim(instruction.operand, kScratchMiddle, native);
      native.rip = kCodePage;
      native.orig_rax = ~0ull;
      bench.tracee.setRegisters(native);
      const Stop stop = bench.tracee.step();
      ASSERT_FALSE(stop.exited) << text;
      if (stop.signal != SIGTRAP) {
        ++skipped;
        continue;
      }
      ++checked;
      const Registers before = toRegisters(native), after = toRegisters(bench.tracee.registers());
      for (const uint8_t reg : kGeneral) {
        if (((instruction.written >> reg) & 1) == 0) {
          EXPECT_EQ(after.value[reg], before.value[reg])
              << text << ": writes " << registerName(reg) << " unnoticed";
        } else if (reg == instruction.definition.reg) {
          EXPECT_EQ(after.value[reg], valueOf(instruction.definition.value, before))
              << text << ": wrong value of " << registerName(reg);
          ++defined;
        }
      }
    }
  }
  std::printf("%zu steps over %zu distinct instructions checked, %zu values, %zu faulted\n", checked,
              distinct.size(), defined, skipped);
  EXPECT_GE(checked, 20000u);
  EXPECT_GE(defined, 10000u);
}

/// A stack machine: its switch becomes a jump table, whose targets no direct jump names.
[[gnu::noinline]] int64_t interpret(std::span<const uint8_t> program) {
  int64_t stack[64] = {1, 2, 3};
  size_t top = 3;
  for (const uint8_t op : program) {
    switch (op % 9) {
      case 0:
        stack[top] = op, ++top;
        break;
      case 1:
        stack[top - 2] += stack[top - 1], --top;
        break;
      case 2:
        stack[top - 1] ^= stack[top - 2];
        break;
      case 3:
        stack[top] = stack[top - 1], ++top;
        break;
      case 4:
        stack[top - 1] = stack[top - 1] * 31 + 7;
        [[fallthrough]];
      case 5:
        std::swap(stack[top - 1], stack[top - 2]);
        break;
      case 6:
        stack[top - 1] >>= 1;
        break;
      case 7:
        stack[top] = stack[top - 3], ++top;
        break;
      default:
        stack[0] += top;
        break;
    }
    if (top < 3) top = 3;
    if (top > 60) top = 30;
  }
  return stack[top - 1];
}

[[gnu::noinline]] void hash(std::span<const uint8_t> text, std::span<uint32_t> buckets) {
  const uint8_t* end = text.data() + text.size();
  for (const uint8_t* at = text.data(); at != end; ++at) buckets[(*at * 2654435761u) % buckets.size()] += *at;
}

[[gnu::noinline]] double multiply(std::span<const double> a, std::span<const double> b, size_t n) {
  double trace = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) trace += a[i * n + k] * b[k * n + i];
  }
  return trace;
}

/// Trees, sorting, strings, an interpreter, counters and floating point: code as compilers write it.
void workload() {
  std::mt19937 random(7);
  std::map<uint32_t, std::string> words;
  for (int i = 0; i < 60; ++i)
    words[static_cast<uint32_t>(random() % 50)].append(1 + random() % 20, static_cast<char>('a' + i % 26));
  std::vector<uint8_t> bytes;
  for (const auto& [key, value] : words) {
    for (const char c : value) bytes.push_back(static_cast<uint8_t>(c * (key + 1)));
  }
  std::vector<uint32_t> buckets(37);
  hash(bytes, buckets);
  int64_t sum = interpret(bytes);
  std::sort(bytes.begin(), bytes.end());
  std::stable_sort(buckets.begin(), buckets.end(), std::greater<>());
  std::vector<double> matrix(144);
  for (double& cell : matrix) cell = static_cast<double>(random() % 100);
  sum += static_cast<int64_t>(multiply(matrix, matrix, 12));
  std::unordered_map<int64_t, std::shared_ptr<std::vector<int>>> lists;
  for (int i = 0; i < 80; ++i) {
    auto& list = lists[(sum + i) % 13];
    if (!list) list = std::make_shared<std::vector<int>>();
    list->push_back(i);
  }
}

TEST(Live, PlansOfATraceNameTheAddressesThatWereTouched) {
  struct State {
    uint64_t ip;
    Registers registers;
  };
  const LoadedFunctions functions;
  Tracee tracee(workload);
  std::deque<State> history;  // newest last
  std::unordered_map<uint64_t, AccessPlan> plans;
  size_t steps = 0, agreed = 0, otherPath = 0, wrong = 0, clobbered = 0, folded = 0;
  while (steps < wantedSteps(150000)) {
    const user_regs_struct native = tracee.registers();
    const State now{native.rip, toRegisters(native)};
    const LoadedFunction* function = functions.find(now.ip);
    if (function != nullptr) {
      auto [entry, isNew] = plans.try_emplace(now.ip);
      if (isNew) entry->second = planAccess(function->code(), function->address, now.ip);
      const AccessPlan& plan = entry->second;
      ASSERT_NE(plan.failure, Failure::noInstruction) << std::hex << now.ip;
      if (plan.failure == Failure::clobbered) ++clobbered;
      if (plan.failure == Failure::none && plan.skid > 0 && plan.skid <= history.size()) {
        const State& then = history[history.size() - plan.skid];
        if (then.ip != plan.codeAddress) {
          ++otherPath;  // a block entered by a branch that no direct jump of the function shows
        } else {
          // The truth: the instruction's own operand, over the registers before it ran.
          const LoadedFunction* there = functions.find(then.ip);
          const size_t size = static_cast<size_t>(there->address + there->size - then.ip);
          const AccessPlan own = planAccess(there->code().last(size), then.ip, then.ip);
          uint64_t truth = 0, claimed = 0;
          ASSERT_TRUE(effectiveAddress(own.operand, then.registers, truth));
          ASSERT_TRUE(effectiveAddress(plan, now.registers, 0, claimed));
          if (own.operand != plan.operand || !plan.sums.empty()) ++folded;
          if (truth == claimed) {
            ++agreed;
          } else if (++wrong <= 10) {
            ADD_FAILURE() << std::hex << "ip 0x" << now.ip << " in " << function->name << ": "
                          << describe(plan) << ": touched 0x" << truth << ", claimed 0x" << claimed;
          }
        }
      }
    }
    if (history.empty() || history.back().ip != now.ip) history.push_back(now);
    if (history.size() > 256) history.pop_front();
    const Stop stop = tracee.step();
    ++steps;
    if (stop.exited) break;
    ASSERT_EQ(stop.signal, SIGTRAP);
  }
  std::printf(
      "%zu steps, %zu distinct instructions: %zu addresses agree (%zu through a folded register), %zu blocks "
      "entered "
      "otherwise, %zu clobbered\n",
      steps, plans.size(), agreed, folded, otherPath, clobbered);
  EXPECT_GE(agreed, 10000u);
  EXPECT_GE(folded, 100u);
  EXPECT_LE(otherPath, agreed / 100);
}

}  // namespace
}  // namespace cacheline::decode
