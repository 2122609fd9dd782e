// Text from foreign files in our JSON.
#pragma once

#include <string>
#include <string_view>

namespace cacheline::types {

/// `text` as UTF-8: bytes that are none become `?`.
std::string validText(std::string_view text);

}  // namespace cacheline::types
