// Why nobody can tell what a constant leads to.
#pragma once

#include <string>

#include "types/type_table.h"
#include "types/type_tracker.h"

namespace cacheline::analysis {

/// Between what nobody can tell; empty: no constant leads out of an object there.
std::string leadsOutText(const types::TypeTable& table, const types::LeadsOut& open);

}  // namespace cacheline::analysis
