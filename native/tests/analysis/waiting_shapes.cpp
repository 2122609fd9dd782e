// Random samples of lines of a known kind.
#include "waiting_shapes.h"

#include <algorithm>

namespace cacheline::analysis::test {

ShapedLine& ShapedLine::use(uint32_t actor, uint32_t offset, Kind kind, double weight, uint64_t function) {
  WordStatistics place;
  place.offset = offset;
  place.width = 8;
  place.reads = kind != writes;
  place.writes = kind != reads;
  place.locked = kind == locks;
  place.function = function;
  place.code = (function << 16) + offset * 8 + kind;
  const auto same = [&](const WordStatistics& other) {
    return other.code == place.code && other.offset == offset;
  };
  auto at = std::find_if(uses_.begin(), uses_.end(), same);
  if (at == uses_.end()) at = uses_.insert(uses_.end(), place);
  roles_.push_back({actor, static_cast<uint32_t>(at - uses_.begin()), weight});
  actors_ = std::max(actors_, actor + 1);
  return *this;
}

ShapedLine& ShapedLine::sample(size_t count, uint32_t seed, double stays) {
  std::mt19937 random(seed);
  std::vector<double> weights;
  for (const Role& role : roles_) weights.push_back(role.weight);
  std::discrete_distribution<size_t> any(weights.begin(), weights.end());
  std::bernoulli_distribution again(stays);
  samples_.clear();
  while (samples_.size() < count) {
    const Role& role = roles_[any(random)];
    if (!samples_.empty() && role.actor != samples_.back().visitor && again(random)) continue;
    samples_.push_back({role.use, role.actor, true});
  }
  return *this;
}

ShapedLine ShapedLine::thinned(double part, uint32_t seed) const {
  std::mt19937 random(seed);
  std::bernoulli_distribution kept(part);
  ShapedLine result = *this;
  std::erase_if(result.samples_, [&](const PlaceSample&) { return !kept(random); });
  return result;
}

Waiting ShapedLine::waiting(bool pairs) const {
  std::vector<Visitor> visitors;
  for (uint32_t actor = 0; actor < actors_; ++actor) visitors.push_back({actor, actor});
  const std::vector<std::vector<bool>> compete(actors_, std::vector<bool>(actors_, true));
  // What was never sampled is not known.
  std::vector<uint32_t> known(uses_.size(), WordGroups::kNobody);
  std::vector<WordStatistics> uses;
  std::vector<PlaceSample> samples = samples_;
  for (PlaceSample& sample : samples) {
    if (known[sample.use] == WordGroups::kNobody) {
      known[sample.use] = static_cast<uint32_t>(uses.size());
      uses.push_back(uses_[sample.use]);
    }
    sample.use = known[sample.use];
  }
  return waitingOf({uses, samples, visitors, &compete}, true, pairs);
}

std::vector<Shape> shapes() {
  using Line = ShapedLine;
  std::vector<Shape> list;
  const auto add = [&](const std::string& name, std::function<Line()> make) {
    list.push_back({name, std::move(make)});
  };
  for (const uint32_t threads : {2u, 4u, 8u}) {
    const std::string n = " " + std::to_string(threads);
    add("own counters" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < threads; ++t) line.use(t, t * 8, Line::locks);
      return line;
    });
    add("one counter" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < threads; ++t) line.use(t, 8, Line::locks);
      return line;
    });
    add("record and its lock" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < threads; ++t) {
        line.use(t, 0, Line::locks, 6);
        for (uint32_t word = 1; word < 4; ++word) line.use(t, word * 8, Line::changes, 1);
      }
      return line;
    });
    add("lock beside readers" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < 2; ++t) line.use(t, 0, Line::locks, 10).use(t, 8, Line::locks, 10);
      for (uint32_t t = 2; t < 2 + threads; ++t) line.use(t, 16 + 8 * (t % 4), Line::reads, 2, 1);
      return line;
    });
    add("descriptor" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < threads; ++t)
        line.use(t, 0, Line::reads, 4, 1)
            .use(t, 8, Line::reads, 2, 1)
            .use(t, 24, Line::locks, 2, 2)
            .use(t, 32, Line::locks, 1, 2);
      return line;
    });
    add("elements of all" + n, [=] {
      Line line;
      for (uint32_t t = 0; t < threads; ++t)
        for (uint32_t word = 0; word < 8; ++word) line.use(t, word * 8, Line::locks);
      return line;
    });
    add("one writer, readers" + n, [=] {
      Line line;
      line.use(0, 0, Line::writes, 1);
      for (uint32_t t = 1; t <= threads; ++t) line.use(t, 0, Line::reads, 2);
      return line;
    });
    add("written word, readers of another one" + n, [=] {
      Line line;
      line.use(0, 0, Line::writes, 1);
      for (uint32_t t = 1; t <= threads; ++t) line.use(t, 8, Line::reads, 2);
      return line;
    });
  }
  for (const double share : {0.1, 0.3, 1.0}) {
    const std::string n = " " + std::to_string(static_cast<int>(share * 10));
    add("message" + n, [=] {
      Line line;
      for (uint32_t word = 0; word < 8; ++word)
        line.use(0, word * 8, Line::writes, share, 1).use(1, word * 8, Line::reads, 1, 2);
      return line;
    });
    add("ring" + n, [=] {
      Line line;
      line.use(0, 0, Line::changes, 1, 1).use(0, 8, Line::reads, share, 1);
      line.use(1, 8, Line::changes, 1, 2).use(1, 0, Line::reads, share, 2);
      return line;
    });
  }
  return list;
}

}  // namespace cacheline::analysis::test
