// The JSON of findings, and of what they have in common with the rest of a report.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/memory_json.h"

namespace cacheline::analysis {

class FindingsJson : protected MemoryJson {
 protected:
  explicit FindingsJson(const Report& report) : MemoryJson(report) {}

  void allocation(const std::optional<HeapBlock>& item) {
    if (!item) {
      null("allocation");
      return;
    }
    open("allocation");
    field("size", item->size);
    field("function", item->function);
    field("file", item->place.file);
    field("line", item->place.line);
    list("callers", item->callers, [&](const symbols::SourceFrame& each) { sourceFrame(each); });
    close();
  }

  void definition(const std::optional<Place>& place) {
    if (!place) {
      null("definition");
      return;
    }
    open("definition");
    field("file", place->file);
    field("line", place->line);
    close();
  }

  void base(const std::optional<uint64_t>& item) {
    if (item)
      address("base", *item);
    else
      null("base");
  }

  /// `reasons`: how it is known, and which members may be there beside it.
  void data(const DataName& item, bool reasons = true) {
    open("data");
    field("object", item.object);
    field("offset", item.offset);
    definition(item.definition);
    field("how", howName(item.how));
    if (reasons) field("because", item.because);
    field("type", item.type);
    field("field", item.field);
    if (reasons && !item.incomplete.empty()) field("incomplete", item.incomplete);
    base(item.base);
    optional("fieldOffset", item.fieldOffset);
    optional("index", item.index);
    allocation(item.allocation);
    if (item.stackOwner) {
      open("stackOwner");
      field("pid", item.stackOwner->pid);
      field("tid", item.stackOwner->tid);
      field("comm", item.stackOwner->comm);
      close();
    } else {
      null("stackOwner");
    }
    close();
  }

  void finding(const Finding& item, size_t number) {
    open();
    field("id", "f" + std::to_string(number));
    field("kind", findingKindName(item.kind));
    open("subject");
    field("type", item.type);
    field("object", item.object);
    list("members", item.members, [&](const FindingMember& member) { value(std::string_view(member.name)); });
    close();
    definition(item.definition);
    allocation(item.allocation);
    field("verdict", verdictName(item.verdict));
    field("sure", item.falseShare && item.falseShare->isSure());
    field("programShare", item.programShare);
    field("contended", item.contended);
    falseShare(item.falseShare);
    list("members", item.members, [&](const FindingMember& member) {
      open();
      field("name", member.name);
      field("contended", member.contended);
      falseShare(member.falseShare);
      field("file", member.place.file);
      field("line", member.place.line);
      close();
    });
    list("waits", item.waits, [&](const FindingWait& wait) {
      open();
      field("function", wait.function);
      field("file", wait.place.file);
      field("line", wait.place.line);
      field("member", wait.member);
      open("for");
      field("function", wait.causeFunction);
      field("member", wait.causeMember);
      close();
      field("falsely", wait.falsely);
      field("share", wait.share);
      close();
    });
    list("flags", item.flags, [&](const std::string& flag) { value(std::string_view(flag)); });
    field("objects", item.objects);
    field("lineCount", item.lineCount);
    list("lines", item.lines, [&](uint64_t line) { address(line); });
    optional("advice", item.advice);
    close();
  }
};

}  // namespace cacheline::analysis
