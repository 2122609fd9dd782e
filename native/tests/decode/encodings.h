// The table of encodings: bytes and the access each instruction is.
#pragma once

#include <span>
#include <string_view>

#include "decode/access.h"

namespace cacheline::decode {

/// Where the table's instructions lie; rip-relative operands count from here.
inline constexpr int64_t kIp = 0x401000;

struct Encoding {
  std::string_view text, hex;
  AccessPlan expected;
};

std::span<const Encoding> encodings();

}  // namespace cacheline::decode
