// Sites: decoded once per sampled instruction.
#include "analysis/attribution.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/fall_through.h"
#include "decode/instruction.h"

namespace cacheline::analysis {

namespace {

constexpr int kSweeps = 16, kAgreeing = 12;

auto identity(const decode::AccessPlan& plan) {
  return std::tuple(plan.codeAddress, plan.failure, plan.operand.displacement, plan.operand.base,
                    plan.operand.index, plan.operand.scale, plan.operand.width, plan.operand.kind, plan.sums);
}

/// Start of the executable segment that holds `address`, or `address` itself where none does.
uint64_t segmentStart(const symbols::ElfImage& image, uint64_t address) {
  for (const symbols::Segment& segment : image.segments())
    if (segment.executable && address - segment.address < segment.fileSize) return segment.address;
  return address;
}

decode::AccessPlan planInPart(const symbols::ElfImage& image, uint64_t start, uint64_t ip) {
  const auto code = image.bytesAt(start, ip - start + decode::kLongestInstruction);
  return decode::planAccess({decode::CodeSweep(code, 0, decode::CodeSweep::Extent::part), code, start}, ip);
}

decode::AccessPlan planBySweeps(const symbols::ElfImage& image, uint64_t ip, uint64_t lowest) {
  using Agreeing = std::pair<int, decode::AccessPlan>;
  std::map<decltype(identity({})), Agreeing> plans;
  uint64_t first = ip - lowest > kWindow ? ip - kWindow : lowest;
  const std::string_view section = image.sectionAt(ip);
  if (!section.empty() && image.sectionAt(first) != section) {
    while (image.sectionAt(first) != section) ++first;  // ends at ip at the latest
    return planInPart(image, first, ip);
  }
  for (uint64_t start = first; start < first + kSweeps && start <= ip; ++start) {
    const decode::AccessPlan plan = planInPart(image, start, ip);
    if (plan.failure == decode::Failure::noInstruction) continue;
    Agreeing& agreeing = plans[identity(plan)];
    ++agreeing.first;
    agreeing.second = plan;
  }
  const auto best = std::max_element(plans.begin(), plans.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  if (best != plans.end() && best->second.first >= kAgreeing) return best->second.second;
  decode::AccessPlan none;
  none.codeAddress = ip;
  return none;
}

std::vector<decode::Companion> companionsAt(const symbols::ElfImage& image, const decode::AccessPlan& plan,
                                            Sweeps& sweeps) {
  if (plan.failure != decode::Failure::none) return {};
  const uint64_t access = plan.codeAddress;
  const auto function = functionAround(image, access);
  const auto sweep = function ? sweeps.find(function->address) : sweeps.end();
  if (sweep == sweeps.end() || access - function->address >= sweep->second.sweep.size())
    return decode::companionsOf(image.bytesAt(access, kWindow), access, access, access);
  const uint64_t start = sweep->second.sweep.blockStart(access - function->address);
  const decode::Code code = sweptCode(image, *function, access, sweeps);
  return decode::companionsOf(code, function->address + start, access);
}

/// Of the function around an access, unless it is too large.
std::optional<decode::Code> knownCode(const symbols::ElfImage& image, uint64_t access, Sweeps& sweeps) {
  const auto function = functionAround(image, access);
  if (!function || access - function->address >= kMaxSweep) return {};
  return sweptCode(image, *function, access, sweeps);
}

uint32_t keptByCalls(const symbols::ElfImage& image) {
  const bool isGo = image.section(".go.buildinfo").has_value();
  return isGo ? decode::kKeptByGoCalls : decode::kKeptByCalls;
}

}  // namespace

const decode::LaterWrites& Attribution::laterWrites(uint32_t index) {
  const CodeLocation& location = locations_[index];
  const uint64_t access = location.plan.codeAddress;
  const auto [known, isNew] = later_.try_emplace(Key{access, location.binary}, decode::LaterWrites{});
  decode::LaterWrites& later = known.value();
  if (!isNew || location.plan.failure != decode::Failure::none || location.writes()) return later;
  const symbols::ElfImage* image = binaries_.codeImage(location.binary);
  if (image == nullptr) return later;
  if (const auto code = knownCode(*image, access, sweeps_[location.binary]))
    later = decode::laterWrites(*code, access, keptByCalls(*image));
  return later;
}

std::shared_ptr<const decode::LockStep> Attribution::lockStep(uint32_t index) {
  const CodeLocation& location = locations_[index];
  const uint64_t access = location.plan.codeAddress;
  const auto [known, isNew] = lockSteps_.try_emplace(Key{access, location.binary}, nullptr);
  const symbols::ElfImage* image = isNew ? binaries_.codeImage(location.binary) : nullptr;
  if (image != nullptr && location.plan.failure == decode::Failure::none &&
      location.plan.operand.kind != decode::AccessKind::read)
    known.value() = lockStepAt(*image, access, sweeps_[location.binary]);
  return known.value();
}

std::shared_ptr<const decode::LockStep> lockStepAt(const symbols::ElfImage& image, uint64_t access,
                                                   Sweeps& sweeps) {
  const auto code = knownCode(image, access, sweeps);
  if (!code) return nullptr;
  return std::make_shared<const decode::LockStep>(decode::lockStep(*code, access, keptByCalls(image)));
}

decode::AccessPlan planAt(const symbols::ElfImage& image, uint64_t ip, Sweeps& sweeps) {
  const auto function = functionAround(image, ip);
  if (!function) return planBySweeps(image, ip, segmentStart(image, ip));
  if (ip - function->address >= kMaxSweep) return planBySweeps(image, ip, function->address);
  return decode::planAccess(sweptCode(image, *function, ip, sweeps), ip);
}

decode::AccessPlan planAt(const symbols::ElfImage& image, uint64_t ip) {
  Sweeps sweeps;
  return planAt(image, ip, sweeps);
}

std::optional<decode::Join> joinAt(const symbols::ElfImage& image, uint64_t ip, Sweeps& sweeps) {
  const auto function = functionAround(image, ip);
  if (!function || ip - function->address >= kMaxSweep) return {};
  const decode::Code code = sweptCode(image, *function, ip, sweeps);
  if (auto join = decode::planJoin(code, ip)) return join;
  const auto call = decode::callBefore(code, ip);
  if (!call) return {};
  const auto called = functionAround(image, call->target);
  if (!called || called->address != call->target) return {};
  const std::vector<decode::Instruction> behind = call->behind;
  return decode::planReturn(sweptCode(image, *called, call->target, sweeps), behind);
}

uint32_t Attribution::locationOf(const Mapping& code, const perfdata::Sample& sample) {
  const uint32_t binary = backings_.of(code.backing);
  if (binary == kNone) return kNone;
  binaries_.countSample(binary);
  const uint64_t fileOffset = code.fileOffset(sample.ip);
  const auto [it, added] =
      index_.try_emplace(Key{fileOffset, binary}, static_cast<uint32_t>(locations_.size()));
  if (added) add(binary, fileOffset, sample.ip);
  const CodeLocation& location = locations_[it->second];
  if (location.join == nullptr) return it->second;
  const uint64_t loadBias = sample.ip - (fileOffset + location.elfMinusFile);
  const auto way = wayTo(*location.join, seen_, sample, loadBias);
  return way && location.join->ways[*way].hasAccess() ? location.firstWay + static_cast<uint32_t>(*way)
                                                      : it->second;
}

void Attribution::add(uint32_t binary, uint64_t fileOffset, uint64_t ip) {
  CodeLocation& location = locations_.emplace_back();
  location.binary = binary;
  uint64_t elfAddress = 0;
  const symbols::ElfImage* image = binaries_.codeImage(binary);
  if (image == nullptr || !binaries_.elfAddress(binary, fileOffset, elfAddress)) return;  // noInstruction
  if (sweeps_.size() <= binary) sweeps_.resize(binary + size_t{1});
  location.plan = planAt(*image, elfAddress, sweeps_[binary]);
  location.elfMinusFile = elfAddress - fileOffset;
  location.codeAddress = ip - elfAddress + location.plan.codeAddress;
  location.companions = companionsAt(*image, location.plan, sweeps_[binary]);
  if (const auto function = functionAround(*image, elfAddress);
      function && elfAddress - function->address < kMaxSweep)
    location.storesAhead =
        decode::storesAhead(sweptCode(*image, *function, elfAddress, sweeps_[binary]), elfAddress);
  // Of a string operation itself one cannot tell whether it had begun.
  if (location.plan.skid != 0 || location.plan.operand.stringOperation) return;
  auto join = joinAt(*image, elfAddress, sweeps_[binary]);
  if (!join) return;
  CodeLocation before = location;
  location.firstWay = static_cast<uint32_t>(locations_.size());
  location.join = std::make_shared<const decode::Join>(std::move(*join));
  for (const auto ways = location.join; const decode::Way& way : ways->ways) {
    before.plan = way.before;
    before.codeAddress = ip - elfAddress + before.plan.codeAddress;
    before.companions = way.companions;
    locations_.push_back(before);
  }
}

bool Attribution::address(const CodeLocation& location, const Mapping& code, uint64_t ip,
                          const Registers& registers, uint64_t& address) const {
  const uint64_t bias = ip - (code.fileOffset(ip) + location.elfMinusFile);
  return decode::effectiveAddress(location.plan, registers, bias, address);
}

}  // namespace cacheline::analysis
