// The access that a sample is charged to, by the registers behind the code that was run since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/access.h"
#include "decode/instruction.h"

namespace cacheline::decode {

/// The plan for a sample right behind `line`, which was run one instruction after the other, charged to the
/// access `line[access]`. Its address is carried over the instructions since, or recovered. `codeAddress`: of
/// the access.
AccessPlan chargeTo(std::span<const Instruction> line, size_t access, uint64_t codeAddress);
/// The same where the way to `line`, which begins at `address` of a function, is not known but what the
/// function did to its frame is.
AccessPlan chargeTo(const Code& code, uint64_t address, std::span<const Instruction> line, size_t access,
                    uint64_t codeAddress);

}  // namespace cacheline::decode
