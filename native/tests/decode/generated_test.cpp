// Generated code, run step by step: every address that a plan claims is the one that the access had.
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <initializer_list>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "decode/join.h"
#include "tests/decode/code_bytes.h"
#include "tests/decode/tracee.h"

namespace cacheline::decode {
namespace {

constexpr uint8_t kRsp = 4;  ///< as instructions number it

/// Straight lines and jumps of the kinds that address computations are made of, and what must stop a search.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  /// Loops and branches, and ends with ud2. It calls what is at `callee` and jumps to what is at `part`,
  /// bytes from its beginning.
  std::vector<uint8_t> function(size_t callee, size_t part) {
    code_.clear();
    mayPush_ = true;
    starts_ = blocks(40, [&](size_t kind) {
      if (kind == 0)
        farJump({0xe8}, callee);
      else
        farJump({0x0f, static_cast<uint8_t>(0x80 + any(16))}, part);
    });
    bytes({0x0f, 0x0b});
    return code_;
  }
  /// What it jumps to: it jumps back, to anywhere in it.
  std::vector<uint8_t> part(size_t at) {
    code_.clear();
    blocks(12, [&](size_t kind) {
      if (kind == 0)
        farJump({0x0f, static_cast<uint8_t>(0x80 + any(16))}, starts_[any(starts_.size())] - at);
      else
        farJump({0xe9}, starts_[any(starts_.size())] - at);
    });
    farJump({0xe9}, starts_[any(starts_.size())] - at);
    return code_;
  }
  /// What it calls: returns anywhere, and leaves the stack alone.
  std::vector<uint8_t> callee() {
    code_.clear();
    mayPush_ = false;
    blocks(12, [&](size_t) { bytes({0xc3}); });
    bytes({0xc3});
    return code_;
  }

  /// Around the places where extensions and sums wrap.
  uint64_t value() {
    constexpr uint64_t kEdges[] = {0, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, ~uint64_t{0}};
    return any(2) == 0 ? random_() : kEdges[any(6)] + any(9) - 4;
  }

 private:
  /// Appends instructions and jumps between them; `leave` appends others, of two kinds. Where they start.
  std::vector<size_t> blocks(int instructions, const auto& leave) {
    std::vector<size_t> starts, jumps;
    for (int i = 0; i < instructions; ++i) {
      starts.push_back(code_.size());
      const size_t kind = any(100);
      if (kind < 10) {
        if (kind < 6) {
          const uint8_t left = reg(), right = any(3) == 0 ? left : reg();
          registers(static_cast<uint8_t>(any(2)), {static_cast<uint8_t>(any(2) == 0 ? 0x39 : 0x85)}, left,
                    right);
        }
        jumps.push_back(code_.size());
        bytes({static_cast<uint8_t>(kind < 2 ? 0xeb : 0x70 + (any(2) == 0 ? any(16) : 4 + any(2))), 0});
      } else if (kind < 14) {
        leave(kind % 2);
      } else {
        instruction();
      }
    }
    for (const size_t jump : jumps)
      for (;;) {
        const auto target = static_cast<int64_t>(starts[any(starts.size())]);
        const int64_t distance = target - static_cast<int64_t>(jump + 2);
        if (distance < -128 || distance > 127) continue;
        code_[jump + 1] = static_cast<uint8_t>(distance);
        break;
      }
    return starts;
  }

  void farJump(std::initializer_list<uint8_t> opcode, size_t target) {
    bytes(opcode);
    const auto distance = static_cast<uint32_t>(target - (code_.size() + 4));
    for (int byte = 0; byte < 4; ++byte) bytes({static_cast<uint8_t>(distance >> (8 * byte))});
  }
  size_t any(size_t count) { return random_() % count; }
  void bytes(std::initializer_list<uint8_t> more) { code_.insert(code_.end(), more); }
  uint8_t reg() {
    constexpr uint8_t kFew[] = {0, 1, 2, 3, 8, 15};  // values meet more often than among all of them
    return kFew[any(6)];
  }
  void immediate(int size) {
    for (int i = 0; i < size; ++i) code_.push_back(static_cast<uint8_t>(any(4) == 0 ? random_() : 1));
  }
  void registers(uint8_t wide, std::initializer_list<uint8_t> opcode, uint8_t middle, uint8_t rm) {
    bytes({static_cast<uint8_t>(0x40 | wide << 3 | middle >> 3 << 2 | rm >> 3)});
    bytes(opcode);
    bytes({static_cast<uint8_t>(0xc0 | (middle & 7) << 3 | (rm & 7))});
  }
  void memory(uint8_t wide, std::initializer_list<uint8_t> opcode, uint8_t middle) {
    const uint8_t base = reg();
    const uint8_t index = any(2) == 0 ? kRsp : reg();  // rsp: none
    bytes({static_cast<uint8_t>(0x40 | wide << 3 | middle >> 3 << 2 | index >> 3 << 1 | base >> 3)});
    bytes(opcode);
    bytes({static_cast<uint8_t>(0x84 | (middle & 7) << 3),
           static_cast<uint8_t>(any(4) << 6 | (index & 7) << 3 | (base & 7))});
    immediate(4);
  }

  /// A few places beside the stack pointer, which may overlap.
  void slot(uint8_t wide, uint8_t opcode, uint8_t middle) {
    bytes({static_cast<uint8_t>(0x40 | wide << 3 | middle >> 3 << 2), opcode,
           static_cast<uint8_t>(0x44 | (middle & 7) << 3), 0x24, static_cast<uint8_t>(4 * any(3))});
  }

  void instruction() {
    const auto wide = static_cast<uint8_t>(any(3) != 0);
    const uint8_t a = reg(), b = reg();
    switch (any(32)) {
      case 0:
      case 1:
      case 2:
        return registers(wide, {0x8b}, a, b);  // mov
      case 3:
      case 4:
        return registers(1, {0x63}, a, b);  // movsxd
      case 5:
        return registers(wide, {0x0f, static_cast<uint8_t>(0xb6 + any(2))}, a, b);  // movzx
      case 6:
        return registers(wide, {0x0f, static_cast<uint8_t>(0xbe + any(2))}, a, b);  // movsx
      case 7:
      case 8:
      case 9:
        return memory(wide, {0x8d}, a);  // lea
      case 10:
      case 11:
        return registers(wide, {static_cast<uint8_t>(any(2) == 0 ? 0x01 : 0x29)}, a, b);  // add, sub
      case 12:
      case 13:
        registers(wide, {0x83}, any(2) == 0 ? 0 : 5, b);  // add, sub
        return immediate(1);
      case 14:
        registers(wide, {0x81}, any(2) == 0 ? 0 : 5, b);
        return immediate(4);
      case 15:
        if (any(3) == 0) {
          registers(wide, {0x83}, 4, b);  // and
          return bytes({static_cast<uint8_t>((2 << any(7)) - 1)});
        }
        return registers(wide, {0xff}, static_cast<uint8_t>(any(2)), b);  // inc, dec
      case 16:
        registers(wide, {0xc1}, std::array<uint8_t, 3>{4, 5, 7}[any(3)], b);  // shl, shr, sar
        return immediate(1);
      case 17:
        return registers(wide, {0xf7}, static_cast<uint8_t>(2 + any(2)), b);  // not, neg
      case 18:
        return registers(wide, {static_cast<uint8_t>(any(2) == 0 ? 0x31 : 0x29)}, a, a);  // xor, sub: zero
      case 19:
        registers(wide, {0xc7}, 0, b);  // mov
        return immediate(4);
      case 20:
        registers(wide, {0x6b}, a, b);  // imul
        return immediate(1);
      case 21:
        switch (any(8)) {
          case 0:
            return registers(wide, {0x0f, 0x44}, a, b);  // cmove
          case 1:
            return registers(wide, {0x0f, 0x94}, 0, b);  // sete
          case 2:
            return registers(wide, {0x88}, a, b);  // mov of bytes
          case 3:
            bytes({0x66});
            return registers(0, {0x89}, a, b);  // mov of words
          case 4:
            return registers(wide, {0xf7}, 4, b);  // mul
          case 5:
            return bytes({0x48, 0x98});  // cdqe
          case 6:
            return registers(wide, {0x87}, a, b);  // xchg
          default:
            return registers(wide, {0x21}, a, b);  // and
        }
      case 22:
        return registers(wide, {static_cast<uint8_t>(any(2) == 0 ? 0x39 : 0x85)}, a, b);  // cmp, test
      case 23:
        if (!mayPush_) return bytes({0x90});                                   // nop
        if (any(2) == 0) return bytes({static_cast<uint8_t>(0x50 + any(4))});  // push
        return bytes({static_cast<uint8_t>(0x58 + any(4))});                   // pop
      case 24:
        bytes({static_cast<uint8_t>(0x48 | a >> 3 << 2), 0x8d, static_cast<uint8_t>(0x05 | (a & 7) << 3)});
        return immediate(4);  // lea of a global
      case 25:
        if (any(4) == 0) bytes({0xf0});
        return memory(wide, {0x01}, a);  // add, also locked
      case 26:
      case 27:
        if (mayPush_) return slot(wide, static_cast<uint8_t>(any(2) == 0 ? 0x89 : 0x8b), a);  // store, load
        return bytes({0x90});
      default:
        return memory(wide, {0x8b}, a);  // load
    }
  }

  std::mt19937_64 random_;
  std::vector<uint8_t> code_;
  std::vector<size_t> starts_;
  bool mayPush_ = true;
};

constexpr uint64_t kCodeAt = 0x2300'0000'0000, kStack = 0x2400'0000'0000;
constexpr size_t kStackSize = 1 << 16, kCallee = 2048, kPart = 3072;
// Addresses are planned as of another place than the code's, as a binary's are.
constexpr uint64_t kPlanned = 0x401000, kBias = kCodeAt - kPlanned;

/// A function, and what is planned for its instructions.
struct Planned {
  Planned(std::vector<uint8_t> itsBytes, uint64_t itsStart) : bytes(std::move(itsBytes)), start(itsStart) {}
  bool holds(uint64_t ip) const { return ip - start < bytes.size(); }
  Code code() const { return {sweep, bytes, start, parts}; }

  std::vector<uint8_t> bytes;
  uint64_t start = 0;
  CodeSweep sweep{bytes};
  std::vector<Code> parts = {};
  std::unordered_map<uint64_t, AccessPlan> plans;
  std::unordered_map<uint64_t, std::optional<Join>> joins;
};

/// As analysis::Attribution does.
std::optional<Join> joinFor(const Planned& function, const Planned& callee, uint64_t ip) {
  if (auto join = planJoin(function.code(), ip)) return join;
  const auto call = callBefore(function.code(), ip);
  if (!call) return {};
  EXPECT_EQ(call->target, callee.start);
  return planReturn(callee.code(), call->behind);
}

TEST(Generated, NoPlanClaimsAnotherAddress) {
  SharedPages pages(kCodeAt, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  const SharedPages stack(kStack, kStackSize, PROT_READ | PROT_WRITE);
  const Tracee tracee([] {});
  const user_regs_struct initial = tracee.registers();
  Generator generator(20);
  const size_t wanted = wantedSteps(60000);
  size_t steps = 0, agreed = 0, recovered = 0, clobbered = 0, joined = 0, open = 0, returned = 0, parted = 0;
  while (steps < wanted) {
    Planned function(generator.function(kCallee, kPart), kPlanned),
        part(generator.part(kPart), kPlanned + kPart);
    Planned callee(generator.callee(), kPlanned + kCallee);
    part.sweep = CodeSweep(part.bytes, 0, CodeSweep::Extent::part);
    std::vector<size_t> entries;
    for (const CodeSweep::Leaving& jump : part.sweep.leaving()) entries.push_back(kPart + jump.target);
    function.sweep.enterAt(entries);
    function.parts.push_back(part.code());
    std::vector<uint8_t> all(4096, 0x90);
    for (const Planned* each : {&function, &callee, &part})
      std::copy(each->bytes.begin(), each->bytes.end(),
                all.begin() + static_cast<ptrdiff_t>(each->start - kPlanned));
    pages.write(all);
    user_regs_struct native = initial;
    for (uint8_t reg = 0; reg < kRegCount; ++reg) setRegister(native, reg, generator.value());
    native.rsp = kStack + kStackSize / 2;
    native.rip = kCodeAt;
    native.orig_rax = ~0ull;
    uint64_t accessedBy = 0, accessed = 0;
    for (int i = 0; i < 120; ++i, ++steps) {
      const uint64_t ip = native.rip - kBias;
      if (!function.holds(ip + 2) && !callee.holds(ip) && !part.holds(ip)) break;
      Planned& running = callee.holds(ip) ? callee : part.holds(ip) ? part : function;
      Registers now = toRegisters(native);
      now.value[kRegFlags] = native.eflags;
      now.mask |= 1u << kRegFlags;
      Instruction instruction;
      Flow flow;
      const auto rest = std::span(running.bytes).subspan(ip - running.start);
      ASSERT_TRUE(decodeInstruction(rest, ip, instruction) && decodeFlow(rest, flow));
      const auto [entry, isNew] = running.plans.try_emplace(ip);
      if (isNew) entry->second = planAccess(running.code(), ip);
      AccessPlan plan = entry->second;
      if (plan.skid == 0) {
        const auto [known, added] = running.joins.try_emplace(ip);
        if (added) known->second = joinFor(running, callee, ip);
        const std::optional<Join>& join = known->second;
        const auto way = join ? wayTaken(*join, now, kBias) : std::nullopt;
        if (way) {
          // Of several accesses at one address, any may be the last one.
          ASSERT_TRUE(std::any_of(join->ways.begin(), join->ways.end(),
                                  [&](const Way& each) {
                                    return each.before.codeAddress == accessedBy &&
                                           !each.contradicts(now, kBias);
                                  }))
              << describe(join->ways[*way].before) << " at step " << steps;
          plan = join->ways[*way].before;
          ++joined;
          if (plan.failure == Failure::none && callee.holds(plan.codeAddress) && &running == &function)
            ++returned;
        }
        if (join && !way) ++open;
      } else if (plan.skid > 0) {
        ASSERT_EQ(plan.codeAddress, accessedBy) << describe(plan) << " at step " << steps;
      }
      if (part.holds(plan.codeAddress) && &running == &function) ++parted;
      if (plan.failure == Failure::clobbered) ++clobbered;
      if (plan.failure == Failure::none && plan.skid > 0) {
        uint64_t claimed = 0;
        ASSERT_TRUE(effectiveAddress(plan, now, kBias, claimed));
        ASSERT_EQ(claimed, accessed) << describe(plan) << " at step " << steps;
        ++agreed;
        if (!plan.sums.empty()) ++recovered;
      }
      bool runs = true;
      if (instruction.accesses) {
        uint64_t address = 0;
        ASSERT_TRUE(effectiveAddress(instruction.operand, now, address));
        if (instruction.operand.base == kRegNone && instruction.operand.index == kRegNone) address += kBias;
        runs = address - kStack < kStackSize;
        if (!flow.returns) {
          accessed = address;
          accessedBy = ip;
        }
      }
      if (runs) {
        tracee.setRegisters(native);
        const Stop stop = tracee.step();
        ASSERT_EQ(stop.signal, SIGTRAP);
        native = tracee.registers();
        native.orig_rax = ~0ull;
      } else {  // nothing is mapped there: it loads something
        for (uint8_t reg = 0; reg < kRegCount; ++reg)
          if (((instruction.written >> reg) & 1) != 0) setRegister(native, reg, generator.value());
        native.rip += instruction.length;
      }
    }
  }
  std::printf(
      "%zu steps: %zu addresses agree (%zu of sums), %zu clobbered; %zu joins decided (%zu returns, %zu of "
      "the "
      "part elsewhere), %zu open\n",
      steps, agreed, recovered, clobbered, joined, returned, parted, open);
  EXPECT_GE(recovered, steps / 150);
  EXPECT_GE(joined, steps / 100);
  EXPECT_GE(returned, steps / 10000);
  EXPECT_GE(parted, steps / 10000);
}

}  // namespace
}  // namespace cacheline::decode
