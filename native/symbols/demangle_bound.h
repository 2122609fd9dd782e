// How long the readable form of a mangled C++ name can become, before anybody makes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace cacheline::symbols {

/// An upper bound of the demangled length in bytes, UINT64_MAX where it is huge or cannot be told. Back
/// references let a name of 200 bytes stand for one of megabytes, and the runtime's demangler has no limit.
/// Grammar: Itanium C++ ABI, "Name Mangling". Expressions are the part that is not followed; names with them
/// get a bound by the number of their back references.
uint64_t demangledSizeBound(std::string_view mangled);

}  // namespace cacheline::symbols
