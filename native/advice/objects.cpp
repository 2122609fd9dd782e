// Objects by their samples and threads.
#include "advice/objects.h"

#include <algorithm>

namespace cacheline::advice {

namespace {

std::optional<analysis::Holder> holderOf(const analysis::Subjects& subjects, uint32_t subject, uint32_t line,
                                         uint64_t address) {
  for (const analysis::Holder& holder : subjects.at(line, address))
    if (holder.subject == subject) return holder;
  return std::nullopt;
}

}  // namespace

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
