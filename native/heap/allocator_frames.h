// Which functions only pass an allocation on.
#pragma once

#include <string_view>

namespace cacheline::heap {

/// True for functions that belong to an allocator or to what the standard libraries of C, C++, Rust and Go
/// put before one: a block's origin is the first caller that is none. `function` is readable (demangled) or
/// raw, with or without parameters and template arguments; `object` is the file it is in, or empty.
bool isAllocatorFrame(std::string_view function, std::string_view object);

}  // namespace cacheline::heap
