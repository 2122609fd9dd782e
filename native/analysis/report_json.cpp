// The report as JSON. Field by field the shape of extension/protocol/report.ts; null where clock evidence
// cannot say.
#include <utility>

#include "analysis/findings_json.h"
#include "analysis/own_place.h"
#include "analysis/report.h"

namespace cacheline::analysis {

namespace {

class JsonReport : FindingsJson {
 public:
  JsonReport(const Report& report, size_t pieceBytes) : FindingsJson(report), pieceBytes_(pieceBytes) {}

  std::vector<std::string> write() {
    open();
    head();
    lines();
    rest();
    close();
    pieces_.push_back(take());
    return std::move(pieces_);
  }

  std::string withoutLines() {
    open();
    head();
    rest();
    close();
    return take();
  }

  std::string only(const Line& item, LineParts parts) {
    withCallers_ = parts == LineParts::all;
    line(item, parts != LineParts::withoutAccesses);
    return take();
  }
  std::string only(const ObjectSum& item) {
    object(item);
    return take();
  }
  std::string only(const TypeHeat& item) {
    type(item);
    return take();
  }

 private:
  void head() {
    field("schema", "cacheline-report/1");
    list("evidence", report_.evidence, [&](const std::string& item) { value(item); });
    field("collector", report_.collector);
    field("lineSize", report_.lineSize);
    if (report_.doubleLine) field("doubleLine", true);
    if (report_.c2c) settings(*report_.c2c);
    samples();
    blind(report_.blind);
    unseen();
    statistics("stats", report_.stats);
    statistics("shared", report_.shared);
  }

  void rest() {
    field("linesLeftOut", report_.linesLeftOut);
    if (report_.selected) {
      open("selected");
      field("lines", report_.selected->lines);
      field("of", report_.selected->of);
      close();
    }
    turns();
    if (report_.contendedLeftOut) field("contendedLeftOut", *report_.contendedLeftOut);
    size_t number = 0;
    list("findings", report_.findings, [&](const Finding& item) { finding(item, ++number); });
    list("objects", report_.objects, [&](const ObjectSum& item) { object(item); });
    list("types", report_.types, [&](const TypeHeat& item) { type(item); });
    list("binaries", report_.binaries, [&](const BinaryState& item) { binary(item); });
    list("warnings", report_.warnings, [&](const std::string& item) { value(item); });
    field("seconds", report_.seconds);
    recording(report_.metaJson);
  }

  void turns() {
    if (!report_.turns) return null("turns");
    const TakenTurns& item = *report_.turns;
    open("turns");
    field("basis", ranByName(item.by));
    field("samples", item.samples);
    field("lines", item.lines);
    field("oneCore", item.oneCore);
    field("threads", item.threads);
    close();
  }

  void lines() {
    beginList("lines");
    pieces_.push_back(take());
    for (const Line& item : report_.lines) {
      line(item);
      if (written() >= pieceBytes_) pieces_.push_back(take());
    }
    if (written() != 0) pieces_.push_back(take());
    endList();
  }
  void samples() {
    open("samples");
    field("total", report_.samples);
    field("attributed", report_.attributed);
    field("contended", report_.contended);
    field("lost", report_.lost);
    if (report_.filtered) field("filtered", *report_.filtered);
    open("unattributed");
    const Unattributed& rest = report_.unattributed;
    field("kernel", rest.kernel);
    field("noInstruction", rest.noInstruction);
    field("noMemoryOperand", rest.noMemoryOperand);
    field("clobbered", rest.clobbered);
    field("threadLocal", rest.threadLocal);
    field("unmapped", rest.unmapped);
    close();
    close();
  }

  void unseen() {
    if (!report_.unseen) return null("unseen");
    list("unseen", *report_.unseen, [&](const UnseenPlace& item) {
      open();
      field("reason", unseenReasonName(item.reason));
      if (item.codeAddress == 0) {
        nulls({"codeAddress", "elfAddress"});
      } else {
        address("codeAddress", item.codeAddress);
        address("elfAddress", item.elfAddress);
      }
      code(*item.code);
      field("samples", item.samples);
      field("share", item.share);
      close();
    });
  }

  void code(const CodeName& item) {
    const OwnCode told = ownCode(item);
    field("symbol", *told.function);
    field("object", item.object);
    field("file", *told.file);
    field("line", told.line);
    list("inlined", item.inlined, [&](const symbols::SourceFrame& each) { sourceFrame(each); });
    if (item.why != Unnamed::named) field("unnamed", unnamedReason(item.why));
  }

  void statistics(const char* name, const std::vector<Statistic>& list) {
    open(name);
    for (const auto& [item, number] : list) optional(item, number);
    close();
  }

  void settings(const C2cSettings& item) {
    open("c2c");
    field("display", item.display);
    list("coalesce", item.coalesce, [&](const std::string& key) { value(key); });
    field("doubleLine", item.doubleLine);
    list("events", item.events, [&](const std::string& name) { value(name); });
    list("nodes", item.nodes, [&](const auto& node) {
      open();
      field("node", node.first);
      field("cpus", node.second);
      close();
    });
    field("filtered", item.filtered);
    close();
  }

  void line(const Line& item, bool accesses = true) {
    open();
    address("address", item.address);
    field("space", item.space);
    if (item.fileOffset) address("fileOffset", *item.fileOffset);
    field("mapping", item.mapping);
    optional("node", item.nodes);
    optional("paCount", item.physicalChanges);
    verdict(item);
    list("words", item.words, [&](const LineWord& word) {
      open();
      field("offset", word.offset);
      field("size", word.size);
      field("group", word.group);
      close();
    });
    list("waits", item.causes, [&](const WaitCause& cause) {
      open();
      field("word", cause.word);
      field("cause", cause.cause);
      field("share", cause.share);
      field("falseShare", cause.falsely);
      field("sameStep", cause.sameStep);
      close();
    });
    list("victims", item.victims, [&](const Victim& each) { victim(each); });
    if (item.confirmation) confirmation(*item.confirmation);
    list("flags", item.flags, [&](const std::string& flag) { value(flag); });
    if (item.ifWritten) {
      open("ifWritten");
      field("contended", item.ifWritten->contended);
      falseShare(item.ifWritten->falseShare);
      close();
    }
    field("contendedShare", item.contendedShare);
    field("programShare", item.programShare);
    field("contended", item.contended);
    const MemoryCounts* memoryCounts = item.memory ? &*item.memory : nullptr;
    counts(memoryCounts, true);
    field("records", item.records);
    field("loads", item.loads);
    stores(item.stores, item.rmw, memoryCounts);
    field("locked", item.locked);
    if (item.goroutines) field("goroutines", *item.goroutines);
    list("threads", item.threads, [&](const ThreadStatistics& use) { thread(use); });
    if (accesses) list("accesses", item.accesses, [&](const Access& row) { access(row); });
    close();
  }

  template <typename Item>
  void verdict(const Item& item) {
    field("verdict", verdictName(item.verdict));
    field("verdictSure", !item.falseShare || item.falseShare->isSure());
    falseShare(item.falseShare);
  }

  void victim(const Victim& item) {
    open();
    numbers("words", item.words);
    numbers("threads", item.threads);
    field("contended", item.contended);
    field("falseShare", item.falseShare);
    optional("access", item.access);
    optional("cause", item.cause);
    close();
  }

  void thread(const ThreadStatistics& use) {
    open();
    field("pid", use.pid);
    field("tid", use.tid);
    field("comm", use.comm);
    field("loads", use.loads);
    field("stores", use.stores);
    field("competes", use.competes);
    close();
  }

  void access(const Access& item) {
    open();
    field("offset", item.offset);
    field("width", item.width);
    address("codeAddress", item.codeAddress);
    address("elfAddress", item.elfAddress);
    code(*item.code);
    field("locked", item.locked);
    if (item.storesLater != StoresLater::never)
      field("storesLater", item.storesLater == StoresLater::always ? "always" : "sometimes");
    field("records", item.records);
    field("contended", item.contended);
    number("falseShare", item.falseShare);
    optional("word", item.word);
    field("loads", item.loads);
    stores(item.stores, item.rmw, item.memory ? &item.memory->counts : nullptr);
    memory(item.memory);
    if (item.callers && withCallers_)
      list("callers", *item.callers, [&](const Callers& chain) { callers(chain); });
    // A sample was taken on some CPU of some node: none means that the recording does not say.
    const bool sampled = !item.threads.empty();
    if (sampled && item.cpus == 0)
      null("cpus");
    else
      field("cpus", item.cpus);
    numbers("threads", item.threads);
    numbers("processes", item.processes);
    if (sampled && item.nodes.empty())
      null("nodes");
    else
      numbers("nodes", item.nodes);
    numbers("skid", item.skid);
    watch(item.watch);
    optional("finding", item.finding);
    data(item.data);
    close();
  }

  void watch(const std::optional<WatchCounts>& item) {
    if (!item) return null("watch");
    open("watch");
    field("reads", item->reads);
    field("writes", item->writes);
    field("unknown", item->unknown);
    numbers("threads", item->threads);
    field("windowMs", item->windowMs);
    close();
  }

  void confirmation(const Confirmation& item) {
    open("confirmation");
    field("confirmed", item.confirmed);
    field("sentence", item.sentence);
    list("words", item.words, [&](const ConfirmedWord& word) {
      open();
      field("offset", word.offset);
      field("length", word.length);
      field("name", word.name);
      field("reads", word.reads);
      field("writes", word.writes);
      field("unknown", word.unknown);
      numbers("readers", word.readers);
      numbers("writers", word.writers);
      field("windowMs", word.windowMs);
      close();
    });
    field("alternations", item.alternations);
    close();
  }

  void type(const TypeHeat& item) {
    open();
    field("name", item.name);
    field("object", item.object);
    field("binary", item.binary);
    field("instances", item.instances);
    field("nested", item.nested);
    field("lines", item.lines);
    verdict(item);
    list("flags", item.flags, [&](const std::string& flag) { value(flag); });
    field("records", item.records);
    field("loads", item.loads);
    field("stores", item.stores);
    field("contended", item.contended);
    field("contendedShare", item.contendedShare);
    field("programShare", item.programShare);
    pairs(item.memory, false);
    raw("layout", layouts::layoutJson(item.layout));
    list("fields", item.fields, [&](const FieldHeat& heat) { fieldHeat(heat); });
    close();
  }

  void fieldHeat(const FieldHeat& item) {
    open();
    field("offset", item.offset);
    field("size", item.size);
    field("field", item.field);
    field("records", item.records);
    field("loads", item.loads);
    field("stores", item.stores);
    field("contended", item.contended);
    falseShare(item.falseShare);
    pairs(item.memory, true);
    number("meanCycles", item.meanCycles);
    numbers("readers", item.readers);
    numbers("writers", item.writers);
    close();
  }

  void object(const ObjectSum& item) {
    open();
    field("object", item.object);
    field("space", item.space);
    field("binary", item.binary);
    definition(item.definition);
    base(item.base);
    allocation(item.allocation);
    field("lines", item.lines);
    verdict(item);
    list("flags", item.flags, [&](const std::string& flag) { value(flag); });
    field("contended", item.contended);
    field("contendedShare", item.contendedShare);
    field("programShare", item.programShare);
    field("records", item.records);
    field("loads", item.loads);
    field("stores", item.stores);
    close();
  }

  void binary(const BinaryState& item) {
    open();
    field("path", item.path);
    field("buildId", item.buildId);
    field("status", item.status);
    field("detail", item.detail);
    close();
  }

  const size_t pieceBytes_;
  bool withCallers_ = true;
  std::vector<std::string> pieces_;
};

}  // namespace

std::vector<std::string> reportPieces(const Report& report, size_t pieceBytes) {
  return JsonReport(report, pieceBytes).write();
}

std::string headJson(const Report& report) {
  return JsonReport(report, 0).withoutLines();
}

std::string lineJson(const Report& report, const Line& line, LineParts parts) {
  return JsonReport(report, 0).only(line, parts);
}

std::string objectJson(const Report& report, const ObjectSum& object) {
  return JsonReport(report, 0).only(object);
}

std::string typeJson(const Report& report, const TypeHeat& type) {
  return JsonReport(report, 0).only(type);
}

std::string reportJson(const Report& report) {
  std::string document;
  for (const std::string& piece : reportPieces(report)) document += piece;
  return document;
}

}  // namespace cacheline::analysis
