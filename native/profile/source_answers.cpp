// Answers about source lines and data, added up over all lines: as long as the program's source, not as the
// report.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/own_place.h"
#include "profile/answer.h"
#include "profile/profile.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::CodeName;
using analysis::DataName;
using analysis::Line;

constexpr size_t kMostUses = 16;  ///< names of one source line

/// Each place that the code stands on, once: its innermost and those that it was inlined into. `each` gets
/// file, line, and the function that was inlined there.
template <typename Each>
void eachPlace(const CodeName& code, Each each) {
  static const std::string kNone;
  std::vector<std::pair<std::string_view, uint32_t>> seen;
  const auto add = [&](const std::string& file, uint32_t line) {
    if (file.empty() || line == 0) return;
    const std::pair<std::string_view, uint32_t> place(file, line);
    if (std::ranges::find(seen, place) != seen.end()) return;
    seen.push_back(place);
    size_t frame = 0;
    while (frame < code.inlined.size() &&
           (code.inlined[frame].file != file || code.inlined[frame].line != line))
      ++frame;
    const bool called = frame > 0 && frame < code.inlined.size();
    each(file, line, called ? code.inlined[frame - 1].function : kNone);
  };
  add(code.file, code.line);
  for (const symbols::SourceFrame& frame : code.inlined) add(frame.file, frame.line);
}

/// Of the threads that compete here.
struct Roles {
  std::set<uint32_t> writers, readers;
  void add(const Line& line, const Access& access, Measure measure) {
    for (const uint32_t tid : access.threads) {
      // A load that another core's cache answered proves that its thread competes, however few samples show
      // turns.
      if (measure == Measure::contended &&
          std::ranges::none_of(line.threads, [&](const analysis::ThreadStatistics& use) {
            return use.tid == tid && use.competes;
          }))
        continue;
      if (access.stores > 0) writers.insert(tid);
      if (access.loads > 0 || access.stores == 0) readers.insert(tid);
    }
  }
  uint64_t both() const {
    return static_cast<uint64_t>(
        std::ranges::count_if(writers, [&](const uint32_t tid) { return readers.contains(tid); }));
  }
};

struct Heat {
  double amount = 0, caused = 0;
  size_t lastWritten = ~size_t{0};
  Roles roles;
};

/// What stands on a source line.
struct CodePlace {
  std::set<std::string_view> binaries;
  std::set<std::tuple<std::string_view, std::string, std::string_view>> uses;  ///< object, field, called
};

/// Accesses to one member of data of one name.
struct DataSum {
  const Access* first = nullptr;
  double amount = 0, most = -1;
  analysis::OwnCode place = {};
};

/// The lines of a file that each code stands on; codes are few, and rows are many.
class LinesOfFile {
 public:
  explicit LinesOfFile(const std::string& file) : file_(file) {}
  const std::vector<uint32_t>& of(const CodeName& code) {
    const auto [found, isNew] = lines_.try_emplace(&code);
    if (isNew)
      eachPlace(code,
                [&, &lines = found->second](const std::string& file, uint32_t line, const std::string&) {
                  if (file == file_) lines.push_back(line);
                });
    return found->second;
  }

 private:
  const std::string& file_;
  std::unordered_map<const CodeName*, std::vector<uint32_t>> lines_;
};

}  // namespace

void writePlace(Answer& answer, const char* name, const std::string* file, uint32_t line) {
  if (file == nullptr || file->empty()) {
    answer.null(name);
    return;
  }
  answer.open(name);
  answer.field("file", *file);
  answer.field("line", line);
  answer.close();
}

void writeData(Answer& answer, const DataName& data) {
  answer.open("data");
  answer.field("object", data.object);
  answer.field("offset", data.offset);
  writePlace(answer, "definition", data.definition ? &data.definition->file : nullptr,
             data.definition ? data.definition->line : 0);
  answer.field("how", howName(data.how));
  answer.field("type", data.type);
  answer.field("field", data.field);
  answer.optional("fieldOffset", data.fieldOffset);
  if (data.stackOwner) {
    answer.open("stackOwner");
    answer.field("pid", data.stackOwner->pid);
    answer.field("tid", data.stackOwner->tid);
    answer.field("comm", data.stackOwner->comm);
    answer.close();
  } else {
    answer.null("stackOwner");
  }
  answer.close();
}

bool LineChoice::fits(const Line& line) const {
  return std::ranges::any_of(line.accesses, [&](const Access& access) {
    const DataName& data = access.data;
    if (place) {
      bool here =
          data.definition && data.definition->file == place->file && data.definition->line == place->line;
      eachPlace(*access.code, [&](const std::string& file, uint32_t number, const std::string&) {
        here |= number == place->line && file == place->file;
      });
      if (!here) return false;
    }
    if (!types.empty() && std::ranges::find(types, data.type) == types.end()) return false;
    return !object || *object == data.object;
  });
}

std::string Profile::heat(const std::string& file, Measure measure, const KeepOn& keepOn) const {
  const auto now = state();
  std::map<uint32_t, Heat> heats;
  LinesOfFile lines(file);
  for (size_t i = 0; i < now->selected.size(); ++i) {
    look(keepOn, i);
    const Line& line = now->report->lines[now->selected[i]];
    std::optional<double> ofLine;
    for (const Access& access : line.accesses) {
      const std::vector<uint32_t>& own = lines.of(*access.code);
      if (own.empty()) continue;
      if (!ofLine) ofLine = amountOf(line, measure);
      const double amount = amountOf(access, measure);
      // Data sources are of loads: what only stores has none itself, and makes the loads of its line miss.
      const bool causes = measure != Measure::contended && access.stores > 0 && *ofLine > 0;
      for (const uint32_t number : own) {
        Heat& heat = heats[number];
        heat.amount += amount;
        if (causes && std::exchange(heat.lastWritten, i) != i) heat.caused += *ofLine;
        if (amount > 0 || causes) heat.roles.add(line, access, measure);
      }
    }
  }
  Answer answer;
  answer.open();
  answer.beginList("rows");
  for (const auto& [line, heat] : heats) {
    if (heat.amount == 0 && heat.caused == 0) continue;
    answer.open();
    answer.field("line", line);
    answer.field("amount", heat.amount);
    answer.field("caused", heat.amount == 0 ? heat.caused : 0.0);
    answer.field("writers", uint64_t{heat.roles.writers.size()});
    answer.field("readers", uint64_t{heat.roles.readers.size()});
    answer.field("both", heat.roles.both());
    answer.close();
  }
  answer.endList();
  answer.close();
  return answer.take();
}

std::string Profile::places(const KeepOn& keepOn) const {
  const auto now = state();
  std::map<std::pair<std::string_view, uint32_t>, CodePlace> places;
  const Uses& uses = now->derived->uses();
  for (const uint32_t use : uses.of(now->selected, [&](size_t line) { look(keepOn, line); })) {
    const Access& access = *uses.at(use).first;
    eachPlace(*access.code, [&](const std::string& file, uint32_t line, const std::string& called) {
      CodePlace& place = places[{file, line}];
      place.binaries.insert(access.code->object);
      if (place.uses.size() < kMostUses)
        place.uses.emplace(access.data.object, analysis::withoutIndices(access.data.field), called);
    });
  }
  Answer answer;
  answer.open();
  answer.beginList("rows");
  for (const auto& [where, place] : places) {
    answer.open();
    answer.field("file", where.first);
    answer.field("line", where.second);
    answer.list("binaries", place.binaries, [&](std::string_view binary) { answer.value(binary); });
    answer.beginList("uses");
    for (const auto& [object, field, called] : place.uses) {
      answer.open();
      answer.field("object", object);
      answer.field("field", field);
      answer.field("called", called);
      answer.close();
    }
    answer.endList();
    answer.close();
  }
  answer.endList();
  answer.close();
  return answer.take();
}

std::string Profile::data(Measure measure, const KeepOn& keepOn) const {
  const auto now = state();
  const Uses& uses = now->derived->uses();
  const std::vector<double>& amounts = now->derived->amounts(measure);
  std::vector<DataSum> sums(uses.dataCount());
  std::vector<const DataSum*> order;
  for (size_t i = 0; i < now->selected.size(); ++i) {
    look(keepOn, i);
    const uint32_t index = now->selected[i];
    const size_t first = uses.firstOf(index);
    for (size_t at = first; at < uses.firstOf(index + 1); ++at) {
      const Use& use = uses.ofAccess(at);
      DataSum& sum = sums[use.data];
      if (sum.first == nullptr) {
        sum.first = &now->report->lines[index].accesses[at - first];
        order.push_back(&sum);
      }
      sum.amount += amounts[at];
      if (amounts[at] <= sum.most) continue;
      const analysis::OwnCode place = analysis::ownCode(*use.first->code);
      if (place.file->empty()) continue;
      sum.most = amounts[at];
      sum.place = place;
    }
  }
  Answer answer;
  answer.open();
  answer.beginList("rows");
  for (const DataSum* sum : order) {
    answer.open();
    writeData(answer, sum->first->data);
    answer.field("width", sum->first->width);
    answer.field("amount", sum->amount);
    writePlace(answer, "place", sum->place.file, sum->place.line);
    answer.close();
  }
  answer.endList();
  answer.close();
  return answer.take();
}

}  // namespace cacheline::profile
