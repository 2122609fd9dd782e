// The questions about the types of one binary, from its path to JSON text.
#pragma once

#include <string>

#include "layouts/layout.h"

namespace cacheline::layouts {

/// All throw Error(unreadable), with a next step, where the binary cannot be read or has no debug information
/// (or none that this build of libdw opens). The shapes are those of extension/protocol/layout.ts: a list,
/// and in `missing` what was not found, where more may be.

/// {layouts, missing}, of each a Layout: several where types of different layout share the name; empty: no
/// such type. Throws too where the type is only declared there, or may be in a file that was not found.
std::string layoutsJson(const std::string& binary, const std::string& name, const LayoutOptions& options);
/// {types, missing}: a TypeSummary of each structure, class and union with a name.
std::string typesJson(const std::string& binary);
/// {declarations, missing}: a Declaration of all that is declared in one source file, with layouts.
std::string declarationsJson(const std::string& binary, const std::string& file,
                             const LayoutOptions& options);

}  // namespace cacheline::layouts
