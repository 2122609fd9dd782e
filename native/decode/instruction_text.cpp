// Zydis' formatter.
#include "decode/instruction_text.h"

#include <array>

#include "decode/zydis.h"

namespace cacheline::decode {
namespace {

const ZydisFormatter& formatter() {
  static const ZydisFormatter made = [] {
    ZydisFormatter f;
    ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT);
    constexpr std::array kPaddings{ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                                   ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
                                   ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING};
    for (const ZydisFormatterProperty padding : kPaddings)
      ZydisFormatterSetProperty(&f, padding, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    // Without it, `lock inc` of a RIP-relative operand does not say its width.
    ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
    return f;
  }();
  return made;
}

InstructionText byteText(uint8_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {1, std::string(".byte 0x") + kDigits[byte >> 4] + kDigits[byte & 15], {}};
}

}  // namespace

InstructionText instructionText(std::span<const uint8_t> bytes, uint64_t address) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  constexpr size_t kLongestText = 256;
  std::array<char, kLongestText> text;
  if (!decodeFully(bytes, decoded, operands) ||
      ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter(), &decoded, operands,
                                                  decoded.operand_count_visible, text.data(), text.size(),
                                                  address, nullptr)))
    return byteText(bytes.front());
  InstructionText result{decoded.length, text.data(), {}};
  if (const Flow flow = flowOf(decoded); flow.hasTarget)
    result.target = address + static_cast<uint64_t>(flow.target);
  return result;
}

}  // namespace cacheline::decode
