// Names of data, code, threads and times.
#include "tables/key_texts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/own_place.h"

namespace cacheline::tables {

namespace {

using analysis::kNoSplit;

/// "Worker" of "Worker[8]": what its elements are.
std::string elementType(const std::string& type) {
  std::string_view text = type;
  while (text.ends_with(']')) {
    const size_t open = text.rfind('[');
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    if (open == std::string_view::npos || open == 0 ||
        !std::all_of(inside.begin(), inside.end(), [](char c) { return c >= '0' && c <= '9'; }))
      break;
    text = text.substr(0, open);
  }
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

std::string typeText(const analysis::DataName& data) {
  return data.type.empty() ? "[no type known]" : elementType(data.type);
}

/// `typed`: the type stands beside it.
std::string memberText(const analysis::DataName& data, bool typed) {
  if (data.type.empty()) return "[no type known]";
  // A whole object without members: a counter.
  if (data.field.empty() && data.fieldOffset) return objectName(data);
  const std::string field = data.field.empty() ? "[no member]" : analysis::withoutIndices(data.field);
  return typed ? field : elementType(data.type) + "." + field;
}

std::string allocationText(const analysis::DataName& data) {
  if (!data.allocation) return "[no allocation known]";
  const analysis::HeapBlock& block = *data.allocation;
  std::string text = block.function.empty() ? "[no function known]" : block.function;
  if (!block.place.file.empty())
    text += " (" + block.place.file + ':' + std::to_string(block.place.line) + ')';
  return text;
}

std::string fileText(const analysis::CodeName& code) {
  const analysis::OwnCode place = analysis::ownCode(code);
  return place.file->empty() ? "[no source file known]" : *place.file;
}

std::string taskText(uint32_t id, const std::string& comm) {
  return std::to_string(id) + (comm.empty() ? "" : ' ' + comm);
}

/// So many digits that neighbours differ.
std::string timeText(const analysis::TimeBins& bins, uint32_t bin) {
  const double width = static_cast<double>(bins.last - bins.first) / 1e9 / bins.count;
  const int digits = width > 0 ? std::clamp(static_cast<int>(std::ceil(-std::log10(width))) + 3, 0, 9) : 9;
  char text[80];
  std::snprintf(text, sizeof text, "%.*f-%.*fs", digits, bins.secondsAt(bin), digits,
                bins.secondsAt(bin + 1));
  return text;
}

std::string unplacedText(analysis::UnplacedReason reason) {
  return std::string("[not attributed: ") + unplacedReasonName(reason) + ']';
}

std::string namedText(const std::string& function, const analysis::CodeName& code) {
  if (!function.empty()) return function;
  return code.object.empty() ? "[no function known]" : "[no function known] " + code.object;
}

}  // namespace

std::string functionText(const analysis::CodeName& code) {
  return namedText(*analysis::ownCode(code).function, code);
}

std::string symbolText(const analysis::CodeName& code) {
  return namedText(code.symbol, code);
}

std::string sourceText(const analysis::CodeName& code) {
  const analysis::OwnCode place = analysis::ownCode(code);
  if (place.file->empty()) return "[no source line known]";
  return *place.file + ':' + std::to_string(place.line);
}

uint32_t KeyTexts::intern(std::string text, uint64_t rank) {
  const auto [known, isNew] = numbers_.try_emplace(std::move(text), static_cast<uint32_t>(texts_.size()));
  if (isNew) {
    texts_.push_back(known->first);
    ranks_.push_back(rank);
  }
  return known->second;
}

std::string KeyTexts::textOf(const analysis::DataName& data) const {
  switch (key_) {
    case Key::object: {
      std::string name = objectName(data);
      return name.empty() ? "[no object known]" : name;
    }
    case Key::type:
      return typeText(data);
    case Key::member:
      return memberText(data, typed_);
    default:
      return allocationText(data);
  }
}

uint32_t KeyTexts::ofCode(const analysis::SharedName& code) {
  const auto [known, isNew] = known_.try_emplace(reinterpret_cast<uintptr_t>(code.get()), 0);
  if (!isNew) return known->second;
  kept_.push_back(code);
  return known.value() = intern(key_ == Key::function ? functionText(*code)
                                : key_ == Key::symbol ? symbolText(*code)
                                : key_ == Key::source ? sourceText(*code)
                                                      : fileText(*code));
}

uint32_t KeyTexts::of(uint32_t line, const analysis::Access& access) {
  if (key_ == Key::line) return intern(lines_.of(line), report_.lines[line].address);
  if (key_ >= Key::function) return ofCode(access.code);
  return intern(textOf(access.data));
}

uint32_t KeyTexts::ofBin(uint32_t bin) {
  const auto& bins = report_.splits->bins;
  if (bin == kNoSplit || !bins) return intern("[time not known]", ~uint64_t{0});
  return intern(timeText(*bins, bin), bin);
}

uint32_t KeyTexts::make(const analysis::SplitPlace& place) {
  const analysis::Splits& splits = *report_.splits;
  switch (key_) {
    case Key::thread: {
      const analysis::SplitThread& thread = splits.threads[place.thread];
      return intern(taskText(thread.tid, thread.comm), thread.tid);
    }
    case Key::process: {
      const analysis::SplitThread& thread = splits.threads[place.thread];
      return intern(taskText(thread.pid, thread.processComm), thread.pid);
    }
    case Key::cpu:
      if (place.cpu == kNoSplit || !splits.cpusKnown) return intern("[CPU not known]", ~uint64_t{0});
      return intern(std::to_string(place.cpu), place.cpu);
    case Key::node: {
      const bool known = splits.cpusKnown && place.cpu < splits.nodes.size() && splits.nodes[place.cpu];
      if (!known) return intern("[node not known]", ~uint64_t{0});
      return intern(std::to_string(*splits.nodes[place.cpu]), *splits.nodes[place.cpu]);
    }
    default:
      return ofBin(place.bin);
  }
}

uint32_t KeyTexts::of(const analysis::SplitPlace& place) {
  const uint32_t number = key_ == Key::time                       ? place.bin
                          : key_ == Key::cpu || key_ == Key::node ? place.cpu
                                                                  : place.thread;
  const auto [known, isNew] = known_.try_emplace(uint64_t{number}, 0);
  return isNew ? known.value() = make(place) : known->second;
}

uint32_t KeyTexts::of(const analysis::UnplacedSamples& samples) {
  if (!ofAccess()) return of(samples.place);
  if (key_ >= Key::function && samples.codeKnown) return ofCode(samples.code);
  return intern(unplacedText(samples.reason));
}

}  // namespace cacheline::tables
