// Which source files are not the program's own.
#pragma once

#include <string_view>

namespace cacheline::c2c {

/// Where compilers and distributions keep headers and standard libraries, and package managers the sources of
/// others: an atomic's own line says nothing to the one who uses it. As extension/protocol/own-place.ts has
/// it.
bool isForeignSource(std::string_view file);

}  // namespace cacheline::c2c
