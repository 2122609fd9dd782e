// Which functions only pass an allocation on.
#pragma once

#include <cstdint>
#include <string_view>

namespace cacheline::heap {

/// What a frame of an allocation's call chain is to the question who asked for the block.
enum class FrameKind : uint8_t {
  allocator,  ///< allocates, or lies in a shared object of the C or C++ runtime
  library,    ///< code of a standard library (C++, Rust, Go) in a binary of the program
  program
};

/// A block's origin is the innermost frame of the program. Where there is none (the program's own functions
/// were inlined, and nothing says so), it is the outermost of a library: that is what the program called.
/// `function` is readable, with or without parameters and template arguments; `file` has the frame's line and
/// `object` is the binary; both may be empty.
FrameKind frameKind(std::string_view function, std::string_view file, std::string_view object);

}  // namespace cacheline::heap
