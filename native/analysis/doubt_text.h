// Why nobody can tell what an instruction accesses.
#pragma once

#include <string>

#include "inference/type_propagation.h"
#include "types/type_table.h"

namespace cacheline::analysis {

/// Between what nobody can tell; empty: there is no doubt.
std::string doubtText(const types::TypeTable& table, const inference::Doubt& doubt);

}  // namespace cacheline::analysis
