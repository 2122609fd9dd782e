// The ways onward from an access as a graph of straight pieces. Each is run with what holds on all ways to
// it, until nothing changes; behind a store it is another piece than without one.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "decode/code_sweep.h"
#include "decode/condition.h"
#include "decode/later_writes.h"
#include "decode/lock_step.h"
#include "decode/way_values.h"

namespace cacheline::decode {

using Value = LinearValues::Value;

inline constexpr int kMostRun = 3000;  ///< instructions, of all visits

/// Which instructions that write the word count as stores to it.
enum class Asked : uint8_t {
  all,
  back,  ///< those that undo what the access did
  turn   ///< of the word that tickets wait for: all, and other data is looked for
};

/// A store to the word.
struct WordStore {
  uint64_t at = 0;
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

/// The load that a ticket is compared with, and how far from the word that gave it out.
struct TurnLoad {
  uint64_t at = 0;
  int64_t distance = 0;
};

struct WayPiece {
  uint64_t at = 0, end = 0;
  WayValues values;       ///< at its start
  bool isBehind = false;  ///< a store on the ways to it
  std::vector<WayEdge> edges = {};
  std::vector<WordStore> stores = {};
  bool usesOther = false;  ///< before the first store: other data, or a call
  bool leaves = false;     ///< the function, or the base is lost
  bool returns = false;    ///< to the access, or to another one that takes the word
  bool waiting = false;    ///< to be run
};

class WaysOn {
 public:
  WaysOn(const Code& code, uint64_t access, const MemoryOperand& operand, ValueNames& names, Asked asked)
      : code_(code),
        access_(access),
        operand_(operand),
        width_(std::max(operand.width, 1u)),
        names_(names),
        asked_(asked),
        loaded_(names.of(access, WayValues::kLoaded, false)) {}

  /// `values`: before and behind the access, the instruction at the start of `bytes`.
  void explore(std::span<const uint8_t> bytes, const Instruction& access, const WayValues& before,
               const WayValues& values) {
    place_ = *before.addressOf(operand_);
    if (asked_ == Asked::back) {
      take_ = wordChange(bytes, before);
      if (!mayTake()) return;
      // The register that tells what was there.
      for (uint8_t reg = 0; reg < kRegCount; ++reg)
        if (access.written == 1u << reg && values.valueOf(reg)) loaded_ = values.valueOf(reg)->terms[0].first;
      if (access.setsFlags) firstQuestion_ = Question{.other = Value{}};
    } else if (access.setsFlags) {
      firstQuestion_ = questionOf(bytes, access, before, true);
    }
    const uint64_t from = access_ + access.length;
    pieces_.push_back({from, from, values});
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

  const WordChange& take() const { return take_; }
  bool mayTake() const {
    using Kind = WordChange::Kind;
    return take_.kind != Kind::none && take_.kind != Kind::sets && take_.kind != Kind::clears;
  }
  const std::optional<TurnLoad>& turn() const { return turn_; }

  /// Whether what the access found decides where the function goes on. Of a sum, by itself: one that is only
  /// compared with other data, as with the greatest so far, is none that is waited for.
  bool decides() const {
    const std::vector<bool> before = reach(true);
    for (size_t i = 0; i < pieces_.size(); ++i)
      if (before[i] && std::ranges::any_of(pieces_[i].edges, [&](const WayEdge& edge) {
            if (!edge.outcome || take_.kind != WordChange::Kind::adds) return edge.outcome.has_value();
            const std::optional<Value>& other = edge.outcome->question.other;
            return other && other->terms.empty();
          }))
        return true;
    return false;
  }

  /// The code between the access and stores, and behind those. Who waits for a turn and gives it on at once
  /// only keeps an order, as those who fill a ring.
  void addHeld(LockStep& step) const {
    if (run_ > kMostRun) return;
    const std::vector<bool> reached = reach(false), before = reach(true);
    std::vector<bool> comes(pieces_.size());  // to a store
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (size_t i = 0; i < pieces_.size(); ++i) {
        if (!before[i] || comes[i]) continue;
        comes[i] = !pieces_[i].stores.empty() ||
                   std::ranges::any_of(pieces_[i].edges, [&](const WayEdge& edge) { return comes[edge.to]; });
        isChanged |= comes[i];
      }
    }
    bool usesOther = false;
    LockStep found;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const WayPiece& piece = pieces_[i];
      const uint64_t stored = piece.stores.empty() ? piece.end : piece.stores[0].at;
      if (before[i] && comes[i]) {
        found.held.push_back({piece.at, stored});
        usesOther |= piece.usesOther;
      }
      if (reached[i]) found.released.push_back({before[i] ? stored : piece.at, piece.end});
    }
    if (asked_ == Asked::turn && !usesOther) return;
    step.held = std::move(found.held);
    step.released = std::move(found.released);
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
    if (isNew) pieces_.push_back({to, to, values, isBehind});
    WayPiece& piece = pieces_[number];
    if ((!isNew && !piece.values.meet(values)) || piece.waiting) return;
    piece.waiting = true;
    queue_.push_back(number);
  }

  void note(std::span<const uint8_t> bytes, const Instruction& instruction, const WayValues& values,
            WayPiece& piece) const {
    const MemoryOperand& operand = instruction.operand;
    if (!instruction.accesses || instruction.failure != Failure::none) return;
    const auto at = values.addressOf(operand);
    const auto apart = at ? distance(place_, *at) : std::nullopt;
    if (!apart || *apart >= int64_t{width_} || -*apart >= int64_t{std::max(operand.width, 1u)}) {
      piece.usesOther |= piece.stores.empty() && !(at && values.isInFrame(*at));
      return;
    }
    if (operand.kind == AccessKind::read) return;
    if (asked_ == Asked::back) {
      const WordChange change = wordChange(bytes, values);
      if (!undoes(change, take_)) {
        piece.returns |= change.kind == take_.kind && piece.stores.empty();
        return;
      }
    }
    WordStore& store = piece.stores.emplace_back();
    store.at = piece.end;
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
                      bool isAccess) const;

  /// A comparison of the ticket that the access took with a load at a known distance from it.
  std::optional<TurnLoad> turnOf(std::span<const uint8_t> bytes, uint64_t at, const Instruction& instruction,
                                 const WayValues& values) const;

  void noteLoad(uint64_t at, const Instruction& instruction, const std::optional<Value>& address,
                const WayValues& behind) {
    if (!address || instruction.load.reg == kRegNone) return;
    const auto apart = distance(place_, *address);
    const auto value = behind.valueOf(instruction.load.reg);
    if (apart && *apart != 0 && value && value->terms.size() == 1)
      loads_[value->terms[0].first] = {at, *apart};
  }

  void runPiece(uint32_t number) {
    WayPiece piece{pieces_[number].at, pieces_[number].at, pieces_[number].values, pieces_[number].isBehind};
    WayValues values = piece.values;
    if (number == 0 || values.holdsPartOf(place_))
      runOn(piece, values, number == 0);
    else
      piece.leaves = true;
    // goOn() may have met this piece once more, and moved all.
    WayPiece& kept = pieces_[number];
    kept.edges = std::move(piece.edges);
    kept.stores = std::move(piece.stores);
    kept.end = piece.end;
    kept.usesOther = piece.usesOther;
    kept.leaves = piece.leaves;
    kept.returns = piece.returns;
  }

  void runOn(WayPiece& piece, WayValues& values, bool isFirst) {
    Instruction instruction;
    Flow flow;
    std::optional<Question> question = isFirst ? firstQuestion_ : std::nullopt;
    std::optional<TurnLoad> turn;
    bool isBehindCall = false;
    for (uint64_t at = piece.at;; at += flow.length) {
      const bool begins = at == piece.at;
      piece.end = at;
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
      piece.usesOther |= flow.calls && piece.stores.empty();
      note(bytes, instruction, values, piece);
      if (piece.returns) return;
      const bool isLoad = loadsAgain(instruction, values);
      const bool isTaken = asked_ == Asked::back && take_.kind == WordChange::Kind::adds;
      const auto address = isTaken && instruction.accesses && instruction.failure == Failure::none
                               ? values.addressOf(instruction.operand)
                               : std::nullopt;
      if (isTaken && instruction.setsFlags) turn = turnOf(bytes, at, instruction, values);
      values.run(instruction, flow, at);
      if (isTaken) noteLoad(at, instruction, address, values);
      if (isLoad && asked_ != Asked::back) values.loadAgain(instruction, access_);
      if (!flow.endsBlock && instruction.setsFlags)
        question = values.flagsAreDerived() ? std::optional(questionOf(bytes, instruction, values, isLoad))
                                            : std::nullopt;
      piece.end = at + flow.length;
      if (!flow.endsBlock || flow.calls) continue;
      if (turn && (flow.condition == kEqual || flow.condition == (kEqual ^ 1))) turn_ = turn;
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
  const Asked asked_;
  uint32_t loaded_;                     ///< the name of what the access loaded
  WordChange take_;                     ///< Asked::back: what the access does
  std::map<uint32_t, TurnLoad> loads_;  ///< by the name of what they load
  std::optional<TurnLoad> turn_;
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
LineBefore lineTo(const Code& code, size_t offset);

/// Runs `use` with the ways on from an access, unless its address is not known.
template <typename Use>
void withWays(const Code& code, uint64_t access, uint32_t keptByCalls, Asked asked, Use&& use) {
  const uint64_t offset = access - code.start;
  Instruction instruction;
  Flow flow;
  if (offset >= code.bytes.size() || !code.sweep.startsAt(offset)) return;
  const auto bytes = code.bytes.subspan(offset);
  if (!decodeInstruction(bytes, access, instruction) || !decodeFlow(bytes, flow) || flow.endsBlock) return;
  if (!instruction.accesses || instruction.failure != Failure::none || instruction.operand.stringOperation ||
      (instruction.operand.kind == AccessKind::read) != (asked != Asked::back))
    return;
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
  WaysOn ways(code, access, instruction.operand, names, asked);
  ways.explore(bytes, instruction, before, values);
  use(ways);
}

}  // namespace cacheline::decode
