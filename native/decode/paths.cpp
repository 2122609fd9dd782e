// Pieces of code, put together from the last one to the first one.
#include "decode/paths.h"

#include <algorithm>

namespace cacheline::decode {
namespace {

constexpr size_t kMostPaths = 64;
constexpr size_t kMostBytes = 192;

/// Whether an instruction is a nop that nobody runs: padding behind a jump or a return.
bool isPadding(const Code& code, size_t at) {
  Flow flow;
  while (decodeFlow(code.bytes.subspan(at), flow) && flow.pads && !code.sweep.isTarget(at)) {
    const auto before = code.sweep.instructionBefore(code.bytes, at);
    if (!before || !decodeFlow(code.bytes.subspan(*before), flow)) return false;
    if (flow.endsBlock) return !flow.falls;
    at = *before;
  }
  return false;
}

/// Appends the instructions of a piece. False where they do not lead to its end.
bool decodePiece(const Piece& piece, std::vector<Instruction>& line, std::vector<uint64_t>& addresses) {
  const Code& code = *piece.code;
  for (size_t at = piece.from; at < piece.end; at += line.back().length) {
    addresses.push_back(code.start + at);
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, line.emplace_back())) return false;
    if (at + line.back().length > piece.end) return false;
  }
  return true;
}

/// By a comparison that came out equal.
Equality shownBy(const Comparison& comparison) {
  const auto& [left, right, bits, test] = comparison;
  if (!test) return {left.reg, right.reg, right.constant, bits};
  if (left.reg == right.reg) return {left.reg, kRegNone, 0, bits};
  return {};
}

class Explorer {
 public:
  explicit Explorer(bool anyway) : anyway_(anyway) {}

  void visit(const Piece& piece, size_t behind) {
    Path own;
    if (!decodePiece(piece, own.line, own.addresses)) return finish(false);
    pieces_.push_back(piece);
    size_t at = own.line.size();
    while (at > 0 && !own.line[at - 1].accesses && !own.line[at - 1].pauses) --at;
    behind += own.line.size() - at;
    if (behind >= kMostSkid || (at > 0 && own.line[at - 1].pauses))
      finish(false);
    else if (at > 0)
      finish(true);
    else
      goBack(behind);
    pieces_.pop_back();
  }

  std::vector<Path> found;

 private:
  void goBack(size_t behind) {
    const Ways ways = waysTo(*pieces_.back().code, pieces_.back().from);
    if (!ways.complete && !(anyway_ && pieces_.size() == 1)) return finish(false);
    for (const Piece& piece : ways.pieces)
      if (found.size() <= kMostPaths) visit(piece, behind);
  }

  void finish(bool hasAccess) {
    auto path = pathThrough(pieces_);
    if (path && hasAccess) {
      const auto last = std::find_if(path->line.rbegin(), path->line.rend(),
                                     [](const Instruction& instruction) { return instruction.accesses; });
      path->access = static_cast<size_t>(path->line.rend() - last) - 1;
    }
    if (!path) path.emplace().pieces = pieces_;
    found.push_back(std::move(*path));
  }

  const bool anyway_;
  std::vector<Piece> pieces_;
};

}  // namespace

Ways waysTo(const Code& code, size_t offset) {
  Ways ways;
  ways.complete = code.sweep.closed() && offset != 0;
  Flow flow;
  const auto add = [&](const Code& from, size_t last, bool jumps, Condition condition) {
    ways.pieces.push_back({&from, from.sweep.blockStart(last), last + flow.length, last, jumps, condition});
  };
  const auto addJump = [&](const Code& from, size_t at) {
    if (!decodeFlow(from.bytes.subspan(at), flow)) return;
    if (flow.condition == kOutOfFlags) ways.complete = false;  // loop and xbegin change registers themselves
    add(from, at, true, std::min(flow.condition, kAlways));
  };
  const auto before = code.sweep.instructionBefore(code.bytes, offset);
  if (!before || !decodeFlow(code.bytes.subspan(*before), flow))
    ways.complete = false;
  else if (flow.condition < kAlways)
    add(code, *before, false, flow.condition ^ 1u);
  else if (!flow.endsBlock) {
    if (!isPadding(code, *before)) add(code, *before, false, kAlways);
  } else if (flow.falls)
    ways.complete = false;  // behind a call
  for (const auto& jump : code.sweep.jumpsTo(offset)) addJump(code, jump.at);
  for (const Code& part : code.parts)
    for (const auto& jump : part.sweep.leaving())
      if (part.start + jump.target == code.start + offset) addJump(part, jump.at);
  for (const size_t at : code.sweep.indirectJumps()) addJump(code, at);
  if (ways.pieces.empty()) ways.complete = false;  // who knows how it is reached: a handler of exceptions
  return ways;
}

std::optional<Path> pathThrough(std::vector<Piece> pieces) {
  if (pieces.empty()) return {};
  size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.end - piece.from;
  while (bytes < kMostBytes) {
    Ways ways = waysTo(*pieces.back().code, pieces.back().from);
    if (!ways.complete || ways.pieces.size() != 1) break;
    bytes += ways.pieces[0].end - ways.pieces[0].from;
    pieces.push_back(ways.pieces[0]);
  }
  Path path;
  for (size_t i = pieces.size(); i-- > 0;) {
    const Piece& piece = pieces[i];
    const size_t first = path.line.size();
    if (!decodePiece(piece, path.line, path.addresses)) return {};
    if (piece.condition == kAlways) continue;
    Path::Branch& turn = path.turns.emplace_back();
    turn.jump = path.line.size() - 1;
    turn.condition = piece.condition;
    if (turn.jump == first) continue;
    const uint64_t before = path.addresses[turn.jump - 1] - piece.code->start;
    turn.comparison = decodeComparison(piece.code->bytes.subspan(before));
    if (turn.comparison && turn.comparison->readsMemory()) turn.comparison.reset();
    if (turn.comparison && turn.condition == kEqual) path.line.back().equality = shownBy(*turn.comparison);
  }
  path.pieces = std::move(pieces);
  return path;
}

std::vector<Path> pathsTo(const Piece& last, size_t behind, bool anyway) {
  Explorer explorer(anyway);
  explorer.visit(last, behind);
  if (explorer.found.size() > kMostPaths) return {};
  return std::move(explorer.found);
}

}  // namespace cacheline::decode
