// Call chains by row.
#include "sharing/row_callers.h"

namespace cacheline::sharing {

namespace {

// In place of a caller that is not known: callerFrame() shows the address behind it, 0.
constexpr uint64_t kUnknown = ~uint64_t{0};

}  // namespace

void RowCallers::add(const analysis::AddressSpace& space, analysis::Position position,
                     const analysis::CodeLocation& location, const perfdata::Sample& sample, bool isGo) {
  frames_.clear();
  if (sample.userStack.empty()) {
    takeChain(space, sample, isGo);
  } else {
    addresses_.clear();
    unwinder_.unwind(space, sample.ip, sample.registers, sample.userStack, analysis::CallerTable::kMaxFrames,
                     addresses_);
    for (const uint64_t address : addresses_) frames_.push_back(callOf(space, address - 1));
  }
  if (frames_.empty()) return;
  const auto row = rows_.try_emplace(rowOf(position, location), static_cast<uint32_t>(rows_.size())).first;
  table_.add(row->second, frames_, false);
}

void RowCallers::takeChain(const analysis::AddressSpace& space, const perfdata::Sample& sample, bool isGo) {
  if (sample.callchain.empty()) return;
  const analysis::FrameChain chain =
      isGo ? analysis::FrameChain::whole : unwinder_.frameChainAt(space, sample.ip);
  if (chain != analysis::FrameChain::whole) frames_.push_back(callOf(space, kUnknown));
  if (chain == analysis::FrameChain::broken) return;
  analysis::CallerTable::eachCall(sample.callchain,
                                  [&](uint64_t address, bool) { frames_.push_back(callOf(space, address)); });
}

uint32_t RowCallers::callOf(const analysis::AddressSpace& space, uint64_t address) {
  const analysis::Mapping* code = space.find(address, space.codeHint);
  Call call{address, analysis::kNone};
  if (code != nullptr) {
    const uint32_t binary = backings_.of(code->backing);
    if (binary != analysis::kNone) call = {code->fileOffset(address), binary};
  }
  const auto [known, isNew] = callIndex_.try_emplace(call, static_cast<uint32_t>(calls_.size()));
  if (isNew) calls_.emplace_back(call, address);
  return known->second;
}

std::vector<analysis::Callers> RowCallers::of(analysis::Position position,
                                              const analysis::CodeLocation& location,
                                              analysis::CodeNames& names) const {
  const auto row = rows_.find(rowOf(position, location));
  if (row == rows_.end()) return {};
  const auto addressOf = [&](uint32_t frame) { return calls_[frame].second; };
  return table_.of(row->second, addressOf, [&](uint32_t frame) {
    const auto& [call, address] = calls_[frame];
    return callerFrame(address, *names.atOffset(call.binary, call.fileOffset));
  });
}

}  // namespace cacheline::sharing
