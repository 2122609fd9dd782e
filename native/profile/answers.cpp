// The answers of an open profile as JSON.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/own_place.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "profile/names_of_lines.h"
#include "profile/profile.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::Line;
using analysis::Report;

constexpr size_t kLinesBetweenLooks = 256;  ///< at whether the question was cancelled

void look(const KeepOn& keepOn, size_t line) {
  if (line % kLinesBetweenLooks == 0 && keepOn && !keepOn())
    throw Error(ErrorKind::cancelled, "the question was cancelled");
}

/// What accesses have in common, added up.
struct Sum {
  uint64_t records = 0, loads = 0, stores = 0, contended = 0, lines = 0;
  size_t lastLine = ~size_t{0};
  void countLine(size_t line) {
    lines += lastLine != line;
    lastLine = line;
  }
};

class Answer : JsonWriter {
 public:
  std::string summary(const Report& report, size_t selected, const std::set<std::string>& files) {
    open();
    raw("report", analysis::headJson(report));
    open("counts");
    field("lines", uint64_t{report.lines.size()});
    field("selected", uint64_t{selected});
    field("objects", uint64_t{report.objects.size()});
    field("types", uint64_t{report.types.size()});
    close();
    list("files", files, [&](const std::string& file) { value(file); });
    close();
    return take();
  }

  std::string line(const Report& report, const LineIds& ids, uint32_t index, bool accesses) {
    open();
    field("id", ids.of(index));
    raw("line", analysis::lineJson(report, report.lines[index], accesses));
    close();
    return take();
  }

  template <typename Items, typename Each>
  std::string rows(const Items& items, Range range, Each each) {
    open();
    field("total", uint64_t{items.size()});
    beginList("rows");
    const size_t begin = std::min(range.offset, items.size()),
                 end = begin + std::min(range.count, items.size() - begin);
    for (size_t i = begin; i < end; ++i) each(items[i]);
    endList();
    close();
    return take();
  }

  using JsonWriter::beginList;
  using JsonWriter::close;
  using JsonWriter::element;
  using JsonWriter::endList;
  using JsonWriter::field;
  using JsonWriter::open;
  using JsonWriter::take;

  void sum(const Sum& item) {
    field("records", item.records);
    field("loads", item.loads);
    field("stores", item.stores);
    field("contended", item.contended);
    field("lines", item.lines);
  }
};

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
std::vector<const Item*> named(const std::vector<Item>& items, const Report& report,
                               const std::vector<uint32_t>& selected) {
  const bool all = selected.size() == report.lines.size();
  const NamesOfLines names(report, all ? std::vector<uint32_t>() : selected);
  std::vector<const Item*> list;
  for (const Item& item : items)
    if (all || names.hold(item)) list.push_back(&item);
  return list;
}

template <typename Each>
void eachFile(const Line& line, Each each) {
  for (const Access& access : line.accesses) {
    each(access.code->file);
    for (const symbols::SourceFrame& frame : access.code->inlined) each(frame.file);
    if (access.data.definition) each(access.data.definition->file);
  }
}

}  // namespace

std::string Profile::summary() const {
  const auto now = state();
  std::set<std::string> files;
  for (const uint32_t index : now->selected)
    eachFile(now->report->lines[index], [&](const std::string& file) {
      if (!file.empty()) files.insert(file);
    });
  return Answer().summary(*now->report, now->selected.size(), files);
}

std::string Profile::lines(const LinesQuestion& question, const KeepOn& keepOn) const {
  const auto now = state();
  const Report& report = *now->report;
  const Query query = parseQuery(question.filter);
  if (!query.samples.text.empty())
    throw Error(ErrorKind::usage, "the filter of a list chooses samples: " + query.samples.text,
                "Filter the profile by them.");
  checkEvidence(query.lines, report);
  std::vector<uint32_t> selected;
  if (query.lines.empty()) {
    selected = now->selected;
  } else {
    for (const uint32_t index : now->selected) {
      look(keepOn, index);
      if (selects(query.lines, report.lines[index])) selected.push_back(index);
    }
  }
  const size_t total = selected.size();
  const std::vector<uint32_t> page =
      now->keysOf(question.sort)
          ->page(std::move(selected), question.descending, question.range.offset, question.range.count);
  Answer answer;
  answer.open();
  answer.field("total", uint64_t{total});
  answer.beginList("rows");
  for (size_t i = 0; i < page.size(); ++i) {
    look(keepOn, i);
    answer.element(Answer().line(report, *now->ids, page[i], question.accesses));
  }
  answer.endList();
  answer.close();
  return answer.take();
}

std::string Profile::line(const std::string& id) const {
  const auto now = state();
  const std::optional<uint32_t> index = now->ids->find(id);
  if (!index)
    throw Error(ErrorKind::usage, "there is no line " + id + " among the samples that the filter chooses");
  return Answer().line(*now->report, *now->ids, *index, true);
}

std::string Profile::objects(Range range) const {
  const auto now = state();
  Answer answer;
  return answer.rows(named(now->report->objects, *now->report, now->selected), range,
                     [&](const auto* item) { answer.element(analysis::objectJson(*now->report, *item)); });
}

std::string Profile::types(Range range) const {
  const auto now = state();
  Answer answer;
  return answer.rows(named(now->report->types, *now->report, now->selected), range,
                     [&](const auto* item) { answer.element(analysis::typeJson(*now->report, *item)); });
}

std::string Profile::functions(Range range) const {
  const auto now = state();
  std::map<std::pair<std::string, std::string>, Sum> sums;  // function, binary
  for (const uint32_t index : now->selected)
    for (const Access& access : now->report->lines[index].accesses) {
      Sum& sum = sums[{analysis::ownFunction(*access.code), access.code->object}];
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
    answer.sum(item.second);
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

std::string Profile::heat(const std::string& file, const KeepOn& keepOn) const {
  const auto now = state();
  Answer answer;
  answer.open();
  answer.beginList("rows");
  for (const uint32_t index : now->selected) {
    look(keepOn, index);
    bool stands = false;
    eachFile(now->report->lines[index], [&](const std::string& other) { stands |= other == file; });
    if (stands) answer.element(Answer().line(*now->report, *now->ids, index, true));
  }
  answer.endList();
  answer.close();
  return answer.take();
}

}  // namespace cacheline::profile
