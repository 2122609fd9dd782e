// The members of a type in the order in which they lie.
#pragma once

#include "types/type.h"

namespace cacheline::types {

/// Puts members into the order of their offsets, and gives incomplete ones their room.
void sortMembers(Type& type);

}  // namespace cacheline::types
