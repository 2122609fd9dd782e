// Where functions lie, by the unwind table that every binary keeps when its symbols are stripped.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/elf_image.h"

namespace cacheline::symbols {

/// The range of the unwind entry that covers `address`: a function, or its part elsewhere. Empty where there
/// is none, or .eh_frame_hdr is not of the one form that linkers write (32-bit offsets, sorted). Two dozen
/// reads at most; nothing is kept.
std::optional<Section> frameRange(const ElfImage& image, uint64_t address);

}  // namespace cacheline::symbols
