// Runtimes that make code while a program runs.
#pragma once

#include <string_view>

namespace cacheline::analysis {

/// The runtime whose program or library the file at `path` is, by the file's name: "Java"; null where none is
/// known to have such a file.
const char* codeRuntime(std::string_view path);

}  // namespace cacheline::analysis
