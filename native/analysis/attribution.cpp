// Sites: decoded once per sampled instruction.
#include "analysis/attribution.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace cacheline::analysis {

namespace {

constexpr uint64_t kLongestInstruction = 15;
constexpr int kSweeps = 16, kAgreeing = 12;

auto identity(const decode::AccessPlan& plan) {
  return std::tuple(plan.codeAddress, plan.failure, plan.operand.displacement, plan.operand.base,
                    plan.operand.index, plan.operand.scale, plan.operand.width, plan.operand.kind);
}

/// Start of the executable segment that holds `address`, or `address` itself where none does.
uint64_t segmentStart(const symbols::ElfImage& image, uint64_t address) {
  for (const symbols::Segment& segment : image.segments())
    if (segment.executable && address - segment.address < segment.fileSize) return segment.address;
  return address;
}

decode::AccessPlan planBySweeps(const symbols::ElfImage& image, uint64_t ip, uint64_t lowest) {
  using Votes = std::pair<int, decode::AccessPlan>;
  std::map<decltype(identity({})), Votes> votes;
  uint64_t first = ip - lowest > kWindow ? ip - kWindow : lowest;
  const std::string_view section = image.sectionAt(ip);
  if (!section.empty() && image.sectionAt(first) != section) {
    while (image.sectionAt(first) != section) ++first;  // ends at ip at the latest
    return decode::planAccess(image.bytesAt(first, ip - first + kLongestInstruction), first, ip);
  }
  for (uint64_t start = first; start < first + kSweeps && start <= ip; ++start) {
    const auto code = image.bytesAt(start, ip - start + kLongestInstruction);
    const decode::AccessPlan plan = decode::planAccess(code, start, ip);
    if (plan.failure == decode::Failure::noInstruction) continue;
    Votes& vote = votes[identity(plan)];
    ++vote.first;
    vote.second = plan;
  }
  const auto best = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  if (best != votes.end() && best->second.first >= kAgreeing) return best->second.second;
  decode::AccessPlan none;
  none.codeAddress = ip;
  return none;
}

}  // namespace

decode::AccessPlan planAt(const symbols::ElfImage& image, uint64_t ip) {
  const symbols::Symbol* function = image.functionAt(ip);
  if (function == nullptr) return planBySweeps(image, ip, segmentStart(image, ip));
  const uint64_t before = ip - function->address;
  if (before >= kMaxSweep) return planBySweeps(image, ip, function->address);
  // A branch after the IP can lead into its block, so the sweep goes on to the function's end. A symbol
  // without a size covers what follows it up to the next one.
  const uint64_t size =
      function->size > before ? std::min(function->size, kMaxSweep + kWindow) : before + kWindow;
  return decode::planAccess(image.bytesAt(function->address, size), function->address, ip);
}

uint32_t Attribution::siteOf(const Mapping& code, uint64_t ip) {
  if (known_.size() <= code.backing) {
    known_.resize(code.backing + 1, false);
    binaryOfBacking_.resize(code.backing + 1, kNone);
  }
  if (!known_[code.backing]) {
    known_[code.backing] = true;
    binaryOfBacking_[code.backing] = binaries_.of(spaces_.backing(code.backing));
  }
  const uint32_t binary = binaryOfBacking_[code.backing];
  if (binary == kNone) return kNone;
  binaries_.countSample(binary);
  const uint64_t fileOffset = code.fileOffset(ip);
  const auto [it, added] = index_.try_emplace(Key{fileOffset, binary}, static_cast<uint32_t>(sites_.size()));
  if (added) sites_.push_back(plan(binary, fileOffset, ip));
  return it->second;
}

Site Attribution::plan(uint32_t binary, uint64_t fileOffset, uint64_t ip) {
  Site site;
  site.binary = binary;
  uint64_t elfAddress = 0;
  const symbols::ElfImage* image = binaries_.codeImage(binary);
  if (image == nullptr || !binaries_.elfAddress(binary, fileOffset, elfAddress))
    return site;  // noInstruction
  site.plan = planAt(*image, elfAddress);
  site.elfMinusFile = elfAddress - fileOffset;
  site.codeAddress = ip - elfAddress + site.plan.codeAddress;
  return site;
}

bool Attribution::address(const Site& site, const Mapping& code, uint64_t ip, const Registers& registers,
                          uint64_t& address) const {
  if (!decode::effectiveAddress(site.plan.operand, registers, address)) return false;
  if (site.relative()) address += ip - (code.fileOffset(ip) + site.elfMinusFile);
  return true;
}

}  // namespace cacheline::analysis
