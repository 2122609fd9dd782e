// Ways are told by the flags, by comparisons and by the values that they leave in registers.
#include "decode/join.h"

#include <algorithm>

#include "decode/charge.h"
#include "decode/slice.h"

namespace cacheline::decode {
namespace {

constexpr size_t kMostWays = 64;  // of more, some is hardly ever ruled out

/// Whether the last instruction may be locked: it has the prefix, or is an xchg.
bool mayEndLocked(std::span<const uint8_t> code) {
  const auto last = code.last(std::min(code.size(), kLongestInstruction));
  return std::any_of(last.begin(), last.end(),
                     [](uint8_t byte) { return byte == 0xf0 || (byte | 1) == 0x87; });
}

/// Whether a locked access falls into the target of a jump.
bool isBehindLocked(const Code& code, size_t offset) {
  if (!code.sweep.isTarget(offset) || !mayEndLocked(code.bytes.first(offset))) return false;
  const auto before = code.sweep.instructionBefore(code.bytes, offset);
  Instruction last;
  return before && decodeInstruction(code.bytes.subspan(*before), code.start + *before, last) &&
         last.accesses && last.operand.locked;
}

std::vector<Setting> settingsOf(std::span<const Instruction> line) {
  std::vector<Setting> settings;
  uint32_t written = 0;
  for (size_t at = line.size(); at-- > 0; written |= line[at].written) {
    const auto& [reg, value] = line[at].definition;
    if (reg == kRegNone || ((written >> reg) & 1) != 0) continue;
    std::vector<Sum> sums = recover(line, at, value);
    Sum itself;
    itself.add(reg, 1);
    if (!sums.empty() && sums != std::vector{itself}) settings.push_back({reg, std::move(sums)});
  }
  return settings;
}

/// `line`: the path's, and what was run behind it.
void addTurns(const Path& path, std::span<const Instruction> line, Way& way) {
  uint32_t written = 0;
  bool flagsAreTheirs = true;
  size_t at = line.size();
  for (auto turn = path.turns.rbegin(); turn != path.turns.rend(); ++turn) {
    for (; at > turn->jump; --at) {
      written |= line[at - 1].written;
      flagsAreTheirs = flagsAreTheirs && !line[at - 1].setsFlags;
    }
    if (flagsAreTheirs) way.conditions.push_back(turn->condition);
    const auto& comparison = turn->comparison;
    if (comparison && !comparison->uses(written)) way.demands.push_back({*comparison, turn->condition});
  }
}

/// `behind`: what was run behind the path. `ahead`: what is run from there on, at `address`.
Way wayBy(const Code& code, const Path& path, std::span<const Instruction> behind,
          std::span<const uint8_t> ahead, uint64_t address) {
  Way way;
  way.before.failure = Failure::noMemoryOperand;
  std::vector<Instruction> line = path.line;
  line.insert(line.end(), behind.begin(), behind.end());
  addTurns(path, line, way);
  // Where a table of jumps may lead into the path, not all of it need have been run.
  if (code.sweep.closed()) way.settings = settingsOf(line);
  if (path.access) {
    const size_t from = code.sweep.closed() ? 0 : *path.access;
    const auto run = std::span(line).subspan(from);
    const uint64_t charged = path.addresses[*path.access];
    way.before = code.sweep.closed() ? chargeTo(code, path.addresses.front(), run, *path.access, charged)
                                     : chargeTo(run, 0, charged);
    way.companions = companionsAlong(run, *path.access - from, ahead, address);
  }
  return way;
}

/// Where samples of who comes by a path to a join are. `straight`: where the code that falls into it begins.
void setPlace(const Path& path, uint64_t straight, Way& way) {
  if (path.pieces.size() < 2) return;
  const Piece& last = path.pieces[1];  // behind it is nothing but the join
  const Code& code = *last.code;
  way.from = code.start + code.sweep.runStart(last.last);
  way.at = code.start + last.last;
  way.skips = last.jumps && last.condition < kAlways && code.start + last.end == straight;
  if (path.access && path.addresses[*path.access] - way.from < way.at - way.from) {
    const uint64_t next = path.addresses[*path.access] + path.line[*path.access].length;
    // A comparison and its jump are one to the processor, an access and its jump may be.
    if (last.jumps ? next < way.at : next <= way.at) way.behindFrom = next, way.behindTo = way.at + 1;
  }
  for (size_t i = 0; i < path.line.size(); ++i)
    way.locked |=
        path.line[i].operand.locked && path.addresses[i] - (code.start + last.from) < last.end - last.from;
}

bool anyHasAccess(const Join& join) {
  return std::any_of(join.ways.begin(), join.ways.end(), [](const Way& way) { return way.hasAccess(); });
}

}  // namespace

bool Way::contradicts(const Registers& registers, uint64_t bias) const {
  if (registers.has(kRegFlags) &&
      !std::all_of(conditions.begin(), conditions.end(),
                   [&](Condition condition) { return mayHold(condition, registers.value[kRegFlags]); }))
    return true;
  if (std::any_of(demands.begin(), demands.end(), [&](const Demand& demand) {
        const auto flags = demand.comparison.flags(registers);
        return flags && !mayHold(demand.condition, *flags);
      }))
    return true;
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
    const auto value = evaluate(setting.sums, registers, bias);
    return value && registers.has(setting.reg) && *value != registers.value[setting.reg];
  });
}

std::optional<Join> planJoin(const Code& code, uint64_t ip) {
  const uint64_t offset = ip - code.start;
  if (offset >= code.bytes.size() || !code.sweep.startsAt(offset)) return {};
  Join join;
  join.behindLocked = isBehindLocked(code, offset);
  Instruction own;
  if (!join.behindLocked &&
      (!code.sweep.closed() || !decodeInstruction(code.bytes.subspan(offset), ip, own) || own.accesses))
    return {};
  const size_t block = code.sweep.blockStart(offset);
  for (const Path& path : pathsTo({&code, block, offset, block}, 0, join.behindLocked)) {
    join.ways.push_back(wayBy(code, path, {}, code.bytes.subspan(offset), ip));
    setPlace(path, join.ways[0].from, join.ways.back());
  }
  if (!anyHasAccess(join)) return {};
  // A jump into the middle of the locked instruction leaves its prefix out.
  const bool isLocked = join.ways[0].before.skid == 1 && join.ways[0].before.operand.locked;
  if (join.behindLocked && !isLocked) return {};
  return join;
}

std::optional<Call> callBefore(const Code& code, uint64_t ip) {
  const uint64_t offset = ip - code.start;
  if (offset >= code.bytes.size() || !code.sweep.closed() || !code.sweep.startsAt(offset)) return {};
  const size_t block = code.sweep.blockStart(offset);
  if (code.sweep.isTarget(block)) return {};
  const auto before = code.sweep.instructionBefore(code.bytes, block);
  Flow flow;
  if (!before || !decodeFlow(code.bytes.subspan(*before), flow) || !flow.calls || !flow.hasTarget) return {};
  Call call;
  call.target = code.start + *before + static_cast<uint64_t>(flow.target);
  for (size_t at = block; at <= offset; at += call.behind.back().length) {
    const bool decoded =
        decodeInstruction(code.bytes.subspan(at), code.start + at, call.behind.emplace_back());
    const Instruction& last = call.behind.back();
    if (!decoded || last.accesses || last.pauses || call.behind.size() > kMostSkid) return {};
  }
  call.behind.pop_back();  // the sampled one has not run
  return call;
}

std::optional<Join> planReturn(const Code& callee, std::span<const Instruction> behind) {
  if (!callee.sweep.closed() || !callee.sweep.leaving().empty()) return {};
  Join join;
  std::vector<Instruction> line(1);
  line.insert(line.end(), behind.begin(), behind.end());
  for (const size_t at : callee.sweep.returns()) {
    if (!decodeInstruction(callee.bytes.subspan(at), callee.start + at, line[0])) return {};
    const size_t block = callee.sweep.blockStart(at);
    const std::vector<Path> paths = pathsTo({&callee, block, at, block}, line.size(), false);
    if (paths.empty() || join.ways.size() > kMostWays) return {};
    for (const Path& path : paths) join.ways.push_back(wayBy(callee, path, line, {}, 0));
  }
  if (!anyHasAccess(join)) return {};
  return join;
}

std::optional<size_t> wayTaken(const Join& join, const Registers& registers, uint64_t bias) {
  std::optional<size_t> taken;
  uint64_t address = 0;
  for (size_t i = 0; i < join.ways.size(); ++i) {
    const Way& way = join.ways[i];
    if (way.contradicts(registers, bias)) continue;
    const AccessPlan& plan = way.before;
    uint64_t own = 0;
    if (!way.hasAccess() || (plan.failure == Failure::none && !effectiveAddress(plan, registers, bias, own)))
      return {};
    if (!taken) {
      taken = i;
      address = own;
      continue;
    }
    const AccessPlan& other = join.ways[*taken].before;
    const bool same = plan.failure == Failure::none || plan.codeAddress == other.codeAddress;
    if (!same || plan.failure != other.failure || own != address) return {};
    if (plan.operand.locked && !other.operand.locked) taken = i;
  }
  return taken;
}

}  // namespace cacheline::decode
