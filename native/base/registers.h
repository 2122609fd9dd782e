// A register snapshot as perf_event samples carry it.
#pragma once

#include <array>
#include <cstdint>

namespace cacheline {

/// x86-64 perf register numbers (linux asm/perf_regs.h): the index into Registers::value and the bit in a
/// sample mask.
enum X86Register : uint8_t {
  kRegAx = 0,
  kRegBx,
  kRegCx,
  kRegDx,
  kRegSi,
  kRegDi,
  kRegBp,
  kRegSp,
  kRegIp,
  kRegFlags,
  kRegCs,
  kRegSs,
  kRegDs,
  kRegEs,
  kRegFs,
  kRegGs,
  kRegR8,
  kRegR9,
  kRegR10,
  kRegR11,
  kRegR12,
  kRegR13,
  kRegR14,
  kRegR15,
  kRegCount,
  kRegNone = 0xff,
};

/// The registers the recorder asks for: everything but the data segment selectors, which x86-64 refuses.
inline constexpr uint64_t kX86SampleRegs =
    ((uint64_t{1} << kRegCount) - 1) &
    ~((1ull << kRegDs) | (1ull << kRegEs) | (1ull << kRegFs) | (1ull << kRegGs));

struct Registers {
  uint64_t mask = 0;  ///< bit n set: value[n] is known
  std::array<uint64_t, kRegCount> value{};
  bool has(uint8_t reg) const { return reg < kRegCount && ((mask >> reg) & 1) != 0; }
};

}  // namespace cacheline
