// Columns, heads and rows of the Pareto table.
#include "c2c/pareto_table.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "c2c/data_text.h"
#include "c2c/source_text.h"
#include "c2c/table_cells.h"
#include "text/grouped_table.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

using analysis::Access;
using text::Entry;
using text::Shorten;

constexpr size_t kHeadData = 70;  ///< columns for the data in a line's head
constexpr size_t kNarrowestRule = 72;
constexpr size_t kRowsWorthAThread = 1000;  ///< rows

class ParetoTable {
 public:
  ParetoTable(const analysis::Report& report, const std::vector<std::string>& data,
              const TableOptions& options)
      : report_(report), data_(data), options_(options), displayed_(report) {
    const auto has = [&](const char* key) {
      const std::vector<std::string>& keys = report.c2c->coalesce;
      return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    pid_ = has("pid");
    tid_ = has("tid");
    code_ = has("iaddr");
    binary_ = code_ || has("dso");
    // A mean of peer hits is told only where there are no HITMs.
    meansKnown_ = displayed_.peer() != report.hitmKnown;
  }

  /// As many parts as there are threads, of about as many rows each.
  void write(text::RowSink& out) const {
    const text::GroupedTable empty(groups(), fields(), options_.width);
    std::vector<Part> parts = this->parts(empty);
    eachPart(parts, [this](Part& part) {
      // The heads are wider than the rows' percentages only now and then; both decide the widths.
      eachEntry(part, [&](const Entry& entry, const analysis::Line*) { part.table.measure(entry); });
    });
    text::GroupedTable table = empty;
    for (const Part& part : parts) table.measure(part.table);
    table.layOut();
    out.add(text::wrap(legend(), options_.width), text::Mark::dim);
    table.writeHeader(out);
    const size_t width = std::min<size_t>(options_.width, std::max(table.numbersWidth(), kNarrowestRule));
    const std::string rule = "  " + std::string(width - 2, '-');
    eachPart(parts, [&](Part& part) {
      size_t index = part.from;
      eachEntry(part, [&](Entry& entry, const analysis::Line* head) {
        if (head == nullptr) return table.write(entry, part.out);
        addHeadTexts(*head, data_[index++], entry);
        part.out.add(rule);
        table.writeHeadline(entry, part.out);
        part.out.add(rule);
      });
    });
    for (Part& part : parts) out.add(std::move(part.out));
  }

 private:
  /// Lines [from, to).
  struct Part {
    size_t from, to;
    text::GroupedTable table;
    SourceText source;
    text::RowSink out;
  };

  std::vector<Part> parts(const text::GroupedTable& empty) const {
    const std::vector<analysis::Line>& lines = report_.lines;
    size_t left = 0;  // rows
    for (const analysis::Line& line : lines) left += line.accesses.size();
    const size_t count = left < kRowsWorthAThread ? 1 : std::max(options_.threads, 1u);
    std::vector<Part> parts;
    for (size_t from = 0, to = 0; parts.size() < count; from = to) {
      const size_t share = left / (count - parts.size());
      size_t rows = 0;
      while (to < lines.size() && (rows < share || parts.size() + 1 == count))
        rows += lines[to++].accesses.size();
      left -= rows;
      parts.push_back({from, to, empty, SourceText(options_.folder), text::RowSink(options_.coloured)});
    }
    return parts;
  }

  template <typename Work>
  static void eachPart(std::vector<Part>& parts, Work work) {
    parallelFor(parts.size(), parts.size(), [&](size_t index) { work(parts[index]); });
  }

  const char* legend() const {
    return displayed_.peer() ? "mean cycles: of loads that a remote or a local peer answered, and of other "
                               "loads; load cycles: "
                               "of all loads of the row"
                             : "mean cycles: of remote HITMs, of local HITMs, and of loads that are neither; "
                               "load cycles: of "
                               "all loads of the row";
  }

  /// As perf, no code address where rows are not told apart by it.
  std::vector<text::Group> groups() const {
    using Columns = std::vector<std::string>;
    std::vector<text::Group> list{{"", {"Num"}},
                                  {displayed_.peer() ? "Peer" : "HITM",
                                   displayed_.peer() ? Columns{"Rmt", "Lcl"} : Columns{"RmtHitm", "LclHitm"}},
                                  {"Store Refs", {"L1 Hit", "L1 Miss", "N/A"}},
                                  {"Data address", {"Offset", "Node", "PA cnt"}}};
    if (pid_) list.push_back({"", {"Pid"}});
    if (tid_) list.push_back({"", {"Tid"}});
    if (code_) list.push_back({"", {"Code address"}});
    list.push_back({"mean cycles", {"rmt", "lcl", "load"}});
    list.push_back({"load cycles", {"p50", "p95", "max"}});
    list.push_back({"Total", {"records", "cpu cnt"}});
    return list;
  }

  std::vector<text::Field> fields() const {
    const std::string share = displayed_.peer() ? "Node{cpus %peers %stores}" : "Node{cpus %hitms %stores}";
    std::vector<text::Field> list;
    if (tid_) list.push_back({"Command", Shorten::end});
    if (code_)
      list.push_back({"Symbol", options_.fullSymbols ? std::nullopt : std::optional(Shorten::middle)});
    if (binary_) list.push_back({"Object", Shorten::middle});
    if (code_ && options_.source) list.push_back({"Source:Line", Shorten::start});
    list.push_back({"Data", Shorten::members});
    list.push_back({options_.nodeInfo == 0   ? "Node"
                    : options_.nodeInfo == 1 ? share
                                             : "Node{cpu list}",
                    std::nullopt});
    return list;
  }

  /// The lines' heads, with the line and without texts, each before its rows.
  template <typename Each>
  void eachEntry(Part& part, Each each) const {
    Entry entry;
    for (size_t i = part.from; i < part.to; ++i) {
      const analysis::Line& line = report_.lines[i];
      addHead(i, *line.memory, entry);
      each(entry, &line);
      for (const Access& access : line.accesses) {
        addRow(access, line, part.source, entry);
        each(entry, nullptr);
      }
    }
  }

  void addHead(size_t index, const analysis::MemoryCounts& counts, Entry& entry) const {
    entry.clear();
    const LoadPair loads = displayed_.of(counts);
    text::appendNumber(entry.bytes(), index);
    entry.endCell();
    for (const uint64_t number : {loads.remote, loads.local}) {
      appendCount(entry.bytes(), displayed_.known() ? std::optional(number) : std::nullopt);
      entry.endCell();
    }
    for (const uint64_t number : {counts.storeL1Hit, counts.storeL1Miss, counts.storeNa}) {
      text::appendNumber(entry.bytes(), number);
      entry.endCell();
    }
  }

  /// What identifies the line, what it is, and what lies on it.
  static void addHeadTexts(const analysis::Line& line, const std::string& data, Entry& entry) {
    text::appendHex(entry.bytes(), line.address);
    entry.endText();
    text::appendPrintable(entry.bytes(), line.space);
    if (line.fileOffset) {
      entry.bytes() += " at ";
      text::appendHex(entry.bytes(), *line.fileOffset);
    }
    entry.endText();
    entry.bytes() += analysis::verdictName(line.verdict);
    for (const std::string& flag : line.flags)
      entry.bytes().append(&flag == &line.flags.front() ? " (" : ", ").append(flag);
    if (!line.flags.empty()) entry.bytes() += ')';
    entry.endText();
    // Of several objects, or of a template with several arguments, no dot is that of all of it.
    const bool several = data.find(", ") != std::string::npos;
    text::appendShortened(entry.bytes(), data, kHeadData, several ? Shorten::middle : Shorten::members);
    entry.endText();
  }

  void addRow(const Access& access, const analysis::Line& line, SourceText& source, Entry& entry) const {
    const analysis::MemoryEvidence& memory = *access.memory;
    entry.clear();
    entry.cell("");
    addShares(memory.counts, *line.memory, entry);
    text::appendHex(entry.bytes(), access.offset);
    entry.endCell();
    appendNodes(entry.bytes(), memory.nodes);
    entry.endCell();
    appendCount(entry.bytes(), memory.physicalChanges);
    entry.endCell();
    if (pid_) {
      text::appendRanges(entry.bytes(), access.processes);
      entry.endCell();
    }
    if (tid_) {
      text::appendRanges(entry.bytes(), access.threads);
      entry.endCell();
    }
    if (code_) {
      text::appendHex(entry.bytes(), access.codeAddress);
      entry.endCell();
    }
    addCycles(memory.cycles, entry);
    text::appendNumber(entry.bytes(), access.records);
    entry.endCell();
    text::appendNumber(entry.bytes(), access.cpus);
    entry.endCell();
    addTexts(access, line, source, entry);
  }

  void addShares(const analysis::MemoryCounts& part, const analysis::MemoryCounts& whole,
                 Entry& entry) const {
    const LoadPair own = displayed_.of(part), all = displayed_.of(whole);
    for (const auto& [number, of] :
         {std::pair(own.remote, all.remote), std::pair(own.local, all.local),
          std::pair(part.storeL1Hit, whole.storeL1Hit), std::pair(part.storeL1Miss, whole.storeL1Miss),
          std::pair(part.storeNa, whole.storeNa)}) {
      appendShare(entry.bytes(), number, of);
      entry.endCell();
    }
  }

  void addCycles(const std::optional<analysis::Cycles>& cycles, Entry& entry) const {
    if (!cycles) {
      for (int i = 0; i < 6; ++i) entry.cell("n/a");
      return;
    }
    const auto [remote, local] = displayed_.peer() ? std::pair(cycles->remotePeer, cycles->localPeer)
                                                   : std::pair(cycles->remoteHitm, cycles->localHitm);
    for (const double mean : {remote, local}) {
      if (meansKnown_)
        addMean(mean, entry);
      else
        entry.cell("n/a");
    }
    addMean(cycles->load, entry);
    for (const uint64_t number : {cycles->p50, cycles->p95, cycles->max}) {
      text::appendNumber(entry.bytes(), number);
      entry.endCell();
    }
  }

  static void addMean(double cycles, Entry& entry) {
    text::appendNumber(entry.bytes(), static_cast<uint64_t>(std::llround(cycles)));
    entry.endCell();
  }

  void addTexts(const Access& access, const analysis::Line& line, SourceText& source, Entry& entry) const {
    if (tid_) {
      text::appendPrintable(entry.bytes(), commOf(access, line));
      entry.endText();
    }
    if (code_) addName(access.code->symbol, entry);
    if (binary_) addName(access.code->object, entry);
    if (code_ && options_.source) {
      source.append(entry.bytes(), *access.code);
      entry.endText();
    }
    appendDataText(entry.bytes(), access.data, line.address + access.offset);
    entry.endText();
    addNodes(access, entry);
    entry.endText();
  }

  static void addName(const std::string& name, Entry& entry) {
    text::appendPrintable(entry.bytes(), name.empty() ? "unknown" : name);
    entry.endText();
  }

  static std::string_view commOf(const Access& access, const analysis::Line& line) {
    for (const analysis::ThreadStatistics& thread : line.threads)
      if (!access.threads.empty() && thread.tid == access.threads.front()) return thread.comm;
    return "unknown";
  }

  /// "0-1", "0{4  62.5%  10.0%} 1{4  37.5%  90.0%}" or "0{0-3} 1{4-7}".
  void addNodes(const Access& access, Entry& entry) const {
    std::string& out = entry.bytes();
    const std::vector<analysis::NodeStatistics>& uses = access.memory->nodeUse;
    if (options_.nodeInfo == 0) return appendNodes(out, access.nodes);
    if (uses.empty()) out += "N/A";
    const uint64_t loads = displayed_.count(displayed_.of(access.memory->counts));
    for (const analysis::NodeStatistics& use : uses) {
      if (&use != &uses.front()) out += ' ';
      text::appendNumber(out, use.node);
      out += '{';
      if (options_.nodeInfo == 2) {
        out += use.cpuList;
      } else {
        const LoadPair own = displayed_.of(use.localHitm, use.remoteHitm, use.localPeer, use.remotePeer);
        text::appendNumber(out, use.cpus);
        appendPart(out, displayed_.count(own), loads);
        appendPart(out, use.stores, access.stores);
      }
      out += '}';
    }
  }

  static void appendPart(std::string& out, uint64_t part, uint64_t whole) {
    out += ' ';
    if (whole == 0) {
      out += "n/a";
      return;
    }
    text::appendFixed(out, static_cast<double>(part) / static_cast<double>(whole) * 100, 1);
    out += '%';
  }

  const analysis::Report& report_;
  const std::vector<std::string>& data_;
  const TableOptions& options_;
  const Displayed displayed_;
  bool pid_ = false, tid_ = false, code_ = false, binary_ = false;  ///< what the table has columns for
  bool meansKnown_ = false;                                         ///< of the displayed loads
};

}  // namespace

void writeParetoTable(const analysis::Report& report, const std::vector<std::string>& data,
                      const TableOptions& options, text::RowSink& out) {
  ParetoTable(report, data, options).write(out);
}

}  // namespace cacheline::c2c
