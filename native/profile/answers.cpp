// The answers of an open profile as JSON.
#include <algorithm>
#include <map>
#include <span>

#include "analysis/own_place.h"
#include "base/error.h"
#include "profile/answer.h"
#include "profile/chosen_lines.h"
#include "profile/line_summary.h"
#include "profile/names_of_lines.h"
#include "profile/profile.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::Line;
using analysis::Report;

/// What accesses have in common, added up.
struct Sum {
  uint64_t records = 0, loads = 0, stores = 0, contended = 0, lines = 0;
  size_t lastLine = ~size_t{0};
  void countLine(size_t line) {
    lines += lastLine != line;
    lastLine = line;
  }
};

void writeSum(Answer& answer, const Sum& item) {
  answer.field("records", item.records);
  answer.field("loads", item.loads);
  answer.field("stores", item.stores);
  answer.field("contended", item.contended);
  answer.field("lines", item.lines);
}

template <typename Key>
std::vector<std::pair<Key, Sum>> sorted(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> list(sums.begin(), sums.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second.contended, b.second.records) < std::pair(a.second.contended, a.second.records);
  });
  return list;
}

/// The elements of a list that accesses of the selected lines name; all, where all lines are selected.
template <typename Item>
std::vector<const Item*> named(const std::vector<Item>& items, bool all, Derived& derived,
                               const std::vector<uint32_t>& selected) {
  std::vector<const Item*> list;
  if (all) {
    for (const Item& item : items) list.push_back(&item);
  } else {
    const NamesOfLines names(derived.uses(), selected);
    for (const Item& item : items)
      if (names.hold(item)) list.push_back(&item);
  }
  return list;
}

}  // namespace

std::string Profile::summary() const {
  const auto now = state();
  double cycles = 0;
  bool known = false;
  const std::vector<double>& ofLines = now->derived->keys().numbers("cycles.sum");
  for (const uint32_t index : now->selected) {
    if (ofLines[index] < 0) continue;
    known = true;
    cycles += ofLines[index];
  }
  Answer answer;
  answer.open();
  answer.raw("report", *now->head);
  answer.open("counts");
  answer.field("lines", uint64_t{now->report->lines.size()});
  answer.field("selected", uint64_t{now->selected.size()});
  answer.field("objects", uint64_t{now->report->objects.size()});
  answer.field("types", uint64_t{now->report->types.size()});
  answer.close();
  if (known)
    answer.field("loadCycles", cycles);
  else
    answer.null("loadCycles");
  answer.close();
  return answer.take();
}

std::pair<size_t, std::vector<uint32_t>> Profile::State::page(const LinesQuestion& question,
                                                              const KeepOn& keepOn) const {
  const Query own = parseQuery(question.filter);
  if (!own.samples.text.empty())
    throw Error(ErrorKind::usage,
                "a list cannot be filtered by terms that choose samples: " + own.samples.text,
                "Filter the profile by them.");
  checkEvidence(own.lines, *report);
  const auto lookAt = [&](size_t line) { look(keepOn, line); };
  std::vector<uint32_t> lines = chosenLines(selected, own.lines, *report, *derived, lookAt);
  if (question.only)
    std::erase_if(lines, [&](uint32_t line) {
      lookAt(line);
      return !question.only->fits(report->lines[line]);
    });
  const size_t total = lines.size();
  const auto [offset, count] = question.range;
  return {total, derived->keys().page(std::move(lines), question.sort, question.descending, offset, count)};
}

namespace {

/// A list of `total` lines, of which `page` are told: each as `element` writes it.
template <class Element>
std::string listOf(size_t total, std::span<const uint32_t> page, const KeepOn& keepOn,
                   const Element& element) {
  Answer answer;
  answer.open();
  answer.field("total", uint64_t{total});
  answer.beginList("rows");
  for (size_t i = 0; i < page.size(); ++i) {
    look(keepOn, i);
    answer.element(element(page[i]));
  }
  answer.endList();
  answer.close();
  return answer.take();
}

}  // namespace

std::string Profile::lines(const LinesQuestion& question, const KeepOn& keepOn) const {
  const auto now = state();
  const auto [total, page] = now->page(question, keepOn);
  const auto parts =
      question.accesses ? analysis::LineParts::withoutCallers : analysis::LineParts::withoutAccesses;
  return listOf(total, page, keepOn,
                [&](uint32_t line) { return Answer().line(*now->report, *now->ids, line, parts); });
}

std::string Profile::rows(const LinesQuestion& question, const KeepOn& keepOn) const {
  const auto now = state();
  const auto [total, page] = now->page(question, keepOn);
  return listOf(total, page, keepOn, [&](uint32_t line) {
    return lineSummary(*now->report, now->report->lines[line], now->ids->of(line));
  });
}

std::string Profile::line(const std::string& id) const {
  const auto now = state();
  const std::optional<uint32_t> index = now->ids->find(id);
  if (!index)
    throw Error(ErrorKind::usage, "there is no line " + id + " among the samples that the filter chooses");
  return Answer().line(*now->report, *now->ids, *index, analysis::LineParts::all);
}

std::string Profile::objects(Range range) const {
  const auto now = state();
  Answer answer;
  return answer.rows(named(now->report->objects, now->isWhole(), *now->derived, now->selected), range,
                     [&](const auto* item) { answer.element(analysis::objectJson(*now->report, *item)); });
}

std::string Profile::types(Range range) const {
  const auto now = state();
  Answer answer;
  return answer.rows(named(now->report->types, now->isWhole(), *now->derived, now->selected), range,
                     [&](const auto* item) { answer.element(analysis::typeJson(*now->report, *item)); });
}

std::string Profile::functions(Range range) const {
  const auto now = state();
  std::map<std::pair<std::string, std::string>, Sum> sums;  // function, binary
  for (const uint32_t index : now->selected)
    for (const Access& access : now->report->lines[index].accesses) {
      Sum& sum = sums[{*analysis::ownCode(*access.code).function, access.code->object}];
      sum.records += access.records;
      sum.loads += access.loads;
      sum.stores += access.stores;
      sum.contended += access.contended;
      sum.countLine(index);
    }
  Answer answer;
  return answer.rows(sorted(sums), range, [&](const auto& item) {
    answer.open();
    answer.field("symbol", item.first.first);
    answer.field("object", item.first.second);
    writeSum(answer, item.second);
    answer.close();
  });
}

std::string Profile::threads(Range range) const {
  struct Thread {
    uint32_t pid = 0, tid = 0;
    std::string comm;
    uint64_t loads = 0, stores = 0, lines = 0, competing = 0;
  };
  const auto now = state();
  std::map<std::pair<uint32_t, uint32_t>, Thread> byId;
  for (const uint32_t index : now->selected)
    for (const analysis::ThreadStatistics& use : now->report->lines[index].threads) {
      Thread& thread = byId.try_emplace({use.pid, use.tid}, Thread{use.pid, use.tid, use.comm}).first->second;
      thread.loads += use.loads;
      thread.stores += use.stores;
      ++thread.lines;
      thread.competing += use.competes;
    }
  std::vector<Thread> list;
  for (auto& entry : byId) list.push_back(std::move(entry.second));
  std::stable_sort(list.begin(), list.end(), [](const Thread& a, const Thread& b) {
    return std::pair(b.competing, b.loads + b.stores) < std::pair(a.competing, a.loads + a.stores);
  });
  Answer answer;
  return answer.rows(list, range, [&](const Thread& thread) {
    answer.open();
    answer.field("pid", thread.pid);
    answer.field("tid", thread.tid);
    answer.field("comm", thread.comm);
    answer.field("loads", thread.loads);
    answer.field("stores", thread.stores);
    answer.field("lines", thread.lines);
    answer.field("competing", thread.competing);
    answer.close();
  });
}

}  // namespace cacheline::profile
