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
bool decodePiece(const Code& code, const Piece& piece, std::vector<Instruction>& line,
                 std::vector<size_t>& offsets) {
  for (size_t at = piece.from; at < piece.end; at += line.back().length) {
    offsets.push_back(at);
    if (!decodeInstruction(code.bytes.subspan(at), code.start + at, line.emplace_back())) return false;
    if (at + line.back().length > piece.end) return false;
  }
  return true;
}

class Explorer {
 public:
  Explorer(const Code& code, bool anyway) : code_(code), anyway_(anyway) {}

  void visit(const Piece& piece, size_t behind) {
    Path own;
    if (!decodePiece(code_, piece, own.line, own.offsets)) return finish(false);
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
    const Ways ways = waysTo(code_, pieces_.back().from);
    if (!ways.complete && !(anyway_ && pieces_.size() == 1)) return finish(false);
    for (const Piece& piece : ways.pieces)
      if (found.size() <= kMostPaths) visit(piece, behind);
  }

  void finish(bool hasAccess) {
    auto path = pathThrough(code_, pieces_);
    if (path && hasAccess) {
      const auto last = std::find_if(path->line.rbegin(), path->line.rend(),
                                     [](const Instruction& instruction) { return instruction.accesses; });
      path->access = static_cast<size_t>(path->line.rend() - last) - 1;
    }
    if (!path) path.emplace().pieces = pieces_;
    found.push_back(std::move(*path));
  }

  const Code& code_;
  const bool anyway_;
  std::vector<Piece> pieces_;
};

}  // namespace

Ways waysTo(const Code& code, size_t offset) {
  Ways ways;
  ways.complete = code.sweep.closed() && offset != 0;
  const auto add = [&](size_t last, const Flow& flow, bool jumps, Condition condition) {
    ways.pieces.push_back({code.sweep.blockStart(last), last + flow.length, last, jumps, condition});
  };
  Flow flow;
  const auto before = code.sweep.instructionBefore(code.bytes, offset);
  if (!before || !decodeFlow(code.bytes.subspan(*before), flow))
    ways.complete = false;
  else if (flow.condition < kAlways)
    add(*before, flow, false, flow.condition ^ 1u);
  else if (!flow.endsBlock) {
    if (!isPadding(code, *before)) add(*before, flow, false, kAlways);
  } else if (flow.falls)
    ways.complete = false;  // behind a call
  for (const auto& [target, at] : code.sweep.jumpsTo(offset)) {
    if (!decodeFlow(code.bytes.subspan(at), flow)) continue;
    if (flow.condition == kOutOfFlags) ways.complete = false;  // loop and xbegin change registers themselves
    add(at, flow, true, std::min(flow.condition, kAlways));
  }
  for (const size_t at : code.sweep.indirectJumps())
    if (decodeFlow(code.bytes.subspan(at), flow)) add(at, flow, true, kAlways);
  if (ways.pieces.empty()) ways.complete = false;  // who knows how it is reached: a handler of exceptions
  return ways;
}

std::optional<Path> pathThrough(const Code& code, std::vector<Piece> pieces) {
  size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.end - piece.from;
  while (bytes < kMostBytes) {
    Ways ways = waysTo(code, pieces.back().from);
    if (!ways.complete || ways.pieces.size() != 1) break;
    bytes += ways.pieces[0].end - ways.pieces[0].from;
    pieces.push_back(ways.pieces[0]);
  }
  Path path;
  for (size_t i = pieces.size(); i-- > 0;) {
    if (!decodePiece(code, pieces[i], path.line, path.offsets)) return {};
    if (pieces[i].condition < kAlways) path.turns.push_back({path.line.size() - 1, pieces[i].condition});
  }
  path.pieces = std::move(pieces);
  return path;
}

std::vector<Path> pathsTo(const Code& code, const Piece& last, size_t behind, bool anyway) {
  Explorer explorer(code, anyway);
  explorer.visit(last, behind);
  if (explorer.found.size() > kMostPaths) return {};
  return std::move(explorer.found);
}

}  // namespace cacheline::decode
