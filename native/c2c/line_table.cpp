// Columns and rows of the table of lines.
#include "c2c/line_table.h"

#include <algorithm>
#include <utility>

#include "c2c/table_cells.h"
#include "text/grouped_table.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

using text::Entry;

class LineTable {
 public:
  LineTable(const analysis::Report& report, const std::vector<std::string>& data)
      : report_(report), data_(data), displayed_(report), all_(displayed_.count(allLoads())) {}

  void write(const TableOptions& options, text::RowSink& out) {
    text::GroupedTable table(groups(),
                             {{"Data", text::Shorten::middle, true, text::Mark::bold},
                              {"Verdict", std::nullopt, true, text::Mark::none}},
                             options.width);
    eachEntry([&](const Entry& entry) { table.measure(entry); });
    table.layOut();
    table.writeHeader(out);
    eachEntry([&](const Entry& entry) { table.write(entry, out); });
  }

 private:
  std::vector<text::Group> groups() const {
    const bool hitm = report_.hitmKnown;
    using Columns = std::vector<std::string>;
    return {{"", {"Index"}},
            {report_.c2c->doubleLine ? "Double-Cacheline" : "Cacheline", {"Address", "Node", "PA cnt"}},
            {displayed_.upperTitle(), {displayed_.lowerTitle()}},
            displayed_.peer() ? text::Group{"Load Peer", {"Total", "Local", "Remote"}}
                              : text::Group{"Load Hitm", {"Total", "LclHitm", "RmtHitm"}},
            {"Total", {"records", "Loads", "Stores"}},
            {"Stores", {"L1Hit", "L1Miss", "N/A"}},
            {"Core Load Hit", {"FB", "L1", "L2"}},
            {"LLC Load Hit", hitm ? Columns{"LclHit", "LclHitm"} : Columns{"LclHit"}},
            {"RMT Load Hit", hitm ? Columns{"RmtHit", "RmtHitm"} : Columns{"RmtHit"}},
            {"Load Dram", {"Lcl", "Rmt"}}};
  }

  /// Of the whole recording.
  LoadPair allLoads() const {
    const auto number = [this](std::string_view name) {
      const auto found = std::find_if(report_.stats.begin(), report_.stats.end(),
                                      [name](const analysis::Statistic& each) { return each.first == name; });
      return found == report_.stats.end() ? 0 : found->second.value_or(0);
    };
    return displayed_.peer() ? LoadPair{number("localPeer"), number("remotePeer")}
                             : LoadPair{number("localHitm"), number("remoteHitm")};
  }

  template <typename Each>
  void eachEntry(Each each) {
    Entry entry;
    for (size_t i = 0; i < report_.lines.size(); ++i) {
      const analysis::Line& line = report_.lines[i];
      entry.clear();
      text::appendNumber(entry.bytes(), i);
      entry.endCell();
      addPlace(line, entry);
      addLoads(*line.memory, entry);
      addCounts(line, *line.memory, entry);
      entry.text(data_[i]);
      entry.text(analysis::verdictName(line.verdict));
      each(entry);
    }
  }

  static void addPlace(const analysis::Line& line, Entry& entry) {
    text::appendHex(entry.bytes(), line.address);
    entry.endCell();
    appendNodes(entry.bytes(), line.nodes);
    entry.endCell();
    appendCount(entry.bytes(), line.physicalChanges);
    entry.endCell();
  }

  void addLoads(const analysis::MemoryCounts& counts, Entry& entry) const {
    const LoadPair loads = displayed_.of(counts);
    appendShare(entry.bytes(), displayed_.count(loads), all_);
    entry.endCell();
    for (const uint64_t number : {loads.local + loads.remote, loads.local, loads.remote})
      addCount(displayed_.known() ? std::optional(number) : std::nullopt, entry);
  }

  void addCounts(const analysis::Line& line, const analysis::MemoryCounts& counts, Entry& entry) const {
    for (const uint64_t number :
         {line.records, line.loads, line.stores, counts.storeL1Hit, counts.storeL1Miss, counts.storeNa,
          counts.fillBuffer, counts.l1, counts.l2, counts.llc})
      addCount(number, entry);
    if (report_.hitmKnown) addCount(counts.localHitm, entry);
    addCount(counts.remoteHit, entry);
    if (report_.hitmKnown) addCount(counts.remoteHitm, entry);
    addCount(counts.localDram, entry);
    addCount(counts.remoteDram, entry);
  }

  static void addCount(std::optional<uint64_t> number, Entry& entry) {
    appendCount(entry.bytes(), number);
    entry.endCell();
  }

  const analysis::Report& report_;
  const std::vector<std::string>& data_;
  const Displayed displayed_;
  const uint64_t all_;  ///< displayed loads of the recording
};

}  // namespace

void writeLineTable(const analysis::Report& report, const std::vector<std::string>& data,
                    const TableOptions& options, text::RowSink& out) {
  LineTable(report, data).write(options, out);
}

}  // namespace cacheline::c2c
