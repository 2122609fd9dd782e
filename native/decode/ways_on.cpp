// What branches ask of what an access loaded, and what is run before it.
#include "decode/ways_on.h"

#include "decode/paths.h"

namespace cacheline::decode {

namespace {
constexpr uint64_t kMostLine = 512;  ///< bytes of a block before the access that are looked at
}  // namespace

Question WaysOn::questionOf(std::span<const uint8_t> bytes, const Instruction& instruction,
                            const WayValues& values, bool isAccess) const {
  Question question;
  const auto compared = decodeComparison(bytes);
  if (!compared) return question;
  question.bits = compared->bits;
  const auto valueOf = [&](const Comparison::Side& side) -> std::optional<Value> {
    if (side.memory) return isAccess ? Value{{{loaded_, 1}}, 0} : values.contentAt(instruction.operand);
    return side.reg != kRegNone ? values.valueOf(side.reg) : Value{{}, side.constant};
  };
  const auto left = valueOf(compared->left), right = valueOf(compared->right);
  const auto isLoaded = [&](const auto& value) { return value && names_.isPartOf(*value, loaded_); };
  if (compared->test) {  // against 0, of all bits where both sides are one
    question.isDirect = isLoaded(left) && compared->left.reg == compared->right.reg && !compared->left.memory;
    question.other = Value{};
  } else {
    question.isDirect = isLoaded(left) || isLoaded(right);
    question.other = isLoaded(left) || (!isLoaded(right) && compared->right.reg == kRegNone) ? right : left;
  }
  return question;
}

std::optional<TurnLoad> WaysOn::turnOf(std::span<const uint8_t> bytes, uint64_t at,
                                       const Instruction& instruction, const WayValues& values) const {
  const auto compared = decodeComparison(bytes);
  if (!compared || compared->test) return {};
  const auto isTicket = [&](const Comparison::Side& side) {
    if (side.memory || side.reg == kRegNone) return false;
    const auto value = values.valueOf(side.reg);
    return value && names_.isPartOf(*value, loaded_);
  };
  const bool isLeft = isTicket(compared->left);
  if (!isLeft && !isTicket(compared->right)) return {};
  const Comparison::Side& other = isLeft ? compared->right : compared->left;
  if (other.memory) {
    const auto address = values.addressOf(instruction.operand);
    const auto apart = address ? distance(place_, *address) : std::nullopt;
    return apart && *apart != 0 ? std::optional(TurnLoad{at, *apart}) : std::nullopt;
  }
  const auto value = other.reg == kRegNone ? std::nullopt : values.valueOf(other.reg);
  for (const auto& [name, load] : loads_)
    if (value && names_.isPartOf(*value, name)) return load;
  return {};
}

LineBefore lineTo(const Code& code, size_t offset) {
  LineBefore before;
  before.from = code.sweep.blockStart(offset);
  if (offset - before.from > kMostLine) {
    before.from = offset - kMostLine;
    while (before.from < offset && !code.sweep.startsAt(before.from)) ++before.from;
  } else if (code.sweep.closed()) {
    if (auto path = pathThrough({{&code, before.from, offset, before.from}})) {
      before.line = std::move(path->line);
      const Piece& first = path->pieces.back();
      before.from = first.code == &code ? first.from : code.bytes.size();
      return before;
    }
  }
  for (size_t at = before.from; at < offset; at += before.line.back().length)
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, before.line.emplace_back()))
      return {{}, offset};
  return before;
}

}  // namespace cacheline::decode
