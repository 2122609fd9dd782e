// Which instruction made a trapped access.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/binaries.h"
#include "analysis/timeline.h"
#include "analysis/watch_log.h"
#include "base/hash.h"
#include "decode/trapped.h"

namespace cacheline::analysis {

/// The code behind a trap's instruction pointer.
struct TrappedCode {
  uint32_t binary = kNone;
  uint64_t elfIp = 0;
  bool known = false;  ///< `plan` and `elfIp` are
  decode::TrapPlan plan;
};

class TrapDecoder {
 public:
  /// References are kept.
  TrapDecoder(const Timeline& timeline, Binaries& binaries) : timeline_(timeline), binaries_(binaries) {}

  /// Null: nothing is mapped there. Good until the next call.
  const TrappedCode* codeOf(const AddressSpace& space, const WatchTrap& trap);
  /// The access of a trap at a word of `length` bytes, as far as it is known; `code`: codeOf() of it. A trap
  /// without registers is taken for the last one with them of its instruction and word.
  std::optional<decode::TrappedAccess> accessOf(const WatchLog& log, const WatchTrap& trap,
                                                const TrappedCode* code, uint32_t length);

 private:
  struct CodeKey {
    uint64_t fileOffset = 0;
    uint32_t backing = 0;
    bool operator==(const CodeKey&) const = default;
    size_t hash() const { return mix(fileOffset, backing); }
  };
  struct TrapKey {
    uint64_t ip = 0, address = 0;
    uint32_t pid = 0;
    bool operator==(const TrapKey&) const = default;
    size_t hash() const { return mix(mix(ip, address), pid); }
  };

  const Timeline& timeline_;
  Binaries& binaries_;
  HashMap<CodeKey, TrappedCode> code_;
  HashMap<TrapKey, std::optional<decode::TrappedAccess>> resolved_;
};

}  // namespace cacheline::analysis
