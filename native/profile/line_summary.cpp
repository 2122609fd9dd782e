// As extension/session/profile/line-summary.ts makes it of a whole line.
#include "profile/line_summary.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/memory_json.h"
#include "analysis/own_place.h"
#include "profile/measure.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::Line;

class SummaryJson : analysis::MemoryJson {
 public:
  explicit SummaryJson(const analysis::Report& report) : MemoryJson(report) {}

  std::string of(const Line& line, const std::string& id) {
    const std::vector<const Access*> accesses = costliestFirst(line);
    open();
    field("id", id);
    address("address", line.address);
    field("space", line.space);
    optional("node", line.nodes);
    optional("paCount", line.physicalChanges);
    field("verdict", analysis::verdictName(line.verdict));
    if (line.confirmation) {
      open("confirmation");
      field("confirmed", line.confirmation->confirmed);
      field("sentence", line.confirmation->sentence);
      close();
    }
    list("flags", line.flags, [&](const std::string& flag) { value(flag); });
    field("contended", line.contended);
    const analysis::MemoryCounts* memoryCounts = line.memory ? &*line.memory : nullptr;
    counts(memoryCounts, true);
    field("records", line.records);
    field("loads", line.loads);
    stores(line.stores, line.rmw, memoryCounts);
    field("threads", uint64_t{line.threads.size()});
    const auto [writers, readers] = userCounts(line);
    field("writers", writers);
    field("readers", readers);
    data(accesses);
    place(accesses);
    latency(line);
    nodes(line);
    close();
    return take();
  }

 private:
  void data(const std::vector<const Access*>& accesses) {
    std::set<std::tuple<std::string_view, uint32_t, std::string_view>> seen;
    beginList("data");
    for (const Access* access : accesses) {
      const auto& [object, owner] = std::tie(access->data.object, access->data.stackOwner);
      const std::string_view comm = owner ? std::string_view(owner->comm) : std::string_view();
      if (!seen.emplace(object, owner ? owner->tid : 0, comm).second) continue;
      open();
      field("object", object);
      if (owner) {
        open("stackOwner");
        field("pid", owner->pid);
        field("tid", owner->tid);
        field("comm", owner->comm);
        close();
      }
      close();
    }
    endList();
  }

  void place(const std::vector<const Access*>& accesses) {
    for (const Access* access : accesses) {
      const analysis::SourceLine found = analysis::ownPlace(*access->code, analysis::isForeignSource);
      if (found.file->empty() || found.line == 0) continue;
      open("place");
      field("file", *found.file);
      field("line", found.line);
      close();
      return;
    }
    null("place");
  }

  void latency(const Line& line) {
    double cycles = 0;
    uint64_t timed = 0;
    bool known = false;
    for (const Access& access : line.accesses) {
      if (!access.memory || !access.memory->cycles) continue;
      known = true;
      cycles += amountOf(access, Measure::latency);
      timed += access.loads;
    }
    if (!known) return nulls({"loadCycles", "timedLoads"});
    field("loadCycles", cycles);
    field("timedLoads", timed);
  }

  void nodes(const Line& line) {
    std::set<uint32_t> users;
    for (const Access& access : line.accesses) users.insert(access.nodes.begin(), access.nodes.end());
    list("nodes", users, [&](uint32_t node) { value(uint64_t{node}); });
  }
};

}  // namespace

std::string lineSummary(const analysis::Report& report, const Line& line, const std::string& id) {
  return SummaryJson(report).of(line, id);
}

UserCounts userCounts(const Line& line) {
  UserCounts counts;
  for (const analysis::ThreadStatistics& use : line.threads) {
    if (!use.competes && line.contended != 0) continue;
    counts.writers += use.stores > 0;
    counts.readers += use.loads > 0 || use.stores == 0;
  }
  return counts;
}

std::vector<const Access*> costliestFirst(const Line& line) {
  std::vector<const Access*> rows;
  rows.reserve(line.accesses.size());
  for (const Access& access : line.accesses) rows.push_back(&access);
  std::stable_sort(rows.begin(), rows.end(), [](const Access* a, const Access* b) {
    return std::tuple(b->contended, b->records, a->offset) < std::tuple(a->contended, a->records, b->offset);
  });
  return rows;
}

}  // namespace cacheline::profile
