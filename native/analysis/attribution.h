// From a sampled instruction pointer to the access it is charged to: binary, function bytes, decoded plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/function_code.h"
#include "analysis/seen_code.h"
#include "analysis/timeline.h"
#include "base/hash.h"
#include "decode/access.h"
#include "decode/companions.h"
#include "decode/join.h"
#include "decode/later_writes.h"
#include "decode/lock_step.h"

namespace cacheline::analysis {

/// One sampled instruction of one binary. Depends on the code only; processes share it.
struct CodeLocation {
  decode::AccessPlan plan;  ///< code addresses are the binary's own (ELF) ones
  uint32_t binary = kNone;
  uint64_t codeAddress = 0;                   ///< of the access in the process where it was first seen
  std::vector<decode::Companion> companions;  ///< of the access
  /// What is stored next by who is sampled there, by the sample's registers.
  std::vector<decode::MemoryOperand> storesAhead;
  uint64_t elfMinusFile = 0;                 ///< ELF address - file offset, in the segment of the code
  std::shared_ptr<const decode::Join> join;  ///< where the sampled instruction is one
  uint32_t firstWay = kNone;  ///< the location of those who came by its first way; the others follow
  bool reads() const { return plan.operand.kind != decode::AccessKind::write; }
  /// Whether who is sampled there writes the place: also with another instruction, as x = x + 1 is.
  bool writes() const {
    return plan.operand.kind != decode::AccessKind::read ||
           std::ranges::any_of(companions, [](const auto& each) { return each.delta == 0 && each.writes; });
  }
};

class Attribution {
 public:
  /// `seen`: of the whole recording.
  Attribution(Binaries& binaries, const Timeline& timeline, const SeenCode& seen)
      : binaries_(binaries), backings_(binaries, timeline), seen_(seen) {}

  /// Index of the location of a sample, or kNone where no binary is mapped there. One hash look-up.
  uint32_t locationOf(const Mapping& code, const perfdata::Sample& sample);
  const CodeLocation& operator[](uint32_t location) const { return locations_[location]; }
  uint32_t size() const { return static_cast<uint32_t>(locations_.size()); }
  /// What the function of a location's access, a read, stores there later; decoded when it is first asked
  /// for.
  const decode::LaterWrites& laterWrites(uint32_t location);
  /// The same of what it does to a word that threads may take; null: it does not write, or nothing is known.
  std::shared_ptr<const decode::LockStep> lockStep(uint32_t location);
  /// Effective address of a planned access; false where a register of it is not in the snapshot.
  bool address(const CodeLocation& location, const Mapping& code, uint64_t ip, const Registers& registers,
               uint64_t& address) const;

 private:
  struct Key {
    uint64_t fileOffset = 0;
    uint32_t binary = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(fileOffset, binary); }
  };
  void add(uint32_t binary, uint64_t fileOffset, uint64_t ip);

  Binaries& binaries_;
  BackingBinaries backings_;
  const SeenCode& seen_;
  HashMap<Key, uint32_t> index_;
  std::vector<CodeLocation> locations_;
  std::vector<Sweeps> sweeps_;  ///< by binary
  /// By the access: its address instead of the offset.
  HashMap<Key, decode::LaterWrites> later_;
  HashMap<Key, std::shared_ptr<const decode::LockStep>> lockSteps_;
};

/// The plan for `ip` (an ELF address). The sweep starts at the function symbol that covers it, or at the
/// start of its entry for unwinding (stripped binary). Without either, or in functions larger than kMaxSweep
/// bytes, it starts at the section's start where that is at most kWindow bytes before; else sweeps start at
/// sixteen consecutive bytes kWindow bytes before: x86 code decoded from a wrong start falls into step after
/// a few instructions, so where at least twelve of them reach `ip` and agree on the access, it is taken; else
/// Failure::noInstruction.
decode::AccessPlan planAt(const symbols::ElfImage& image, uint64_t ip);
/// The same where more is asked of the binary.
decode::AccessPlan planAt(const symbols::ElfImage& image, uint64_t ip, Sweeps& sweeps);

/// What the instruction at `access` does to a word that threads may take; null where its function is not
/// known.
std::shared_ptr<const decode::LockStep> lockStepAt(const symbols::ElfImage& image, uint64_t access,
                                                   Sweeps& sweeps);

/// The join at `ip`, or behind the call before it, where the function is known and small enough to be swept.
std::optional<decode::Join> joinAt(const symbols::ElfImage& image, uint64_t ip, Sweeps& sweeps);

}  // namespace cacheline::analysis
