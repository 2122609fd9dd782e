// What registers and the frame of a function hold on the ways that lead on from one place in it, by what they
// held there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "decode/frame.h"
#include "decode/instruction.h"
#include "decode/linear.h"

namespace cacheline::decode {

/// Names of values that are no sums: what an instruction leaves in a register, or found in the frame, and the
/// low bits of sums. The same low bits of the same sum have one name.
class ValueNames {
 public:
  using Value = LinearValues::Value;
  /// `code`: address of the instruction. What it makes behind the access has another name than before.
  uint32_t of(uint64_t code, uint8_t reg, bool isBefore);
  uint32_t ofLowBits(const Value& value, uint8_t bits, bool isSigned, uint8_t shift);
  /// Without extensions of what has so many bits: a name of low bits stands for all that are asked for.
  Value low(const Value& value, uint8_t bits);
  /// Whether a value is low bits of what has a name.
  bool isPartOf(const Value& value, uint32_t name) const;

 private:
  using Key = std::tuple<std::vector<std::pair<uint32_t, uint64_t>>, uint64_t, uint8_t, bool, uint8_t>;
  std::map<Key, uint32_t> known_;
  std::map<std::tuple<uint64_t, uint8_t, bool>, uint32_t> made_;
  struct Low {
    uint32_t name = 0;  ///< of which it is low bits
    uint8_t bits = 0;
  };
  std::map<uint32_t, Low> lows_;
  uint32_t next_ = kFirstStep;
};

/// What the calls of a function leave alone.
inline constexpr uint32_t kKeptByCalls = 1u << kRegBx | 1u << kRegBp | 1u << kRegSp | 1u << kRegR12 |
                                         1u << kRegR13 | 1u << kRegR14 |
                                         1u << kRegR15;  ///< System V ABI, "Registers"
inline constexpr uint32_t kKeptByGoCalls =
    1u << kRegBp | 1u << kRegSp | 1u << kRegR14;  ///< Go internal ABI: r14 is the goroutine

/// Follows instructions that are run one after the other; where ways meet, what differs is unknown. A slot of
/// the frame keeps its value until something may write it: a store of which it is not known that it goes
/// elsewhere, or, where an address in the frame was made, any store to unknown places, and any call.
class WayValues {
 public:
  using Value = LinearValues::Value;

  WayValues(const FrameUse& frame, uint32_t keptByCalls, ValueNames& names);
  /// `address`: the instruction's.
  void run(const Instruction& instruction, const Flow& flow, uint64_t address);
  /// Other code was run, in any order: `FrameUse::written` and its calls. The frame is where it was.
  void runOthers(uint64_t address);
  /// Behind the access, which was run last. What that left in registers and flags is what `derived()` tells
  /// of.
  void beginWays(const Instruction& access, uint64_t address);
  static constexpr uint8_t kLoaded = kRegNone - 1;  ///< in place of a register: what the access loaded
  /// The last instruction loaded what the access loads, whose address is `code`.
  void loadAgain(const Instruction& last, uint64_t code);
  std::optional<Value> addressOf(const MemoryOperand& operand) const;
  std::optional<Value> valueOf(const Sum& sum) const;
  std::optional<Value> valueOf(uint8_t reg) const { return registers_[reg]; }
  /// The low bits of a register, as ValueNames::low().
  std::optional<Value> valueOf(uint8_t reg, uint8_t bits) const {
    return registers_[reg] ? std::optional(names_->low(*registers_[reg], bits)) : std::nullopt;
  }
  /// What a slot of the frame holds.
  std::optional<Value> contentAt(const MemoryOperand& operand) const;
  bool isInFrame(const Value& address) const;
  /// Whether something holds any of the values that an address is made of.
  bool holdsPartOf(const Value& address) const;
  /// Registers (bit n: X86Register n) that hold what comes from the first load.
  uint32_t derived() const { return derived_; }
  bool flagsAreDerived() const { return flagsDerived_; }
  /// Takes another way to the same place. Whether that changed anything.
  bool meet(const WayValues& other);

 private:
  struct Slot {
    Value place;
    uint32_t width = 0;
    Value content;
    bool derived = false;
  };
  void addTo(Value& sum, uint8_t part, uint64_t factor, bool& known) const;
  static Value named(uint32_t name) { return {{{name, 1}}, 0}; }
  Value extended(const Value& value, uint8_t bits, bool isSigned, uint8_t shift) const;
  /// What is read of the frame, and whether it comes from the first load. Gets a name where nothing is known.
  const Slot* slotAt(const Value& place, uint32_t width, uint64_t address);
  void write(const Instruction& instruction, const std::optional<Value>& place);
  void call(uint64_t address);

  const FrameUse* frame_;  ///< outlives this
  uint32_t kept_;
  ValueNames* names_;
  bool isBefore_ = true;
  std::array<std::optional<Value>, kRegCount> registers_;
  std::vector<Slot> slots_;
  uint32_t derived_ = 0;
  bool flagsDerived_ = false;
};

}  // namespace cacheline::decode
