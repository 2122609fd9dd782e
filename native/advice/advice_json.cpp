// The JSON of advice.
#include "advice/advice.h"
#include "advice/gain.h"
#include "analysis/caches.h"
#include "analysis/recording_json.h"

namespace cacheline::advice {

const char* whyName(Why why) {
  switch (why) {
    case Why::lockWithOwnData:
      return "lock-with-own-data";
    case Why::mixedUse:
      return "mixed-use";
    case Why::unrelatedOwners:
      return "unrelated-owners";
    case Why::alignment:
      return "alignment";
    case Why::adjacent:
      return "adjacent";
    case Why::trueSharing:
      return "true-sharing";
    case Why::notKnown:
      return "not-known";
  }
  return "not-known";
}

const char* wayName(Way way) {
  switch (way) {
    case Way::align:
      return "align";
    case Way::pad:
      return "pad";
    case Way::reorder:
      return "reorder";
    case Way::stride:
      return "stride";
    case Way::allocate:
      return "allocate";
    case Way::split:
      return "split";
    case Way::perThread:
      return "per-thread";
    case Way::none:
      return "none";
  }
  return "none";
}

namespace {

class AdviceJson : private analysis::RecordingJson {
 public:
  explicit AdviceJson(const analysis::Report& report)
      : report_(report), cpus_(analysis::usableCpusOf(report.metaJson)) {}

  std::string write(const AdviceList& advised) {
    open();
    field("schema", "cacheline-advice/1");
    list("evidence", report_.evidence, [&](const std::string& item) { value(std::string_view(item)); });
    blind(report_.blind);
    list("advice", advised.advice, [&](const Advice& item) { write(item); });
    list("latent", advised.latent, [&](const Latent& item) { write(item); });
    list("warnings", advised.warnings, [&](const std::string& text) { value(std::string_view(text)); });
    recording(report_.metaJson);
    close();
    return take();
  }

 private:
  void subject(const std::string& type, const std::string& object, const std::vector<std::string>& members) {
    open("subject");
    field("type", type);
    field("object", object);
    list("members", members, [&](const std::string& name) { value(std::string_view(name)); });
    close();
  }

  void placements(const std::vector<LatentPlacement>& items) {
    list("placements", items, [&](const LatentPlacement& placement) {
      open();
      field("baseOffset", placement.baseOffset);
      field("lineSize", placement.lineSize);
      list("pairs", placement.pairs, [&](const auto& pair) {
        beginList();
        value(pair.first);
        value(pair.second);
        endList();
      });
      close();
    });
  }

  void place(const char* name, const std::optional<analysis::Place>& place) {
    if (!place || place->file.empty()) return null(name);
    known(name, *place);
  }

  void known(const char* name, const analysis::Place& place) {
    open(name);
    field("file", place.file);
    field("line", place.line);
    close();
  }

  void write(const Advice& item) {
    open();
    subject(item.type, item.object, item.members);
    field("verdict", analysis::verdictName(item.verdict));
    field("sure", item.sure);
    falseShare(item.falseShare);
    field("why", whyName(item.why));
    field("twoSides", item.twoSides);
    list("locks", item.locks, [&](const Lock& lock) {
      open();
      field("name", lock.name);
      list("data", lock.data, [&](const std::string& name) { value(std::string_view(name)); });
      close();
    });
    field("way", wayName(item.way));
    field("confidence", item.confidence);
    placements(item.placements);
    place("definition", item.definition);
    if (item.allocation && !item.allocation->place.file.empty()) {
      open("allocation");
      field("function", item.allocation->function);
      field("file", item.allocation->place.file);
      field("line", item.allocation->place.line);
      close();
    } else {
      null("allocation");
    }
    if (item.elementsInRow > 0)
      field("elementsInRow", item.elementsInRow);
    else
      null("elementsInRow");
    const std::string language = symbols::languageName(item.language);
    if (language.empty())
      null("language");
    else
      field("language", language);
    field("contended", item.contended);
    field("programShare", item.programShare);
    open("cost");
    field("bytesPerInstance", item.bytesPerInstance);
    optional("bytesTotal", item.bytesTotal);
    field("abi", item.abi);
    open("readerLines");
    field("before", item.readerLinesBefore);
    field("after", item.readerLinesAfter);
    close();
    close();
    open("predicted");
    if (item.speedup) {
      open("speedup");
      field("low", item.speedup->low);
      field("mid", item.speedup->mid);
      field("high", item.speedup->high);
      close();
    } else {
      null("speedup");
    }
    field("contendedLeft", item.contendedLeft);
    field("trulyLeft", item.trulyLeft);
    if (item.excessCycles)
      field("excessCycles", *item.excessCycles);
    else
      null("excessCycles");
    field("mostSpeedup", item.mostSpeedup);
    field("threadsOnly", item.threadsOnly);
    if (cpus_)
      field("cpus", *cpus_);
    else
      null("cpus");
    field("basis", item.basis);
    close();
    std::visit([&](const auto& change) { write(change, item); }, item.change);
    open("edit");
    null("patch");
    null("reason");
    close();
    close();
  }

  static bool isField(const layouts::LayoutMember& member) {
    return member.role == types::Member::Role::field;
  }

  /// `own` numbers members with their bases; a TypeReference has fields alone.
  static uint32_t fieldNumber(const analysis::TypeHeat& type, uint32_t own) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < own; ++i) number += isField(type.own[i]);
    return number;
  }

  void type(const analysis::TypeHeat& of) {
    open("type");
    field("name", of.name);
    field("binary", of.binary);
    field("size", of.layout.size);
    optional("align", of.layout.align);
    open("definition");
    field("file", of.layout.file);
    field("line", of.layout.line);
    close();
    beginList("members");
    for (const layouts::LayoutMember& member : of.own) {
      if (!isField(member)) continue;
      open();
      field("name", member.name);
      field("type", member.type);
      field("offset", member.offset);
      field("size", member.size);
      if (member.bitSize > 0)
        field("bitSize", member.bitSize);
      else
        null("bitSize");
      field("line", member.line);
      close();
    }
    endList();
    close();
  }

  void write(const std::monostate&, const Advice&) { null("change"); }
  void write(const ChangeMembers& change, const Advice& item) {
    open("change");
    field("kind", "members");
    type(*item.described);
    field("alignment", report_.lineSize);
    beginList("order");
    for (const PlacedMember& placed : change.layout.order) {
      if (!isField(item.described->own[placed.member])) continue;
      open();
      field("member", fieldNumber(*item.described, placed.member));
      field("startsLine", placed.startsLine);
      close();
    }
    endList();
    close();
  }
  void write(const SplitMembers& change, const Advice& item) {
    open("change");
    field("kind", "split-members");
    type(*item.described);
    beginList("parts");
    for (uint32_t part = 1; part < change.split.sizes.size(); ++part) {
      std::vector<uint64_t> members;
      for (uint32_t own = 0; own < item.described->own.size(); ++own)
        if (change.split.members[own].part == part && isField(item.described->own[own]))
          members.push_back(fieldNumber(*item.described, own));
      open();
      field("size", change.split.sizes[part]);
      list("members", members, [&](uint64_t member) { value(member); });
      close();
    }
    endList();
    close();
  }
  void write(const AlignType&, const Advice& item) {
    open("change");
    field("kind", "align-type");
    type(*item.described);
    field("alignment", report_.lineSize);
    close();
  }
  void write(const AlignVariables& change, const Advice&) {
    open("change");
    field("kind", "align-variables");
    field("binary", change.binary);
    list("variables", change.variables, [&](const Variable& variable) {
      open();
      field("name", variable.name);
      field("type", variable.type);
      field("size", variable.size);
      known("definition", variable.definition.value_or(analysis::Place{}));
      close();
    });
    field("alignment", report_.lineSize);
    close();
  }
  void write(const Allocate& change, const Advice&) {
    open("change");
    field("kind", "allocate");
    field("binary", change.binary);
    place("call", change.call);
    field("function", change.function);
    field("objectType", change.type);
    list("files", change.files, [&](const std::string& file) { value(std::string_view(file)); });
    field("alignment", report_.lineSize);
    close();
  }
  void write(const Latent& item) {
    open();
    subject(item.type, item.object, item.members);
    placements(item.placements);
    close();
  }

  const analysis::Report& report_;
  const std::optional<uint32_t> cpus_;  ///< on which the recorded processes could run
};

}  // namespace

std::string adviceJson(const analysis::Report& report, const AdviceList& list) {
  return AdviceJson(report).write(list);
}

}  // namespace cacheline::advice
