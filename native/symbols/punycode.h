// Identifiers that are not ASCII, as ASCII (RFC 3492).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cacheline::symbols {

/// The text in UTF-8. `delimiter` is what the last of the ASCII characters is followed by. Nothing where it
/// is not Punycode, or longer than anybody's identifier.
std::optional<std::string> decodePunycode(std::string_view text, char delimiter);

}  // namespace cacheline::symbols
