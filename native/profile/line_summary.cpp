// As extension/session/profile/line-summary.ts makes it of a whole line.
#include "profile/line_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/findings_json.h"
#include "analysis/own_place.h"
#include "profile/measure.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::Line;

class SummaryJson : analysis::FindingsJson {
 public:
  explicit SummaryJson(const analysis::Report& report) : FindingsJson(report) {}

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
    uses(accesses);
    place(accesses);
    latency(line);
    nodes(line);
    close();
    return take();
  }

 private:
  struct Use {
    const Access* first = nullptr;
    uint64_t contended = 0, records = 0;
  };

  /// Accesses to the same bytes by the same name are one.
  void uses(const std::vector<const Access*>& accesses) {
    std::vector<Use> merged;
    std::map<std::tuple<uint32_t, std::string_view, std::string_view, std::string_view,
                        std::optional<uint64_t>, uint32_t, std::string_view>,
             size_t>
        known;
    for (const Access* access : accesses) {
      const analysis::DataName& name = access->data;
      const auto& owner = name.stackOwner;
      const auto [found, isNew] = known.try_emplace(
          {access->offset, name.object, name.type, name.field, name.base, owner ? owner->tid : 0,
           owner ? std::string_view(owner->comm) : std::string_view()},
          merged.size());
      if (isNew) merged.push_back({access});
      merged[found->second].contended += access->contended;
      merged[found->second].records += access->records;
    }
    list("data", merged, [&](const Use& use) {
      open();
      data(use.first->data, false);
      field("offset", use.first->offset);
      field("contended", use.contended);
      field("records", use.records);
      close();
    });
  }

  void place(const std::vector<const Access*>& accesses) {
    for (const Access* access : accesses) {
      const analysis::OwnCode found = analysis::ownCode(*access->code);
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
