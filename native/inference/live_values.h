// All that is known of one pair of access and sampled instruction before any sample's registers are seen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/access.h"
#include "decode/sum.h"
#include "inference/function_scopes.h"
#include "inference/type_propagation.h"

namespace cacheline::inference {

/// How the registers at the access follow from those at the sampled instruction.
struct RegistersBack {
  struct From {
    uint8_t reg = kRegNone;  ///< X86Register at the sampled instruction; kRegNone: overwritten since
    uint64_t delta = 0;
  };
  std::array<From, kRegCount> at;
  bool same = true;  ///< nothing changed
  Registers apply(const Registers& registers) const;
};
/// `access` and `ip` in the same straight line of code; where they are not, no register is known.
RegistersBack registersBack(const symbols::ElfImage& image, uint64_t access, uint64_t ip);

/// A variable that may be the accessed object or point to it.
struct Candidate {
  uint32_t variable = 0;                ///< index into FunctionScopes::variables
  uint32_t depth = 0;                   ///< inlined functions between it and the access
  bool isObject = false;                ///< lies in memory itself; else it holds a pointer
  types::TypeId type = types::kNoType;  ///< of the object
  uint64_t size = 0;                    ///< of the object, bytes
  uint8_t reg = kRegNone;    ///< the address is this register (of the sampled instruction) + offset
  bool addLoadBias = false;  ///< the address is one of the file
  uint64_t offset = 0;       ///< bytes
  bool moves = false;        ///< goes from one object to the next: what it points to is not the first of them
  uint64_t origin = 0;       ///< as AbstractValue::origin
};

/// A variable whose expression must be evaluated for each sample: split into pieces, computed.
struct GeneralCandidate {
  uint32_t variable = 0, depth = 0;
  const Expression* expression = nullptr;
  bool atAccess = false;  ///< by the registers at the access; else at the sampled instruction
};

/// What a pointer held that was loaded into a register, or added to one, from what still holds in a sample.
struct LoadedPointer {
  std::vector<decode::Sum> with, without;  ///< of the register behind the load; before it, where it adds
  std::optional<uint64_t> value(const Registers& registers, uint64_t loadBias) const;
};
/// By the code from the load's basic block on up to the sampled instruction, as it was run.
LoadedPointer loadedPointer(const symbols::ElfImage& image, const TypePropagation::Load& load, uint64_t ip);

struct LiveValues {
  std::vector<Candidate> candidates;
  std::vector<GeneralCandidate> general;
  RegistersBack back;
  Expression frameBaseAtAccess, frameBaseAtIp;
  const Expression* cfaAtAccess = nullptr;
  const Expression* cfaAtIp = nullptr;
  decode::MemoryOperand operand;  ///< of the accessing instruction, over the registers before it
  std::optional<TypePropagation::Operand> propagated;
  Doubt doubt;                               ///< why `propagated` is not known
  types::TypeId undefined = types::kNoType;  ///< a class without a definition that a variable there points to
  LoadedPointer array;                       ///< where `propagated` is an element of what a pointer leads to
  std::vector<Candidate>
      pointers;  ///< registers that type propagation knows, as candidates without a variable
};

/// `module` has an image.
LiveValues liveValuesAt(const symbols::ElfImage& image, const types::TypeTable& table, CallFrames& frames,
                        const FunctionScopes& function, uint64_t access, uint64_t ip);

}  // namespace cacheline::inference
