// One linear sweep, and the ways from one straight piece of code to the next.
#include "decode/code_sweep.h"

#include <algorithm>

#include "decode/instruction.h"

namespace cacheline::decode {

CodeSweep::CodeSweep(std::span<const uint8_t> code, size_t from, Extent extent)
    : starts_(code.size()), runs_(code.size()), targets_(code.size()), whole_(extent == Extent::function) {
  bool isRun = true;  // begins here
  for (size_t at = from; at < code.size();) {
    starts_[at] = true;
    if (isRun) runs_[at] = true;
    Flow flow;
    const bool decoded = decodeFlow(code.subspan(at), flow);
    if (decoded) note(static_cast<uint32_t>(at), flow);
    at += decoded ? flow.length : 1;
    isRun = !decoded || flow.endsBlock;
  }
  std::sort(jumps_.begin(), jumps_.end());
  closed_ =
      whole_ && indirect_.empty() &&
      std::none_of(leaving_.begin(), leaving_.end(), [](const Leaving& jump) { return jump.conditional; });
}

void CodeSweep::note(uint32_t at, const Flow& flow) {
  const size_t target = at + static_cast<uint64_t>(flow.target);  // wraps far outside where it is before
  if (flow.returns) returns_.push_back(at);
  calls_ |= flow.calls;
  if (flow.condition == kAlways && !flow.hasTarget) indirect_.push_back(at);
  if (!flow.hasTarget) return;
  if (target < size()) {
    targets_[target] = true;
    jumps_.push_back({static_cast<uint32_t>(target), at});
  } else if (!flow.calls) {
    leaving_.push_back({target, at, flow.condition != kAlways});
  }
}

void CodeSweep::enterAt(std::span<const size_t> offsets) {
  for (const size_t offset : offsets) targets_[offset] = true;
  closed_ = whole_ && indirect_.empty();
}

std::optional<size_t> CodeSweep::instructionBefore(std::span<const uint8_t> code, size_t offset) const {
  const size_t lowest = offset > kLongestInstruction ? offset - kLongestInstruction : 0;
  for (size_t at = offset; at-- > lowest;) {
    if (!starts_[at]) continue;
    Flow flow;
    if (!decodeFlow(code.subspan(at), flow) || at + flow.length != offset) return {};
    return at;
  }
  return {};
}

std::span<const CodeSweep::Jump> CodeSweep::jumpsTo(size_t offset) const {
  const auto target = static_cast<uint32_t>(offset);
  const auto first = std::lower_bound(jumps_.begin(), jumps_.end(), Jump{target, 0});
  return {first, std::lower_bound(first, jumps_.end(), Jump{target + 1, 0})};
}

std::optional<size_t> CodeSweep::lastUpTo(const Marks& marks, size_t offset) {
  for (size_t at = offset + 1; at-- > 0;)
    if (marks[at]) return at;
  return std::nullopt;
}

}  // namespace cacheline::decode
