// The document `cacheline-table/1`.
#include <utility>

#include "base/json_writer.h"
#include "tables/table.h"

namespace cacheline::tables {

namespace {

class TableJson : public JsonWriter {
 public:
  std::vector<std::string> write(const Table& table, size_t pieceBytes) {
    std::vector<std::string> pieces;
    open();
    head(table);
    beginList("rows");
    pieces.push_back(take());
    for (const Row& each : table.rows) {
      row(table, each);
      if (written() >= pieceBytes) pieces.push_back(take());
    }
    if (written() > 0) pieces.push_back(take());
    endList();
    close();
    pieces.push_back(take());
    return pieces;
  }

 private:
  void head(const Table& table) {
    field("schema", "cacheline-table/1");
    list("by", table.by, [&](Key key) { value(std::string_view(keyName(key))); });
    list("evidence", table.evidence, [&](const std::string& each) { value(each); });
    field("collector", table.collector);
    open("total");
    field("samples", table.samples);
    field("contended", table.contended);
    optional("misses", table.misses);
    close();
    field("programSamples", table.programSamples);
    optional("filtered", table.filtered);
    if (table.selected) {
      open("selected");
      field("lines", table.selected->lines);
      field("of", table.selected->of);
      close();
    } else {
      null("selected");
    }
    if (table.bins) {
      open("bins");
      field("count", table.bins->count);
      field("from", table.bins->secondsAt(0));
      field("to", table.bins->secondsAt(table.bins->count));
      close();
    } else {
      null("bins");
    }
    list("limits", table.limits, [&](const std::string& each) { value(each); });
    list("warnings", table.warnings, [&](const std::string& each) { value(each); });
  }

  void share(const char* name, const std::optional<double>& number) {
    if (number)
      field(name, *number);
    else
      null(name);
  }

  void row(const Table& table, const Row& row) {
    open();
    open("key");
    for (size_t i = 0; i < table.by.size(); ++i) field(keyName(table.by[i]), row.key[i]);
    close();
    field("samples", row.samples);
    field("contended", row.contended);
    field("programShare", row.programShare);
    optional("contendedNs", row.contendedNs);
    field("reads", row.reads);
    field("writes", row.writes);
    optional("hitm", row.hitm);
    optional("peer", row.peer);
    optional("misses", row.misses);
    share("bounce", row.bounce);
    counts(row.counts);
    falseShare(row.falseShare);
    field("threads", row.threads);
    field("lines", row.lines);
    optional("instances", row.instances);
    optional("bytes", row.bytes);
    if (row.verdict)
      field("verdict", verdictName(*row.verdict));
    else
      null("verdict");
    if (table.by == std::vector{Key::function}) waitsFor(row.waitsFor);
    close();
  }

  void counts(const std::optional<analysis::MemoryCounts>& counts) {
    if (!counts) return nulls({"ld", "st"});
    open("ld");
    field("fillBuffer", counts->fillBuffer);
    field("l1", counts->l1);
    field("l2", counts->l2);
    field("llc", counts->llc);
    field("remoteHit", counts->remoteHit);
    field("localDram", counts->localDram);
    field("remoteDram", counts->remoteDram);
    close();
    open("st");
    field("l1Hit", counts->storeL1Hit);
    field("l1Miss", counts->storeL1Miss);
    field("na", counts->storeNa);
    close();
  }

  void falseShare(const std::optional<analysis::FalseShare>& value) {
    share("falseShare", value ? value->value : std::nullopt);
    share("falseShareLow", value ? std::optional(value->low) : std::nullopt);
    share("falseShareHigh", value ? std::optional(value->high) : std::nullopt);
  }

  void waitsFor(const std::vector<WaitsFor>& pairs) {
    list("waitsFor", pairs, [&](const WaitsFor& pair) {
      open();
      field("function", pair.function);
      field("share", pair.share);
      field("falseShare", pair.falseShare);
      list("lines", pair.lines, [&](const WaitingLines& lines) {
        open();
        field("source", lines.source);
        field("cause", lines.cause);
        field("share", lines.share);
        close();
      });
      close();
    });
  }
};

}  // namespace

std::vector<std::string> tablePieces(const Table& table, size_t pieceBytes) {
  return TableJson().write(table, pieceBytes);
}

}  // namespace cacheline::tables
