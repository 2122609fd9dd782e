// Differential tests over real binaries: objdump's listing judges operands, block boundaries and the charged
// access.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/decode/code_bytes.h"
#include "tests/live/objdump_text.h"

namespace cacheline::decode {
namespace {

uint8_t registerNumber(const std::string& name) {
  for (uint8_t reg = 0; reg < kRegCount; ++reg) {
    if (name == registerName(reg)) return reg;
  }
  return kRegNone;
}

/// The judge's own reading of "rax+rbx*4-0x10". False where a part is no 64-bit register.
bool parseAddress(const ListedInstruction& listed, MemoryOperand& operand) {
  std::string text = listed.operand;
  uint64_t displacement = 0;
  for (size_t at = 0; at < text.size();) {
    const bool negative = text[at] == '-';
    if (text[at] == '+' || text[at] == '-') ++at;
    const size_t end = std::min(text.find_first_of("+-", at), text.size());
    const std::string term = text.substr(at, end - at);
    at = end;
    if (term.rfind("0x", 0) == 0) {
      const uint64_t value = std::strtoull(term.c_str(), nullptr, 16);
      displacement += negative ? 0 - value : value;
      continue;
    }
    const size_t star = term.find('*');
    const std::string name = term.substr(0, star);
    if (name == "riz" || name == "rip") continue;
    const uint8_t reg = registerNumber(name);
    if (reg == kRegNone) return false;
    if (star != std::string::npos) {
      operand.index = reg;
      operand.scale = static_cast<uint8_t>(term[star + 1] - '0');
    } else {
      operand.base = reg;
    }
  }
  operand.displacement = static_cast<int64_t>(listed.hasComment ? listed.comment : displacement);
  return true;
}

bool startsWith(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

bool isHint(const ListedInstruction& listed) {
  return listed.mnemonic == "lea" || startsWith(listed.mnemonic, "nop") ||
         startsWith(listed.mnemonic, "prefetch") || startsWith(listed.mnemonic, "clflush") ||
         listed.mnemonic == "clwb" || listed.mnemonic == "cldemote" || startsWith(listed.mnemonic, "bnd");
}

bool usesStack(const ListedInstruction& listed) {
  return startsWith(listed.mnemonic, "push") || startsWith(listed.mnemonic, "pop") ||
         listed.mnemonic == "call" || listed.mnemonic == "ret" || listed.mnemonic == "leave" ||
         listed.mnemonic == "enter";
}

/// popcnt starts with pop but is no stack instruction.
bool accessesMemory(const ListedInstruction& listed) {
  if (listed.memory) return !isHint(listed);
  return (usesStack(listed) && listed.mnemonic != "popcnt") || startsWith(listed.mnemonic, "xlat") ||
         startsWith(listed.mnemonic, "maskmov");
}

uint32_t widthOf(const std::string& size) {
  static const std::map<std::string, uint32_t> widths = {{"BYTE", 1},     {"WORD", 2},     {"DWORD", 4},
                                                         {"FWORD", 6},    {"QWORD", 8},    {"TBYTE", 10},
                                                         {"XMMWORD", 16}, {"YMMWORD", 32}, {"ZMMWORD", 64}};
  const auto found = widths.find(size);
  return found == widths.end() ? 0 : found->second;
}

/// Empty where objdump's text does not settle it.
std::string judgedKind(const ListedInstruction& listed) {
  static const std::set<std::string> updates = {"add", "sub", "and", "or",      "xor", "inc", "dec",
                                                "neg", "not", "shl", "shr",     "sar", "rol", "ror",
                                                "adc", "sbb", "bts", "cmpxchg", "xadd"};
  static const std::set<std::string> readsFirst = {"cmp", "test", "push", "call", "jmp", "mul",
                                                   "div", "idiv", "bt",   "fld",  "fild"};
  if (listed.mnemonic == "xchg") return "readWrite";
  if (listed.position > 0) return listed.mnemonic == "xadd" || listed.mnemonic == "cmpxchg" ? "" : "read";
  if (updates.count(listed.mnemonic) != 0) return "readWrite";
  if (readsFirst.count(listed.mnemonic) != 0) return "read";
  if (startsWith(listed.mnemonic, "mov") || startsWith(listed.mnemonic, "vmov") ||
      startsWith(listed.mnemonic, "set") || listed.mnemonic == "stos" || listed.mnemonic == "pop" ||
      startsWith(listed.mnemonic, "fst")) {
    return "write";
  }
  return {};
}

/// What the listing says about one explicit memory operand, against planAccess. Empty: they agree.
std::string disagreement(const ListedInstruction& listed) {
  const AccessPlan plan = planAccess(listed.bytes, listed.address, listed.address);
  const auto differs = [&](const std::string& judged) {
    return listed.text + ": objdump says " + judged + ", we say " + describe(plan);
  };
  if (isHint(listed)) return plan.failure == Failure::noMemoryOperand ? "" : differs("no access");
  if (listed.segment == "fs" || listed.segment == "gs") {
    return plan.failure == Failure::threadLocal ? "" : differs("thread-local");
  }
  MemoryOperand judged;
  const bool bitOffset = startsWith(listed.mnemonic, "bt") && listed.text.find(",0x") == std::string::npos;
  if (!parseAddress(listed, judged) || bitOffset || startsWith(listed.mnemonic, "xlat")) {
    return plan.failure == Failure::noMemoryOperand ? "" : differs("no single address");
  }
  if (plan.failure != Failure::none) return differs("an access");
  if (listed.mnemonic == "pop" && judged.base == kRegSp) judged.displacement += 8;
  const MemoryOperand& ours = plan.operand;
  // objdump writes [rax+rax*1] and [rax*1] where the encoding has a base or only an index of scale 1: same
  // address.
  if (ours.displacement != judged.displacement || ours.base != judged.base || ours.index != judged.index ||
      (judged.index != kRegNone && ours.scale != judged.scale)) {
    return differs(describe(judged));
  }
  const uint32_t width = widthOf(listed.size);
  if (width != 0 && ours.width != width) return differs(listed.size);
  constexpr std::array<const char*, 3> kinds = {"read", "write", "readWrite"};
  const std::string kind = judgedKind(listed);
  if (!kind.empty() && kind != kinds.at(static_cast<size_t>(ours.kind))) return differs(kind);
  const bool locked = listed.prefixes.find("lock ") != std::string::npos || listed.mnemonic == "xchg";
  return ours.locked == locked ? "" : differs(locked ? "locked" : "not locked");
}

TEST(Objdump, AgreesOnEveryMemoryOperand) {
  if (!haveObjdump()) GTEST_SKIP() << "objdump is not installed: apt-get install binutils";
  size_t compared = 0, hints = 0, wrong = 0;
  for (const std::string& path : judgedBinaries()) {
    const size_t enough = compared + 150000;
    listFunctions(path, [&](const ListedFunction& function) {
      for (const ListedInstruction& listed : function.instructions) {
        if (!listed.memory || listed.text.find("(bad)") != std::string::npos) continue;
        ++(isHint(listed) ? hints : compared);
        const std::string difference = disagreement(listed);
        if (!difference.empty() && ++wrong <= 20) ADD_FAILURE() << path << ": " << difference;
      }
      return wrong <= 20 && compared < enough;
    });
  }
  RecordProperty("compared", static_cast<int>(compared));
  std::printf("%zu memory operands and %zu address-only operands compared\n", compared, hints);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(compared, 50000u);
}

bool endsBlock(const ListedInstruction& listed) {
  static const std::set<std::string> ends = {"call", "ret", "syscall", "int3", "int1",   "int",   "hlt",
                                             "ud2",  "ud1", "ud0",     "iret", "xbegin", "xabort"};
  return listed.mnemonic[0] == 'j' || startsWith(listed.mnemonic, "loop") || ends.count(listed.mnemonic) != 0;
}

/// The rule of planAccess written over the listing: expected address of the charged instruction, per
/// instruction.
std::vector<uint64_t> judgedAccesses(const ListedFunction& function) {
  std::set<uint64_t> leaders;
  for (const ListedInstruction& listed : function.instructions) {
    if (listed.hasTarget) leaders.insert(listed.target);
  }
  std::vector<uint64_t> judged;
  const ListedInstruction* nearest = nullptr;
  size_t behind = 0;  // how many instructions
  for (const ListedInstruction& listed : function.instructions) {
    ++behind;
    const auto leader = leaders.lower_bound(listed.address);
    if (leader != leaders.end() && *leader < listed.address + listed.bytes.size()) nearest = nullptr;
    const bool repeats = startsWith(listed.prefixes, "rep") && listed.memory;
    const bool own = nearest == nullptr || behind > kMostSkid || repeats;
    judged.push_back(own ? listed.address : nearest->address);
    if (accessesMemory(listed)) {
      nearest = &listed;
      behind = 0;
    }
    if (endsBlock(listed)) nearest = nullptr;
  }
  return judged;
}

TEST(Objdump, AgreesOnTheChargedInstruction) {
  if (!haveObjdump()) GTEST_SKIP() << "objdump is not installed: apt-get install binutils";
  size_t compared = 0, functions = 0, wrong = 0;
  const std::vector<std::string> paths = judgedBinaries();
  for (size_t i = 0; i < std::min<size_t>(paths.size(), 3); ++i) {
    listFunctions(paths[i], [&](const ListedFunction& function) {
      std::vector<uint8_t> code;
      for (const ListedInstruction& listed : function.instructions) {
        code.insert(code.end(), listed.bytes.begin(), listed.bytes.end());
      }
      // The cost is quadratic in the function's size here only, where every instruction is asked for.
      if (function.hasBadBytes || code.size() > 2000) return true;
      if (++functions % 3 != 0) return true;
      const std::vector<uint64_t> judged = judgedAccesses(function);
      const uint64_t start = function.instructions.front().address;
      for (size_t n = 0; n < judged.size(); ++n) {
        const ListedInstruction& listed = function.instructions[n];
        const AccessPlan plan = planAccess(code, start, listed.address);
        ++compared;
        const bool decodes = plan.failure != Failure::noInstruction;
        if ((!decodes || plan.codeAddress != judged[n]) && ++wrong <= 20) {
          ADD_FAILURE() << paths[i] << ' ' << function.name << " at 0x" << std::hex << listed.address << ' '
                        << listed.text << ": judged 0x" << judged[n] << ", planned " << describe(plan);
        }
      }
      return wrong <= 20;
    });
  }
  std::printf("%zu instruction pointers compared\n", compared);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(compared, 20000u);
}

}  // namespace
}  // namespace cacheline::decode
