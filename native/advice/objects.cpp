// Objects by their samples and threads.
#include "advice/objects.h"

#include <algorithm>

#include "analysis/line_history.h"

namespace cacheline::advice {

namespace {

/// Of the samples at an array: where more are of others than the elements' owners, these share them.
constexpr double kFewStrangers = 0.05;

std::optional<analysis::Holder> holderOf(const analysis::Subjects& subjects, uint32_t subject, uint32_t line,
                                         uint64_t address) {
  for (const analysis::Holder& holder : subjects.at(line, address))
    if (holder.subject == subject) return holder;
  return std::nullopt;
}

}  // namespace

uint64_t elementsInRow(const analysis::Report& report, const analysis::Subjects& subjects, uint32_t subject) {
  std::map<std::pair<std::string, uint64_t>, std::map<uint32_t, uint64_t>> samples;  // by element and actor
  for (const uint32_t line : subjects.linesOf(subject)) {
    const analysis::Line& from = report.lines[line];
    if (!from.history) continue;
    const analysis::LineAccesses& accesses = from.history->accesses;
    for (const analysis::PlaceSample& sample : accesses.samples) {
      const auto holder = holderOf(subjects, subject, line, from.address + accesses.uses[sample.use].offset);
      if (!holder) continue;
      const uint32_t actor = from.history->actors[accesses.visitors[sample.visitor].actor];
      samples[{from.space, holder->base}][actor] += sample.weight;
    }
  }
  struct Row {
    std::pair<std::string, uint64_t> first;  ///< element
    uint64_t last = 0;
    uint32_t owner = 0;
  };
  std::vector<Row> rows;
  double all = 0, strangers = 0;
  const auto lineOf = [&](uint64_t address) { return address / report.lineSize; };
  for (const auto& [element, by] : samples) {
    const auto most = std::ranges::max_element(by, {}, [](const auto& each) { return each.second; });
    for (const auto& [actor, weight] : by) {
      all += static_cast<double>(weight);
      if (actor != most->first) strangers += static_cast<double>(weight);
    }
    const bool goesOn = !rows.empty() && rows.back().owner == most->first &&
                        rows.back().first.first == element.first &&
                        lineOf(element.second) - lineOf(rows.back().last) <= 1;
    if (goesOn) {
      rows.back().last = element.second;
      continue;
    }
    // An owner that comes again on the line takes elements here and there.
    for (auto row = rows.rbegin(); row != rows.rend() && row->first.first == element.first &&
                                   lineOf(row->last) == lineOf(element.second);
         ++row)
      if (row->owner == most->first) return 0;
    rows.push_back({element, element.second, most->first});
  }
  if (strangers > kFewStrangers * all) return 0;
  uint64_t longest = 0;
  for (const Row& row : rows)
    longest = std::max(longest, (row.last - row.first.second) / subjects.list()[subject].size + 1);
  return longest;
}

SharedObjects::SharedObjects(const analysis::Report& report, const analysis::Subjects& subjects,
                             uint32_t subject)
    : report_(report), subjects_(subjects), subject_(subject) {
  struct Touched {
    uint64_t samples = 0;
    std::set<uint32_t> threads, lines;
  };
  std::map<Object, Touched> touched;
  for (const uint32_t line : subjects.linesOf(subject)) {
    const analysis::Line& from = report.lines[line];
    for (const analysis::Access& access : from.accesses) {
      const auto holder = holderOf(subjects, subject, line, from.address + access.offset);
      if (!holder) continue;
      Touched& object = touched[{from.space, holder->base}];
      object.samples += access.records;
      object.threads.insert(access.threads.begin(), access.threads.end());
      object.lines.insert(line);
    }
  }
  std::vector<std::pair<uint64_t, const std::pair<const Object, Touched>*>> most;
  for (const auto& object : touched)
    if (object.second.threads.size() > 1) most.emplace_back(object.second.samples, &object);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (most.size() > kMostObjects) most.resize(kMostObjects);
  std::set<uint32_t> lines;
  for (const auto& [samples, object] : most) {
    const auto space = static_cast<uint32_t>(report.lines.size() + spaces_.size());
    spaces_.emplace(object->first, space);
    samples_ += samples;
    lines.insert(object->second.lines.begin(), object->second.lines.end());
  }
  lines_.assign(lines.begin(), lines.end());
}

Move SharedObjects::alone(uint64_t base) const {
  return [this, base](uint32_t line, uint64_t address) -> std::optional<Moved> {
    const auto holder = holderOf(subjects_, subject_, line, address);
    if (!holder) return std::nullopt;
    const auto space = spaces_.find({report_.lines[line].space, holder->base});
    if (space == spaces_.end()) return std::nullopt;
    return Moved{space->second, base + (address - holder->base)};
  };
}

}  // namespace cacheline::advice
