// The ways onward as a graph of straight pieces. Each is run with what holds on all ways to it, until nothing
// changes; behind a store it is another piece than without one.
#include "decode/later_writes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "base/hash.h"
#include "decode/condition.h"
#include "decode/paths.h"

namespace cacheline::decode {

namespace {

using Value = LinearValues::Value;

constexpr int kMostRun = 3000;       ///< instructions, of all visits
constexpr uint64_t kMostLine = 512;  ///< bytes of a block before the access that are looked at

/// A store to the word.
struct WordStore {
  bool plain = false;    ///< neither locked nor made of what it reads
  bool derived = false;  ///< of what the access loaded
  std::optional<Value> value;
  uint8_t bits = 64;
};

/// What a branch asks of the loaded value.
struct Question {
  bool isDirect = false;  ///< of that itself, not of what was made of it
  std::optional<Value> other;
  uint8_t bits = 64;
};

/// An outcome of it.
struct Outcome {
  Question question;
  Condition condition = kAlways;
};

struct WayEdge {
  uint32_t to = 0;
  std::optional<Outcome> outcome = {};
};

struct WayPiece {
  uint64_t at = 0;
  WayValues values;       ///< at its start
  bool isBehind = false;  ///< a store on the ways to it
  std::vector<WayEdge> edges = {};
  std::vector<WordStore> stores = {};
  bool leaves = false;   ///< the function, or the base is lost
  bool returns = false;  ///< to the access
  bool waiting = false;  ///< to be run
};

class WaysOn {
 public:
  WaysOn(const Code& code, uint64_t access, const MemoryOperand& operand, ValueNames& names)
      : code_(code),
        access_(access),
        operand_(operand),
        width_(std::max(operand.width, 1u)),
        names_(names),
        loaded_(names.of(access, WayValues::kLoaded, false)) {}

  /// `values`: before and behind the access, the instruction at the start of `bytes`.
  void explore(std::span<const uint8_t> bytes, const Instruction& access, const WayValues& before,
               const WayValues& values) {
    place_ = *before.addressOf(operand_);
    if (access.setsFlags) firstQuestion_ = questionOf(bytes, access, before, true);
    const uint64_t from = access_ + access.length;
    pieces_.push_back({from, values});
    pieces_[0].waiting = true;
    queue_.push_back(0);
    while (!queue_.empty() && run_ <= kMostRun) {
      const uint32_t next = queue_.front();
      queue_.pop_front();
      pieces_[next].waiting = false;
      runPiece(next);
    }
  }

  LaterWrites found() const {
    LaterWrites result;
    const std::vector<bool> reached = reach(false), before = reach(true);
    bool leaves = run_ > kMostRun;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const WayPiece& piece = pieces_[i];
      if (reached[i] && !piece.stores.empty()) result.ways = LaterWrites::Ways::some;
      if (!before[i] || !piece.stores.empty()) continue;
      leaves |= piece.leaves;
      result.repeats |= piece.returns;
    }
    if (result.ways == LaterWrites::Ways::none) return {};
    if (!leaves) {
      result.ways = LaterWrites::Ways::all;
      return result;
    }
    result.repeats = false;
    addKinds(reached, result);
    return result;
  }

 private:
  const Code* codeAt(uint64_t address) const {
    if (address - code_.start < code_.bytes.size()) return &code_;
    for (const Code& part : code_.parts)
      if (address - part.start < part.bytes.size()) return &part;
    return nullptr;
  }

  bool isTarget(uint64_t address) const {
    const Code* code = codeAt(address);
    if (code == nullptr) return false;
    if (code->sweep.isTarget(address - code->start)) return true;
    // Parts are jumped to from outside of their sweeps.
    return code != &code_ && address == code->start;
  }

  void goOn(WayPiece& from, uint64_t to, const WayValues& values, std::optional<Outcome> outcome = {}) {
    if (codeAt(to) == nullptr) {
      if (std::ranges::find(code_.ends, to) == code_.ends.end()) from.leaves = true;
      return;
    }
    const bool isBehind = from.isBehind || !from.stores.empty();
    const auto [known, isNew] = index_.try_emplace({to, isBehind}, static_cast<uint32_t>(pieces_.size()));
    const uint32_t number = known->second;
    from.edges.push_back({number, std::move(outcome)});
    if (isNew) pieces_.push_back({to, values, isBehind});
    WayPiece& piece = pieces_[number];
    if ((!isNew && !piece.values.meet(values)) || piece.waiting) return;
    piece.waiting = true;
    queue_.push_back(number);
  }

  void note(const Instruction& instruction, const WayValues& values, WayPiece& piece) const {
    const MemoryOperand& operand = instruction.operand;
    if (!instruction.accesses || instruction.failure != Failure::none || operand.kind == AccessKind::read)
      return;
    const auto at = values.addressOf(operand);
    const auto apart = at ? distance(place_, *at) : std::nullopt;
    if (!apart || *apart >= int64_t{width_} || -*apart >= int64_t{std::max(operand.width, 1u)}) return;
    WordStore& store = piece.stores.emplace_back();
    store.plain = operand.kind == AccessKind::write && !operand.locked;
    if (!instruction.stored) return;
    store.value = values.valueOf(*instruction.stored);
    store.bits = static_cast<uint8_t>(std::min(operand.width * 8, 64u));
    for (const Sum::Term& term : instruction.stored->terms)
      store.derived |= term.part < kRegCount && ((values.derived() >> term.part) & 1) != 0;
  }

  /// Whether an instruction loads the word once more. `values`: before it.
  bool loadsAgain(const Instruction& instruction, const WayValues& values) const {
    const MemoryOperand& operand = instruction.operand;
    if (!instruction.accesses || instruction.failure != Failure::none || operand.kind != AccessKind::read ||
        operand.width != operand_.width || operand.stringOperation)
      return false;
    const auto at = values.addressOf(operand);
    const auto apart = at ? distance(place_, *at) : std::nullopt;
    return apart && *apart == 0;
  }

  /// What flags that come from the loaded value tell of it. A comparison leaves `values` alone.
  Question questionOf(std::span<const uint8_t> bytes, const Instruction& instruction, const WayValues& values,
                      bool isAccess) const {
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
      question.isDirect =
          isLoaded(left) && compared->left.reg == compared->right.reg && !compared->left.memory;
      question.other = Value{};
    } else {
      question.isDirect = isLoaded(left) || isLoaded(right);
      question.other = isLoaded(left) || (!isLoaded(right) && compared->right.reg == kRegNone) ? right : left;
    }
    return question;
  }

  void runPiece(uint32_t number) {
    WayPiece piece{pieces_[number].at, pieces_[number].values, pieces_[number].isBehind};
    WayValues values = piece.values;
    if (number == 0 || values.holdsPartOf(place_))
      runOn(piece, values, number == 0);
    else
      piece.leaves = true;
    // goOn() may have met this piece once more, and moved all.
    WayPiece& kept = pieces_[number];
    kept.edges = std::move(piece.edges);
    kept.stores = std::move(piece.stores);
    kept.leaves = piece.leaves;
    kept.returns = piece.returns;
  }

  void runOn(WayPiece& piece, WayValues& values, bool isFirst) {
    Instruction instruction;
    Flow flow;
    std::optional<Question> question = isFirst ? firstQuestion_ : std::nullopt;
    bool isBehindCall = false;
    for (uint64_t at = piece.at;; at += flow.length) {
      const bool begins = at == piece.at;
      if (at == access_) {
        const auto again = values.addressOf(operand_);
        const auto apart = again ? distance(place_, *again) : std::nullopt;
        (apart && *apart == 0 ? piece.returns : piece.leaves) = true;
        return;
      }
      if (isTarget(at) && (!begins || isFirst)) return goOn(piece, at, values);
      const Code* code = codeAt(at);
      if (code == nullptr) {  // a call behind which is nothing does not return
        piece.leaves |= !isBehindCall;
        return;
      }
      const auto bytes = code->bytes.subspan(at - code->start);
      if (++run_ > kMostRun || !decodeInstruction(bytes, at, instruction) || !decodeFlow(bytes, flow)) {
        piece.leaves = true;
        return;
      }
      isBehindCall = flow.calls;
      note(instruction, values, piece);
      const bool isLoad = loadsAgain(instruction, values);
      values.run(instruction, flow, at);
      if (isLoad) values.loadAgain(instruction, access_);
      if (!flow.endsBlock && instruction.setsFlags)
        question = values.flagsAreDerived() ? std::optional(questionOf(bytes, instruction, values, isLoad))
                                            : std::nullopt;
      if (!flow.endsBlock || flow.calls) continue;
      if (flow.returns || (!flow.hasTarget && flow.condition == kAlways)) piece.leaves = true;
      if (!flow.hasTarget && flow.falls) continue;  // a system call
      const bool asks = flow.falls && question && values.flagsAreDerived() && flow.condition < kAlways;
      const auto outcome = [&](Condition condition) {
        return asks ? std::optional(Outcome{*question, condition}) : std::nullopt;
      };
      if (flow.hasTarget)
        goOn(piece, at + static_cast<uint64_t>(flow.target), values, outcome(flow.condition));
      if (flow.falls) goOn(piece, at + flow.length, values, outcome(flow.condition ^ 1u));
      return;
    }
  }

  /// What is reached from a piece, by edges that are not `left` out, and through no store.
  template <typename Leave>
  std::vector<bool> reach(uint32_t from, bool untilStores, Leave&& left) const {
    std::vector<bool> seen(pieces_.size());
    std::vector<uint32_t> open{from};
    seen[from] = true;
    while (!open.empty()) {
      const WayPiece& piece = pieces_[open.back()];
      open.pop_back();
      if (untilStores && !piece.stores.empty()) continue;
      for (const WayEdge& edge : piece.edges) {
        if (seen[edge.to] || left(edge)) continue;
        seen[edge.to] = true;
        open.push_back(edge.to);
      }
    }
    return seen;
  }
  std::vector<bool> reach(bool untilStores) const {
    return reach(0, untilStores, [](const WayEdge&) { return false; });
  }

  /// A number for what it does where it hardly runs twice: it makes so what the outcome by which it is
  /// reached showed not to be so.
  std::optional<uint64_t> settingOf(const WordStore& store, const Outcome& outcome) const {
    const auto& [question, condition] = outcome;
    if (store.derived || !store.value || !question.other) return {};
    const Value other = names_.low(*question.other, question.bits),
                value = names_.low(*store.value, store.bits);
    const bool same = other.terms == value.terms && other.constant == value.constant;
    const bool isConstant = value.terms.empty();
    const bool settles = condition == kEqual
                             ? other.terms.empty() && !same && (question.isDirect || isConstant)
                         : condition == (kEqual ^ 1) ? (question.isDirect ? same : isConstant)
                                                     : false;
    if (!settles) return {};
    return mix(mix(condition, other.terms.empty() ? other.constant : 1),
               isConstant ? mix(value.constant, 1) : 0);
  }

  /// Of a store that is reached by outcomes alone that it settles: what each of them makes of it. Empty: it
  /// may run as often as the access.
  std::vector<uint64_t> settingsOf(uint32_t number, const WordStore& store) const {
    const auto settles = [&](const WayEdge& edge) {
      return edge.outcome && settingOf(store, *edge.outcome).has_value();
    };
    std::vector<uint64_t> settings;
    if (reach(0, false, settles)[number]) return settings;
    for (const WayPiece& piece : pieces_)
      for (const WayEdge& edge : piece.edges)
        if (settles(edge) && reach(edge.to, false, settles)[number])
          settings.push_back(*settingOf(store, *edge.outcome));
    return settings;
  }

  void addKinds(const std::vector<bool>& reached, LaterWrites& result) const {
    for (uint32_t number = 0; number < pieces_.size(); ++number) {
      if (!reached[number]) continue;
      for (const WordStore& store : pieces_[number].stores) {
        if (!store.plain) continue;
        const std::vector<uint64_t> settings = settingsOf(number, store);
        result.mayBeOften |= settings.empty();
        result.settings.insert(result.settings.end(), settings.begin(), settings.end());
      }
    }
    std::ranges::sort(result.settings);
    result.settings.erase(std::unique(result.settings.begin(), result.settings.end()), result.settings.end());
  }

  const Code& code_;
  const uint64_t access_;
  const MemoryOperand operand_;
  const uint32_t width_;
  ValueNames& names_;
  const uint32_t loaded_;  ///< the name of what the access loaded
  std::optional<Question> firstQuestion_;
  Value place_;
  std::vector<WayPiece> pieces_;
  std::map<std::pair<uint64_t, bool>, uint32_t> index_;  ///< by address and isBehind; not the first piece
  std::deque<uint32_t> queue_;
  int run_ = 0;
};

/// What was run before the access, as far back as there is one way to it.
struct LineBefore {
  std::vector<Instruction> line;
  size_t from = 0;  ///< offset of its first instruction
};
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

}  // namespace

LaterWrites laterWrites(const Code& code, uint64_t access, uint32_t keptByCalls) {
  const uint64_t offset = access - code.start;
  Instruction instruction;
  Flow flow;
  if (offset >= code.bytes.size() || !code.sweep.startsAt(offset)) return {};
  const auto bytes = code.bytes.subspan(offset);
  if (!decodeInstruction(bytes, access, instruction) || !decodeFlow(bytes, flow) || flow.endsBlock) return {};
  if (!instruction.accesses || instruction.failure != Failure::none || instruction.operand.stringOperation ||
      instruction.operand.kind != AccessKind::read)
    return {};
  ValueNames names;
  const FrameUse frame = frameUse(code);
  WayValues values(frame, keptByCalls, names);
  uint64_t at = 0;  // which addresses does not matter where they are no others'
  const LineBefore line = lineTo(code, offset);
  if (frame.startSize > 0 && line.from >= frame.startSize) {
    for (const Instruction& each : frame.start) values.run(each, {}, --at);
    values.runOthers(--at);
  }
  for (const Instruction& each : line.line) values.run(each, {}, --at);
  const WayValues before = values;
  values.run(instruction, flow, access);
  values.beginWays(instruction, access);
  WaysOn ways(code, access, instruction.operand, names);
  ways.explore(bytes, instruction, before, values);
  return ways.found();
}

namespace {

/// An operand at an address that is a register, or two, and a constant.
std::optional<MemoryOperand> operandAt(const Value& address, const MemoryOperand& of) {
  if (address.terms.empty() || address.terms.size() > 2) return {};
  MemoryOperand operand = of;
  operand.base = operand.index = kRegNone;
  operand.displacement = static_cast<int64_t>(address.constant);
  for (const auto& [part, factor] : address.terms) {
    if (part == kCodeBias && address.terms.size() == 1 && factor == 1) return operand;
    if (part >= kRegCount || part == kRegSp || part == kRegBp) return {};
    if (factor == 1 && operand.base == kRegNone) {
      operand.base = static_cast<uint8_t>(part);
    } else if (operand.index == kRegNone && (factor == 1 || factor == 2 || factor == 4 || factor == 8)) {
      operand.index = static_cast<uint8_t>(part);
      operand.scale = static_cast<uint8_t>(factor);
    } else {
      return {};
    }
  }
  return operand;
}

}  // namespace

std::vector<MemoryOperand> storesAhead(const Code& code, uint64_t ip) {
  constexpr int kMostAhead = 24;  // instructions
  std::vector<MemoryOperand> stores;
  LinearValues values;
  Instruction instruction;
  Flow flow;
  for (int n = 0; n < kMostAhead && ip - code.start < code.bytes.size(); ++n) {
    const auto bytes = code.bytes.subspan(ip - code.start);
    if (!decodeInstruction(bytes, ip, instruction) || !decodeFlow(bytes, flow)) break;
    if (flow.endsBlock) {
      if (flow.condition != kAlways || !flow.hasTarget) break;
      ip += static_cast<uint64_t>(flow.target);
      continue;
    }
    const MemoryOperand& operand = instruction.operand;
    if (instruction.accesses && instruction.failure == Failure::none && operand.kind == AccessKind::write &&
        !operand.locked && !operand.stringOperation)
      if (const auto store = operandAt(values.addressOf(operand), operand)) stores.push_back(*store);
    values.run(instruction);
    ip += instruction.length;
  }
  return stores;
}

}  // namespace cacheline::decode
