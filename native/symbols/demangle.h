// Readable names of mangled symbols.
#pragma once

#include <string>
#include <string_view>

namespace cacheline::symbols {

/// A legacy Rust symbol (`_ZN...17h<16 hex digits>E`) without its hash and with its `$..$` escapes undone;
/// empty where `name` is not one.
std::string demangleRustLegacy(std::string_view name);

}  // namespace cacheline::symbols
