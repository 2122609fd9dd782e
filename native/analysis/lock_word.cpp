// Opcodes of lock words.
#include "analysis/lock_word.h"

#include <algorithm>
#include <array>

namespace cacheline::analysis {

namespace {

constexpr std::array<uint8_t, 11> kPrefixes = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                               0x66, 0x67, 0xf0, 0xf2, 0xf3};

struct ModRm {
  bool memory = false;
  uint8_t reg = 0;
};

ModRm modRm(std::span<const uint8_t> code, size_t at) {
  if (at >= code.size()) return {};
  return {.memory = (code[at] >> 6) != 3, .reg = static_cast<uint8_t>((code[at] >> 3) & 7)};
}

}  // namespace

bool isSwapOrTestAndSet(std::span<const uint8_t> code) {
  size_t at = 0;
  while (at < code.size() && std::find(kPrefixes.begin(), kPrefixes.end(), code[at]) != kPrefixes.end()) ++at;
  if (at < code.size() && (code[at] & 0xf0) == 0x40) ++at;  // REX
  if (at >= code.size()) return false;
  if (code[at] == 0x86 || code[at] == 0x87) return modRm(code, at + 1).memory;
  if (code[at] != 0x0f || at + 1 >= code.size()) return false;
  const uint8_t opcode = code[at + 1];
  const ModRm operand = modRm(code, at + 2);
  if (!operand.memory) return false;
  return opcode == 0xb0 || opcode == 0xb1 || opcode == 0xab || (opcode == 0xc7 && operand.reg == 1) ||
         (opcode == 0xba && operand.reg == 5);
}

}  // namespace cacheline::analysis
