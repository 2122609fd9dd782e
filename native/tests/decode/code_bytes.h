// Instruction bytes and operands as the decoder's test tables write and print them.
#pragma once

#include <array>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "decode/access.h"

namespace cacheline::decode {

/// "f0 83 07 01" to bytes. Throws where it is not hex, so that a wrong table cannot pass.
inline std::vector<uint8_t> fromHex(std::string_view text) {
  std::vector<uint8_t> bytes;
  std::istringstream in{std::string(text)};
  for (std::string word; in >> word;) {
    size_t used = 0;
    const unsigned long value = std::stoul(word, &used, 16);
    if (used != word.size() || value > 0xff) throw std::invalid_argument("not a byte: " + word);
    bytes.push_back(static_cast<uint8_t>(value));
  }
  return bytes;
}

inline const char* failureName(Failure failure) {
  constexpr std::array<const char*, 5> names = {"none", "noInstruction", "noMemoryOperand", "clobbered",
                                                "threadLocal"};
  return names.at(static_cast<size_t>(failure));
}

inline const char* registerName(uint8_t reg) {
  constexpr std::array<const char*, kRegCount> names = {
      "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "flags", "cs",  "ss",
      "ds",  "es",  "fs",  "gs",  "r8",  "r9",  "r10", "r11", "r12", "r13",   "r14", "r15"};
  return reg < kRegCount ? names[reg] : "-";
}

inline std::string describe(const MemoryOperand& operand) {
  constexpr std::array<const char*, 3> kinds = {"read", "write", "readWrite"};
  std::ostringstream out;
  out << kinds.at(static_cast<size_t>(operand.kind)) << ' ' << operand.width << " bytes at ["
      << registerName(operand.base) << " + " << registerName(operand.index) << " * " << int{operand.scale}
      << " + " << operand.displacement << ']' << (operand.locked ? " locked" : "")
      << (operand.stringOperation ? " string" : "");
  return out.str();
}

/// "s32(rdx + -1) >> 3": what is extended from how many bits, unless it is all 64.
inline std::string describe(const Sum& sum) {
  std::ostringstream out;
  if (sum.bits != 64) out << (sum.isSigned ? 's' : 'u') << int{sum.bits};
  out << '(';
  for (const Sum::Term& term : sum.terms) {
    if (term.part == kRegNone) break;
    if (term.part == kCodeBias)
      out << "code";
    else if (term.part >= kFirstStep)
      out << '#' << term.part - kFirstStep;
    else
      out << registerName(term.part);
    out << " * " << static_cast<int64_t>(term.factor) << " + ";
  }
  out << static_cast<int64_t>(sum.constant) << ')';
  if (sum.shift != 0) out << " >> " << int{sum.shift};
  return out.str();
}

/// One line that names everything a test compares; the operand only where there is one.
inline std::string describe(const AccessPlan& plan) {
  std::ostringstream out;
  out << failureName(plan.failure) << " code 0x" << std::hex << plan.codeAddress << std::dec << " skid "
      << int{plan.skid};
  if (plan.failure == Failure::none) out << ' ' << describe(plan.operand);
  for (const Sum& sum : plan.sums) out << "; " << describe(sum);
  return out.str();
}

}  // namespace cacheline::decode
