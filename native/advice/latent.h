// Objects whose contention, or whose quiet, depends on where an allocator or a linker puts them.
#pragma once

#include <optional>

#include "advice/advice.h"
#include "advice/replay.h"
#include "analysis/subjects.h"

namespace cacheline::advice {

/// The accesses replayed with each object at every distance from a line's start that malloc() may give
/// (multiples of 16 bytes), on lines and on pairs of lines, as Predator's virtual lines (Liu et al., PPoPP
/// 2014): whether the objects of a subject share lines falsely with some placements and not with others.
/// `subject`: with members; empty where it is alike with all placements.
std::optional<Latent> latentOf(const analysis::Report& report, const analysis::Subjects& subjects,
                               uint32_t subject, const Replay& replay);

}  // namespace cacheline::advice
