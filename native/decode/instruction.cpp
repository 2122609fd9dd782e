// Zydis' operands, turned into accesses and register effects.
#include "decode/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>

#include "decode/condition.h"
#include "decode/zydis.h"

namespace cacheline::decode {
namespace {

using Operands = std::span<const ZydisDecodedOperand>;

/// Zydis numbers RAX RCX RDX RBX RSP RBP RSI RDI R8.. as the encoding does; perf numbers otherwise.
constexpr uint8_t kPerfRegister[16] = {kRegAx, kRegCx, kRegDx,  kRegBx,  kRegSp,  kRegBp,  kRegSi,  kRegDi,
                                       kRegR8, kRegR9, kRegR10, kRegR11, kRegR12, kRegR13, kRegR14, kRegR15};

/// Without semantic analysis: three times faster, and lengths, mnemonics and relative targets are all that is
/// needed.
const ZydisDecoder& flowDecoder() {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&d, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    return d;
  }();
  return decoder;
}

const ZydisDecoder& fullDecoder() {
  static const ZydisDecoder decoder = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return decoder;
}

bool reads(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}
bool writes(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}
bool isMemory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY;
}

bool isStringOperation(const ZydisDecodedInstruction& decoded) {
  return decoded.meta.category == ZYDIS_CATEGORY_STRINGOP ||
         decoded.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/// Locks take their word with one of these.
bool isSwapOrTestAndSet(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_XCHG:
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_CMPXCHG8B:
    case ZYDIS_MNEMONIC_CMPXCHG16B:
    case ZYDIS_MNEMONIC_BTS:
      return true;
    default:
      return false;
  }
}

bool isSum(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB || mnemonic == ZYDIS_MNEMONIC_INC ||
         mnemonic == ZYDIS_MNEMONIC_DEC;
}

/// Instructions that name memory without using its data: hints, cache control, monitoring.
bool isAddressOnly(const ZydisDecodedInstruction& decoded) {
  switch (decoded.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_MPX:
      return true;  // bound tables are no data, and no current processor runs them
    default:
      break;
  }
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_INVLPG:
      return true;
    default:
      return false;
  }
}

/// The operand to charge where there are two: not the stack slot (push [m], pop [m], call [m]), a write
/// before a read (movs, movdir64b), the first of two reads (cmps).
const ZydisDecodedOperand* chargedOperand(Operands operands) {
  const ZydisDecodedOperand* best = nullptr;
  const auto rank = [](const ZydisDecodedOperand& o) {
    return (isStackSlot(o) ? 0 : 2) + (writes(o) ? 1 : 0);
  };
  for (const ZydisDecodedOperand& operand : operands) {
    // AGEN (lea) and MIB operands only name an address.
    if (!isMemory(operand) || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
        operand.mem.type == ZYDIS_MEMOP_TYPE_MIB) {
      continue;
    }
    if (best == nullptr || rank(operand) > rank(*best)) best = &operand;
  }
  return best;
}

/// True where no single base + index * scale + displacement says what is touched.
bool isBeyondOneAddress(const ZydisDecodedInstruction& decoded, Operands operands,
                        const ZydisDecodedOperand& memory) {
  if (memory.mem.type == ZYDIS_MEMOP_TYPE_VSIB) return true;          // a lane each
  if (decoded.meta.category == ZYDIS_CATEGORY_AMX_TILE) return true;  // rows, a stride apart
  if (decoded.mnemonic == ZYDIS_MNEMONIC_XLAT) return true;           // rbx + al
  const bool bitTest = decoded.mnemonic == ZYDIS_MNEMONIC_BT || decoded.mnemonic == ZYDIS_MNEMONIC_BTS ||
                       decoded.mnemonic == ZYDIS_MNEMONIC_BTR || decoded.mnemonic == ZYDIS_MNEMONIC_BTC;
  // A register bit offset reaches beyond the operand, by offset / 8 bytes.
  return bitTest && operands.size() > 1 && operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/// Address parts of `memory`; false where they are not 64-bit registers.
bool setAddress(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& memory, uint64_t address,
                MemoryOperand& operand) {
  const auto& mem = memory.mem;
  uint64_t displacement = static_cast<uint64_t>(mem.disp.value);
  const bool ripRelative = mem.base == ZYDIS_REGISTER_RIP || mem.base == ZYDIS_REGISTER_EIP;
  if (ripRelative) {
    displacement += address + decoded.length;
  } else if (mem.base != ZYDIS_REGISTER_NONE) {
    operand.base = wholeRegister(mem.base);
    if (operand.base == kRegNone) return false;
  }
  if (mem.index != ZYDIS_REGISTER_NONE) {
    operand.index = wholeRegister(mem.index);
    if (operand.index == kRegNone) return false;
    operand.scale = std::max<uint8_t>(mem.scale, 1);
  }
  // With a 32-bit address size only an address without registers is known to need no truncation later.
  if (decoded.address_width == 32 && operand.base == kRegNone && !isStackSlot(memory))
    displacement &= 0xffffffff;
  const uint64_t width = memory.size / 8;
  // Zydis gives the stack slot as [rsp]: a write goes below the stack pointer.
  if (isStackSlot(memory) && writes(memory)) displacement -= width;
  // pop [rsp + n] computes its address after rsp was moved (Intel SDM, POP).
  if (decoded.mnemonic == ZYDIS_MNEMONIC_POP && !isStackSlot(memory) && operand.base == kRegSp) {
    displacement += width;
  }
  operand.displacement = static_cast<int64_t>(displacement);
  return true;
}

void setAccess(const ZydisDecodedInstruction& decoded, Operands operands, uint64_t address,
               Instruction& result) {
  if (isAddressOnly(decoded)) return;
  MemoryOperand& operand = result.operand;
  if (decoded.mnemonic ==
      ZYDIS_MNEMONIC_CLZERO) {  // Zydis names the register only; AMD APM vol. 3: zeroes its line
    result.accesses = true;
    operand.base = kRegAx;
    operand.kind = AccessKind::write;
    result.failure = Failure::none;
    return;
  }
  const ZydisDecodedOperand* memory = chargedOperand(operands);
  if (memory == nullptr) return;
  result.accesses = true;
  operand.kind = !writes(*memory) ? AccessKind::read
                 : reads(*memory) ? AccessKind::readWrite
                                  : AccessKind::write;
  operand.locked =
      (decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || decoded.mnemonic == ZYDIS_MNEMONIC_XCHG;
  operand.adds = operand.locked && isSum(decoded.mnemonic);
  operand.swaps = operand.locked && isSwapOrTestAndSet(decoded.mnemonic);
  operand.stringOperation = isStringOperation(decoded);
  const bool ofState =
      decoded.meta.category == ZYDIS_CATEGORY_XSAVE ||
      decoded.meta.category == ZYDIS_CATEGORY_XSAVEOPT;  // as large as edx:eax and xcr0 ask for
  operand.width = ofState ? 0 : memory->size / 8u;
  const bool single =
      !isBeyondOneAddress(decoded, operands, *memory) && setAddress(decoded, *memory, address, operand);
  if (memory->mem.segment == ZYDIS_REGISTER_FS || memory->mem.segment == ZYDIS_REGISTER_GS) {
    result.failure = Failure::threadLocal;
    using Segment = Instruction::Segment;
    if (single) result.segment = memory->mem.segment == ZYDIS_REGISTER_FS ? Segment::fs : Segment::gs;
  } else if (!single) {
    result.failure = Failure::noMemoryOperand;
  }
}

void setRegisterEffects(const ZydisDecodedInstruction& decoded, Operands operands, uint64_t address,
                        Instruction& result) {
  const auto mark = [&result](uint8_t reg) {
    if (reg != kRegNone) result.written |= 1u << reg;
  };
  const auto use = [&result](ZydisRegister reg) {
    if (const uint8_t used = enclosingRegister(reg); used != kRegNone) result.read |= 1u << used;
  };
  for (const ZydisDecodedOperand& operand : operands) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && reads(operand)) use(operand.reg.value);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      use(operand.mem.base);
      use(operand.mem.index);
    }
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && writes(operand)) {
      mark(enclosingRegister(operand.reg.value));
    } else if (isMemory(operand) && isStringOperation(decoded)) {
      // Zydis 4.0 leaves the pointer updates of cmps and scas out. The direction flag is no property of the
      // code, so they are not undone.
      mark(enclosingRegister(operand.mem.base));
    }
  }
  result.definition = definitionOf(decoded, operands, address);
  mark(result.definition.reg);
}

/// Control leaves the straight line here although nothing in the encoding is a relative target.
bool endsBlockWithoutTarget(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_ENCLU:
      return true;
    default:
      return false;
  }
}

/// Control never goes on behind it. System calls and interrupts return.
bool isLast(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return true;
    default:
      return false;
  }
}

bool isPause(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_PAUSE || mnemonic == ZYDIS_MNEMONIC_TPAUSE ||
         mnemonic == ZYDIS_MNEMONIC_UMWAIT;
}

Condition conditionOf(const ZydisDecodedInstruction& decoded) {
  if (decoded.mnemonic == ZYDIS_MNEMONIC_JMP) return kAlways;
  const bool isShort = decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && decoded.opcode >> 4 == 7;
  const bool isNear = decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && decoded.opcode >> 4 == 8;
  return isShort || isNear ? decoded.opcode & 0xf : kOutOfFlags;
}

}  // namespace

bool isStackSlot(const ZydisDecodedOperand& operand) {
  return isMemory(operand) && operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
         operand.mem.base == ZYDIS_REGISTER_RSP && operand.mem.segment == ZYDIS_REGISTER_SS;
}

uint8_t wholeRegister(ZydisRegister reg) {
  if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) return kRegNone;
  return kPerfRegister[reg - ZYDIS_REGISTER_RAX];
}

uint8_t enclosingRegister(ZydisRegister reg) {
  return wholeRegister(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

bool decodeFully(std::span<const uint8_t> bytes, ZydisDecodedInstruction& decoded,
                 ZydisDecodedOperand (&operands)[ZYDIS_MAX_OPERAND_COUNT]) {
  ZydisDecoderContext context;
  return ZYAN_SUCCESS(
             ZydisDecoderDecodeInstruction(&fullDecoder(), &context, bytes.data(), bytes.size(), &decoded)) &&
         ZYAN_SUCCESS(
             ZydisDecoderDecodeOperands(&fullDecoder(), &context, &decoded, operands, decoded.operand_count));
}

Flow flowOf(const ZydisDecodedInstruction& decoded) {
  Flow flow;
  flow.length = decoded.length;
  flow.hasTarget = decoded.raw.imm[0].is_relative != ZYAN_FALSE;
  flow.target = flow.hasTarget ? decoded.length + decoded.raw.imm[0].value.s : 0;
  flow.condition = conditionOf(decoded);
  flow.endsBlock = flow.hasTarget || endsBlockWithoutTarget(decoded.mnemonic);
  flow.falls = !isLast(decoded.mnemonic);
  flow.calls = decoded.mnemonic == ZYDIS_MNEMONIC_CALL;
  flow.returns = decoded.mnemonic == ZYDIS_MNEMONIC_RET;
  flow.pads = decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
  return flow;
}

bool decodeFlow(std::span<const uint8_t> bytes, Flow& flow) {
  ZydisDecodedInstruction decoded;
  const ZyanStatus status =
      ZydisDecoderDecodeInstruction(&flowDecoder(), nullptr, bytes.data(), bytes.size(), &decoded);
  if (!ZYAN_SUCCESS(status)) return false;
  flow = flowOf(decoded);
  return true;
}

bool decodeInstruction(std::span<const uint8_t> bytes, uint64_t address, Instruction& instruction) {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand storage[ZYDIS_MAX_OPERAND_COUNT];
  if (!decodeFully(bytes, decoded, storage)) return false;
  const Operands operands(storage, decoded.operand_count);
  instruction = {};
  instruction.length = decoded.length;
  instruction.repeats =
      isStringOperation(decoded) &&
      (decoded.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  instruction.pauses = isPause(decoded.mnemonic);
  const ZydisAccessedFlags* flags = decoded.cpu_flags;
  instruction.setsFlags =
      flags == nullptr || (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) != 0;
  instruction.readsFlags = flags == nullptr || flags->tested != 0;
  setAccess(decoded, operands, address, instruction);
  setRegisterEffects(decoded, operands, address, instruction);
  instruction.load = loadOf(decoded, operands);
  instruction.stored = storedBy(decoded, operands);
  return true;
}

}  // namespace cacheline::decode
