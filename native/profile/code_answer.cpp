// The instructions of the function in which an access stands, and what was measured at each.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/code_names.h"
#include "analysis/function_code.h"
#include "analysis/own_place.h"
#include "analysis/recording.h"
#include "decode/instruction.h"
#include "decode/instruction_text.h"
#include "perfdata/reader.h"
#include "profile/answer.h"
#include "profile/profile.h"
#include "symbols/elf_file.h"

namespace cacheline::profile {

namespace {

using analysis::Access;
using analysis::CodeName;
using symbols::ElfImage;

constexpr size_t kMostAround = 200;  ///< instructions on each side of the access
/// Bytes that are decoded before it. Where the function begins earlier, decoding begins within it, and is in
/// step with its instructions after some few.
constexpr uint64_t kMostDecoded = 1 << 20;

bool hasBaseName(const std::string& path, const std::string& name) {
  return !name.empty() && path.substr(path.rfind('/') + 1) == name;
}

/// The binary of an access's code, opened as the report's analysis does.
struct CodeBinary {
  analysis::Recording recording;
  std::unique_ptr<analysis::Binaries> binaries;
  uint32_t index = analysis::kNone;
  std::string problem;  ///< a sentence: why there is none
};

/// Why the code of a binary cannot be shown: a sentence; empty: it can be.
std::string codeProblem(analysis::Binaries& binaries, uint32_t index) {
  symbols::Module& module = binaries.module(index);
  const ElfImage* image = module.image();
  const std::string& path = binaries.path(index);
  if (image == nullptr)
    return "The instructions cannot be shown. " + path + ": " + symbols::moduleStatusName(module.status()) +
           (module.detail().empty() ? "" : " (" + module.detail() + ")") + ".";
  if (image->isDebugOnly())
    return "The instructions cannot be shown: only the debug file of " + path + " was found (" +
           image->path() + "), and it has no code. Put the binary where it was when it was recorded.";
  if (binaries.codeImage(index) == nullptr)
    return "The instructions cannot be shown: " + path + " is a program for " +
           symbols::machineName(image->machine()) + ", and only x86-64 instructions can be read.";
  return {};
}

/// Several binaries can have one base name: then what the debug information says of the code tells which it
/// is.
CodeBinary binaryOf(const std::string& path, const symbols::SymbolOptions& options,
                    const analysis::Report& report, const Access& access) {
  CodeBinary found{analysis::openRecording(path), nullptr, analysis::kNone, {}};
  const CodeName& code = *access.code;
  const auto reader = perfdata::Reader::open(found.recording.perfData);
  found.binaries = std::make_unique<analysis::Binaries>(reader->features(), found.recording.meta, options);
  std::vector<uint32_t> usable;
  for (const analysis::BinaryState& state : report.binaries) {
    if (access.elfAddress == 0 || !hasBaseName(state.path, code.object)) continue;
    analysis::Backing backing;
    backing.name = state.path;
    backing.buildId = state.buildId;
    const uint32_t index = found.binaries->of(backing);
    if (index == analysis::kNone) continue;
    found.problem = codeProblem(*found.binaries, index);
    if (found.problem.empty()) usable.push_back(index);
  }
  if (usable.size() > 1)
    std::erase_if(usable, [&](uint32_t index) {
      const CodeName name = analysis::nameOf(found.binaries->module(index), access.elfAddress);
      return name.symbol != code.symbol || name.file != code.file || name.line != code.line;
    });
  if (usable.size() == 1) {
    found.index = usable.front();
    found.problem.clear();
  } else if (!usable.empty() || found.problem.empty()) {
    const std::string why = access.elfAddress == 0 ? analysis::unnamedReason(code.why) : "";
    found.problem =
        usable.size() > 1
            ? "The instructions cannot be shown: the recording has several binaries named " + code.object +
                  ", and nothing says which one this is."
            : "The instructions cannot be shown: " +
                  (why.empty() ? "no file with the code of " + code.object +
                                     " is listed in the recording (the kernel's code is not shown)."
                               : why + ".");
  }
  return found;
}

/// What the selected lines say of one instruction.
struct InstructionCounts {
  uint64_t records = 0, contended = 0;
  bool ofLine = false;           ///< it accesses the line that was asked for
  const Access* most = nullptr;  ///< of most contended samples, then of most samples
};

/// The window of instructions, and what of the function lies around it.
struct CodeWindow {
  std::vector<uint64_t> addresses;
  uint64_t start = 0, end = 0;  ///< of the function, as far as it is known
  uint64_t windowEnd = 0;
};

size_t lengthAt(const ElfImage& image, uint64_t address) {
  decode::Flow flow;
  return decode::decodeFlow(image.bytesAt(address, decode::kLongestInstruction), flow) ? flow.length : 1;
}

std::optional<uint64_t> startAround(const ElfImage& image, uint64_t address) {
  const auto function = analysis::functionAround(image, address);
  return function ? std::optional(function->address) : std::nullopt;
}

CodeWindow windowAround(const ElfImage& image, uint64_t address, const KeepOn& keepOn) {
  CodeWindow window;
  const auto function = analysis::functionAround(image, address);
  window.start = function ? function->address : address;
  const bool isSized = function && function->size > address - window.start;
  window.end = isSized ? window.start + function->size : address + analysis::kWindow;
  std::vector<uint64_t> before;
  uint64_t at = std::max(window.start, address - std::min(address, kMostDecoded));
  for (; at < address; at += lengthAt(image, at)) {
    look(keepOn, before.size());
    if (!image.bytesAt(at, 1).empty()) before.push_back(at);
  }
  // What does not meet the access is out of step with it.
  if (at == address) {
    const size_t kept = std::min(before.size(), kMostAround);
    window.addresses.assign(before.end() - static_cast<ptrdiff_t>(kept), before.end());
  }
  const size_t most = window.addresses.size() + 1 + kMostAround;
  for (at = address; at < window.end && window.addresses.size() < most; at += lengthAt(image, at)) {
    if (image.bytesAt(at, 1).empty() || (!isSized && startAround(image, at) != startAround(image, address)))
      break;
    window.addresses.push_back(at);
  }
  window.windowEnd = at;
  if (!isSized) window.end = at;
  return window;
}

/// By address, of the instructions of the window: what the accesses of the selected lines say.
std::map<uint64_t, InstructionCounts> countsIn(const CodeWindow& window, const analysis::Report& report,
                                               const std::vector<uint32_t>& selected, uint32_t asked,
                                               const CodeName& code, const KeepOn& keepOn) {
  std::map<uint64_t, InstructionCounts> all;
  const uint64_t first = window.addresses.front();
  for (size_t i = 0; i < selected.size(); ++i) {
    look(keepOn, i);
    for (const Access& access : report.lines[selected[i]].accesses) {
      if (access.elfAddress < first || access.elfAddress >= window.windowEnd ||
          access.code->object != code.object || access.code->symbol != code.symbol)
        continue;
      InstructionCounts& counts = all[access.elfAddress];
      counts.records += access.records;
      counts.contended += access.contended;
      counts.ofLine |= selected[i] == asked;
      if (counts.most == nullptr || std::pair(access.contended, access.records) >
                                        std::pair(counts.most->contended, counts.most->records))
        counts.most = &access;
    }
  }
  return all;
}

/// The text, and of a jump or call out of the function what symbol lies at its target.
std::string textOf(const ElfImage& image, const CodeWindow& window, uint64_t address) {
  const auto bytes = image.bytesAt(address, decode::kLongestInstruction);
  decode::InstructionText text = decode::instructionText(bytes, address);
  if (!text.target || (*text.target >= window.start && *text.target < window.end)) return text.text;
  const symbols::Symbol* symbol = image.functionAt(*text.target);
  if (symbol == nullptr) return text.text;
  const uint64_t behind = *text.target - symbol->address;
  return text.text + " <" + symbols::demangle(symbol->name) +
         (behind == 0 ? "" : "+" + std::to_string(behind)) + ">";
}

}  // namespace

std::string Profile::code(const std::string& id, uint32_t access, const KeepOn& keepOn) const {
  const auto now = state();
  const analysis::Report& report = *now->report;
  const std::optional<uint32_t> index = now->ids->find(id);
  if (!index || access >= report.lines[*index].accesses.size())
    throw Error(ErrorKind::usage, "there is no access " + std::to_string(access) + " of a line " + id +
                                      " among the samples that the filter chooses");
  const Access& asked = report.lines[*index].accesses[access];
  const CodeBinary binary = binaryOf(path_, options_.symbols, report, asked);
  Answer answer;
  answer.open();
  answer.field("function", *analysis::ownFunctions(*asked.code).back());
  answer.field("object", asked.code->object);
  answer.field("problem", binary.problem);
  answer.field("contended", report.contended);
  answer.address("address", asked.elfAddress);
  CodeWindow window;
  std::map<uint64_t, InstructionCounts> counts;
  const ElfImage* image = nullptr;
  if (binary.problem.empty()) {
    image = binary.binaries->codeImage(binary.index);
    window = windowAround(*image, asked.elfAddress, keepOn);
    if (!window.addresses.empty())
      counts = countsIn(window, report, now->selected, *index, *asked.code, keepOn);
  }
  const bool isEmpty = window.addresses.empty();
  answer.field("bytesBefore", isEmpty ? uint64_t{0} : window.addresses.front() - window.start);
  answer.field("bytesBehind", window.windowEnd < window.end ? window.end - window.windowEnd : uint64_t{0});
  answer.beginList("instructions");
  for (size_t i = 0; i < window.addresses.size(); ++i) {
    look(keepOn, i);
    const uint64_t address = window.addresses[i];
    const CodeName name = analysis::nameOf(binary.binaries->module(binary.index), address);
    const analysis::OwnCode place = analysis::ownCode(name);
    const auto found = counts.find(address);
    const InstructionCounts own = found == counts.end() ? InstructionCounts() : found->second;
    answer.open();
    answer.address("address", address);
    answer.field("text", textOf(*image, window, address));
    writePlace(answer, "place", place.file, place.line);
    answer.field("inlined", name.inlined.empty() ? std::string() : name.inlined.front().function);
    answer.field("samples", own.records);
    answer.field("contended", own.contended);
    answer.field("ofLine", own.ofLine);
    if (own.most != nullptr)
      writeData(answer, own.most->data);
    else
      answer.null("data");
    answer.close();
  }
  answer.endList();
  answer.close();
  return answer.take();
}

}  // namespace cacheline::profile
