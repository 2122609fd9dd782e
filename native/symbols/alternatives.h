// What the kernel makes of its own code when it boots.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "symbols/elf_file.h"

namespace cacheline::symbols {

/// Private copies of sections with code, by their addresses.
using CodeCopies = std::map<uint64_t, std::vector<uint8_t>>;

/// Calls through a table of functions (`call *pv_ops+640`) never run as such: the kernel puts another
/// instruction there, such as `movb $0, (%rdi)`, which unlocks a spin lock. Those that `alternatives` lists
/// are written into `code`. All other alternatives touch the same memory or none, or depend on the processor.
/// `alternatives`: the section ".altinstructions", relocated; at `address`.
void applyAlternatives(Bytes alternatives, uint64_t address, CodeCopies& code);

}  // namespace cacheline::symbols
