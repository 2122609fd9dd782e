// An open recording that answers questions. docs/design/profile.md has the questions and what filters mean.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "profile/analyze.h"
#include "profile/derived.h"
#include "profile/line_ids.h"
#include "profile/measure.h"
#include "profile/query.h"
#include "sharing/options.h"

namespace cacheline::profile {

/// Asked now and then during a question; false cancels it: Error(cancelled).
using KeepOn = std::function<bool()>;

/// Part of a list: from `offset` on, at most `count`.
struct Range {
  size_t offset = 0, count = 0;
};

/// Lines of which one access fits all that is said.
struct LineChoice {
  /// Where its code stands, inlined or not, or its data is defined.
  std::optional<analysis::Place> place = {};
  std::vector<std::string> types = {};     ///< DataName::type is one of them; empty: any
  std::optional<std::string> object = {};  ///< DataName::object
  bool fits(const analysis::Line& line) const;
};

struct LinesQuestion {
  std::string filter = {};  ///< terms that select lines, beside those of the profile
  std::optional<LineChoice> only = {};
  std::string sort = "contended";
  bool descending = true;
  Range range = {};
  bool accesses = true;  ///< with the accesses of each line
};

class Profile {
 public:
  /// `filter`: see query.h; it and the options select samples together. Throws what analyze() throws, and
  /// Error(usage) where the filter cannot be understood.
  Profile(std::string path, sharing::Options options, const std::string& filter, const Progress& progress);

  /// Another filter. The recording is read again only where other samples are chosen. Where it throws, the
  /// profile stays as it was.
  void filter(const std::string& text, const Progress& progress);

  /// What was computed from the samples that the filter chooses; lines that it leaves out are in it.
  std::shared_ptr<const analysis::Report> report() const { return state()->report; }
  /// The report without the lines that the filter leaves out, and of objects and types those that accesses of
  /// the others name. The profile can be asked nothing more.
  analysis::Report takeReport() &&;
  /// What the report was made from and needs no more: freeing it can take a while.
  std::shared_ptr<const void> takeSource();

  /// Answers are JSON. May be asked from several threads, also while filter() runs: then of the state before.
  /// {"report": the document without its lines and objects (empty), "counts": {"lines", "selected",
  /// "objects", "types"}, "loadCycles": of the selected lines, or null where no load carries a latency}.
  std::string summary() const;
  /// {"total", "rows": [{"id", "line"}]}.
  std::string lines(const LinesQuestion& question, const KeepOn& keepOn) const;
  /// {"total", "rows"}: of the same lines their summaries (line_summary.h).
  std::string rows(const LinesQuestion& question, const KeepOn& keepOn) const;
  /// {"id", "line"}; Error(usage) where there is no such line among the samples chosen.
  std::string line(const std::string& id) const;
  /// {"total", "rows"}: sums as in the report, of those that accesses of selected lines name.
  std::string objects(Range range) const;
  std::string types(Range range) const;
  /// {"total", "rows"}, added up over the selected lines, most contended samples first.
  std::string functions(Range range) const;
  std::string threads(Range range) const;
  /// {"rows": [{"line", "amount", "caused", "writers", "readers", "both"}]}: what was measured on the lines
  /// of a source file, by accesses of the selected lines whose code stands there, inlined or not. `caused`:
  /// where they measured nothing themselves, what the cache lines did that they store to. The last three: how
  /// many of the threads that compete there write, read, and do both.
  std::string heat(const std::string& file, Measure measure, const KeepOn& keepOn) const;
  /// {"rows": [{"file", "line", "binaries", "uses": [{"object", "field", "called"}]}]}: each source line on
  /// which code of the selected lines stands, the binaries of this code, and what it uses there (of many
  /// names some): fields without the indices of elements, and the function that was inlined.
  std::string places(const KeepOn& keepOn) const;
  /// {"rows": [{"data", "width", "amount", "place"}]}: the members of data that accesses of the selected
  /// lines name, of all elements together, in the order of the report. `place`: the program's own code that
  /// measured most.
  std::string data(Measure measure, const KeepOn& keepOn) const;

  /// {"function", "object", "problem", "contended", "address", "bytesBefore", "bytesBehind", "instructions":
  /// [{"address", "text", "place", "inlined", "samples", "contended", "ofLine", "data"}]}: the code around an
  /// access of a line, by its index: its function, of a long one at most 200 instructions on each side. Its
  /// binary is opened again; where that cannot be had, `problem` says why, and there are no instructions.
  /// Counts are of accesses of the selected lines, `contended` of the head of the whole report. `ofLine`: the
  /// line that was asked for is accessed there. Addresses are the binary's own.
  std::string code(const std::string& id, uint32_t access, const KeepOn& keepOn) const;

 private:
  /// Never changes.
  struct State {
    std::shared_ptr<analysis::Report> report;
    std::shared_ptr<const LineIds> ids;       ///< of its lines
    std::shared_ptr<const std::string> head;  ///< its JSON without lines and objects
    std::shared_ptr<Derived> derived;         ///< of it
    Query query;
    std::vector<uint32_t> selected;  ///< indices of lines
    bool isWhole() const { return selected.size() == report->lines.size(); }
    /// How many lines fit the question, and the indices of those of its range.
    std::pair<size_t, std::vector<uint32_t>> page(const LinesQuestion& question, const KeepOn& keepOn) const;
  };

  std::shared_ptr<const State> state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  std::shared_ptr<const State> made(const std::string& text, const Progress& progress);
  double seconds(const Progress& progress);

  const std::string path_;
  const sharing::Options options_;
  std::mutex filtering_;           ///< one filter() at a time
  std::optional<double> seconds_;  ///< of the whole recording, once it is known
  mutable std::mutex mutex_;       ///< of state_
  std::shared_ptr<const State> state_;
};

}  // namespace cacheline::profile
