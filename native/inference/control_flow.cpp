// Jumps through tables lead where the table says, as long as its entries are instructions of the function.
#include "inference/control_flow.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace cacheline::inference {
namespace {

constexpr uint64_t kMostCode = 1 << 20;     // bytes of one function; longer ones are not followed
constexpr size_t kMostCases = 1 << 12;      // of one jump table
constexpr size_t kMostTableWays = 1 << 16;  // of all; further ones lead somewhere
constexpr size_t kFarthestTable = 1 << 10;  // instructions from where a table's address is loaded to the jump

using StepKind = decode::Step::Kind;

/// Reads where jumps through tables lead. By the text of the code alone: which way led there does not matter,
/// since an entry that is no instruction of the function ends the table.
class JumpTables {
 public:
  JumpTables(const symbols::ElfImage& image, const ControlFlow& flow) : image_(image), flow_(flow) {}

  /// Steps; empty: it is no such jump.
  std::vector<size_t> targetsOf(size_t jump) const {
    const decode::Step& step = flow_.steps[jump];
    if (isTable(step.memory)) return entriesOf<uint64_t>(step.memory);
    const auto made = lastWriteOf(step.source, jump);
    if (!made) return {};
    const decode::Step& maker = flow_.steps[*made];
    if (maker.kind == StepKind::load && isTable(maker.memory)) return entriesOf<uint64_t>(maker.memory);
    if (maker.kind != StepKind::addRegister) return {};
    for (const uint8_t reg : {maker.source, maker.target})
      if (const auto table = lastAddressIn(reg, *made))
        if (auto targets = entriesOf<int32_t>(flow_.steps[*table].memory); !targets.empty()) return targets;
    return {};
  }

 private:
  static bool isTable(const decode::StepMemory& memory) {
    return memory.base == kRegNone && memory.index != kRegNone && memory.scale == sizeof(uint64_t) &&
           !memory.thread;
  }

  /// Addresses, or distances from the table's start.
  template <typename Entry>
  std::vector<size_t> entriesOf(const decode::StepMemory& table) const {
    const auto start = static_cast<uint64_t>(table.displacement);
    const auto bytes = image_.bytesAt(start, kMostCases * sizeof(Entry));
    std::vector<size_t> targets;
    for (size_t at = 0; at + sizeof(Entry) <= bytes.size(); at += sizeof(Entry)) {
      Entry entry;
      std::memcpy(&entry, &bytes[at], sizeof entry);
      const size_t step = flow_.stepAt(std::is_signed_v<Entry> ? start + static_cast<uint64_t>(entry)
                                                               : static_cast<uint64_t>(entry));
      if (step == flow_.steps.size()) break;
      targets.push_back(step);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return targets;
  }

  /// In the straight line of code before a step.
  std::optional<size_t> lastWriteOf(uint8_t reg, size_t step) const {
    while (reg != kRegNone && step > 0) {
      const decode::Step& before = flow_.steps[--step];
      if (before.flow != decode::Step::Flow::next || before.kind == StepKind::call) break;
      if (((before.written >> reg) & 1) != 0) return step;
    }
    return std::nullopt;
  }

  /// Where a register got an address that the code states: maybe ahead of a loop.
  std::optional<size_t> lastAddressIn(uint8_t reg, size_t step) const {
    for (size_t far = 0; step > 0 && far < kFarthestTable; far++) {
      const decode::Step& before = flow_.steps[--step];
      if (before.kind == StepKind::address && before.target == reg && before.memory.base == kRegNone &&
          before.memory.index == kRegNone)
        return step;
    }
    return std::nullopt;
  }

  const symbols::ElfImage& image_;
  const ControlFlow& flow_;
};

}  // namespace

ControlFlow::ControlFlow(const symbols::ElfImage* image, const FunctionScopes& function) {
  if (image == nullptr || image->isDebugOnly()) return;
  auto ranges = function.ranges;
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  uint64_t bytes = 0;
  for (const CodeRange& range : ranges) {
    tooLong = range.high - range.low > kMostCode - bytes;
    if (tooLong) return;
    bytes += range.high - range.low;
  }
  for (const CodeRange& range : ranges) {
    const auto part = decode::decodeSteps(image->bytesAt(range.low, range.high - range.low), range.low);
    steps.insert(steps.end(), part.begin(), part.end());
  }
  if (steps.empty()) return;

  std::vector<std::pair<size_t, size_t>> ways;  // from step to step
  std::vector<bool> leads(steps.size() + 1, false), somewhere(steps.size(), false);
  leads[0] = true;
  const JumpTables tables(*image, *this);
  size_t cases = 0;
  for (size_t i = 0; i < steps.size(); i++) {
    const decode::Step& step = steps[i];
    const bool follows = i + 1 < steps.size() && steps[i + 1].address == step.address + step.length;
    const bool ends = step.flow != decode::Step::Flow::next || step.kind == StepKind::call;
    if (ends || !follows) leads[i + 1] = true;
    if (follows && (step.flow == decode::Step::Flow::next || step.flow == decode::Step::Flow::conditional))
      ways.emplace_back(i, i + 1);
    if (step.flow == decode::Step::Flow::jump || step.flow == decode::Step::Flow::conditional)
      if (const size_t to = stepAt(step.destination); to < steps.size()) ways.emplace_back(i, to);
    if (step.flow != decode::Step::Flow::ends || step.kind != StepKind::jumpThrough) continue;
    const std::vector<size_t> targets = cases < kMostTableWays ? tables.targetsOf(i) : std::vector<size_t>();
    cases += targets.size();
    somewhere[i] = targets.empty();
    for (const size_t to : targets) ways.emplace_back(i, to);
  }
  for (const auto& [from, to] : ways)
    if (to != from + 1) leads[to] = true;
  blocks.reserve(static_cast<size_t>(std::count(leads.begin(), leads.end() - 1, true)));
  for (size_t i = 0; i < steps.size(); i++)
    if (leads[i]) {
      if (!blocks.empty()) blocks.back().last = i;
      blocks.push_back({i, steps.size(), {}, false});
    }
  for (Block& block : blocks) block.leadsSomewhere = somewhere[block.last - 1];
  for (const auto& [from, to] : ways)
    if (leads[from + 1]) blocks[blockOf(from)].next.push_back(blockOf(to));
}

size_t ControlFlow::stepAt(uint64_t address) const {
  const auto found =
      std::lower_bound(steps.begin(), steps.end(), address,
                       [](const decode::Step& step, uint64_t at) { return step.address < at; });
  return found != steps.end() && found->address == address ? static_cast<size_t>(found - steps.begin())
                                                           : steps.size();
}

size_t ControlFlow::blockOf(size_t step) const {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), step,
                                      [](size_t at, const Block& block) { return at < block.first; });
  return static_cast<size_t>(after - blocks.begin()) - 1;
}

}  // namespace cacheline::inference
