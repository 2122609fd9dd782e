// Placements, one by one.
#include "advice/latent.h"

#include <algorithm>
#include <map>
#include <set>

#include "advice/objects.h"

namespace cacheline::advice {

namespace {

constexpr uint32_t kStep = 16;  // bytes: what malloc() aligns to
/// Of a subject's samples: fewer that wait falsely are no finding.
constexpr double kWorthTelling = 0.05;

using Pairs = std::set<std::pair<std::string, std::string>>;

class Placements {
 public:
  Placements(const analysis::Report& report, const analysis::Subjects& subjects, const Replay& replay)
      : report_(report), subjects_(subjects), replay_(replay) {}

  std::optional<Latent> of(uint32_t number) const {
    const analysis::Subject& subject = subjects_.list()[number];
    const SharedObjects objects(report_, subjects_, number);
    if (objects.empty() || static_cast<double>(objects.samples()) < analysis::kFewestSamples)
      return std::nullopt;
    Latent latent;
    const auto alignment =
        static_cast<uint32_t>(std::max<uint64_t>(kStep, subject.described->layout.align.value_or(1)));
    for (const uint32_t lineSize : {report_.lineSize, 2 * report_.lineSize}) {
      std::vector<LatentPlacement> found;
      bool quiet = false;
      for (uint32_t base = 0; base < lineSize; base += alignment) {
        const Pairs pairs = pairsAt(number, objects, base, lineSize);
        quiet |= pairs.empty();
        if (!pairs.empty()) found.push_back({base, lineSize, {pairs.begin(), pairs.end()}});
      }
      // With every placement alike it is no luck.
      if (quiet) latent.placements.insert(latent.placements.end(), found.begin(), found.end());
    }
    if (latent.placements.empty()) return std::nullopt;
    std::set<std::string> members;
    for (const LatentPlacement& placement : latent.placements)
      for (const auto& [a, b] : placement.pairs) members.insert({a, b});
    latent.type = subject.type;
    latent.object = subject.object;
    latent.members.assign(members.begin(), members.end());
    return latent;
  }

 private:
  /// Members that wait for each other falsely where each object begins `base` bytes behind a line's start.
  Pairs pairsAt(uint32_t number, const SharedObjects& objects, uint32_t base, uint32_t lineSize) const {
    const Replayed replayed = replay_(objects.lines(), objects.alone(base), lineSize, true);
    const auto samples = static_cast<double>(objects.samples());
    Pairs pairs;
    for (const ReplayedLine& line : replayed.lines) {
      if (!line.verdict.waiting) continue;
      const analysis::Waiting& waiting = *line.verdict.waiting;
      for (const analysis::WaitCause& cause : waiting.causes) {
        if (cause.share * cause.falsely * waiting.line.waiting < kWorthTelling * samples) continue;
        const std::string a = memberAt(number, line.start.address + waiting.words[cause.word].offset - base),
                          b = memberAt(number, line.start.address + waiting.words[cause.cause].offset - base);
        if (a != b) pairs.insert(std::minmax(a, b));
      }
    }
    return pairs;
  }

  std::string memberAt(uint32_t number, uint64_t offset) const {
    std::string best;
    uint64_t smallest = ~uint64_t{0};
    for (const layouts::LayoutMember& member : subjects_.list()[number].described->layout.members) {
      if (offset < member.offset || offset - member.offset >= member.size || member.size >= smallest)
        continue;
      smallest = member.size;
      best = member.name;
    }
    return best;
  }

  const analysis::Report& report_;
  const analysis::Subjects& subjects_;
  const Replay& replay_;
};

}  // namespace

std::optional<Latent> latentOf(const analysis::Report& report, const analysis::Subjects& subjects,
                               uint32_t subject, const Replay& replay) {
  const analysis::Subject& of = subjects.list()[subject];
  if (of.described == nullptr || of.opaque || subjects.linesOf(subject).empty()) return std::nullopt;
  return Placements(report, subjects, replay).of(subject);
}

}  // namespace cacheline::advice
