// Instructions before traps, each planned once.
#include "analysis/trapped_code.h"

#include <algorithm>

#include "analysis/attribution.h"

namespace cacheline::analysis {

const TrappedCode* TrapDecoder::codeOf(const AddressSpace& space, const WatchTrap& trap) {
  const Mapping* mapping = space.find(trap.ip, space.codeHint);
  if (mapping == nullptr) return nullptr;
  const uint64_t fileOffset = mapping->fileOffset(trap.ip);
  const auto [it, added] = code_.try_emplace(CodeKey{fileOffset, mapping->backing});
  TrappedCode& code = it.value();
  if (!added) return &code;
  code.binary = binaries_.of(timeline_.backing(mapping->backing));
  if (code.binary == kNone) return &code;
  const symbols::ElfImage* image = binaries_.codeImage(code.binary);
  if (image == nullptr || !binaries_.elfAddress(code.binary, fileOffset, code.elfIp)) return &code;
  code.known = true;
  const symbols::Symbol* function = image->functionAt(code.elfIp - 1);
  const uint64_t start = function != nullptr && code.elfIp - function->address < kMaxSweep
                             ? function->address
                             : code.elfIp - std::min(code.elfIp, kWindow);
  const uint64_t size = std::max(function == nullptr ? 0 : function->size, code.elfIp - start + kWindow);
  code.plan = decode::planTrap(image->bytesAt(start, std::min(size, kMaxSweep)), start, code.elfIp);
  return &code;
}

std::optional<decode::TrappedAccess> TrapDecoder::accessOf(const WatchLog& log, const WatchTrap& trap,
                                                           const TrappedCode* code, uint32_t length) {
  std::optional<decode::TrappedAccess>& access = resolved_[TrapKey{trap.ip, trap.address, trap.pid}];
  if (code != nullptr && code->known && trap.registers != kNone)
    access = decode::trappedAccess(code->plan, log.registers[trap.registers], trap.address, length,
                                   trap.ip - code->elfIp);
  return access;
}

}  // namespace cacheline::analysis
