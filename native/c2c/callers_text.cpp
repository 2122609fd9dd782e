// Callers as shares of the call chains of a code address.
#include "c2c/callers_text.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c2c/table_cells.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

constexpr size_t kMaxChains = 5;  ///< of a code address, those that explain most
constexpr size_t kLongestName = 60;

void appendCodeName(std::string& out, uint64_t address, const std::string& symbol,
                    const std::string& object) {
  if (symbol.empty()) {
    text::appendHex(out, address);
    out += " in ";
    text::appendPrintable(out, object.empty() ? "unknown code" : object);
    return;
  }
  text::appendShortened(out, text::printable(symbol), kLongestName, text::Shorten::middle);
  out += " at ";
  text::appendHex(out, address);
}

void appendPlace(std::string& out, const std::string& file, uint32_t line, const TableOptions& options,
                 SourceText& source) {
  if (!options.source || file.empty()) return;
  out += " (";
  source.append(out, file, line);
  out += ')';
}

/// Inlined functions are callers, too; an address has the one that they were inlined into.
void appendChain(std::string& out, const analysis::Callers& chain, const TableOptions& options,
                 SourceText& source) {
  if (chain.frames.empty()) out += "unknown";
  for (const analysis::CallerFrame& frame : chain.frames) {
    if (&frame != &chain.frames.front()) out += " < ";
    for (size_t i = 0; i + 1 < frame.inlined.size(); ++i) {
      const symbols::SourceFrame& inlined = frame.inlined[i];
      text::appendShortened(out, text::printable(inlined.function), kLongestName, text::Shorten::middle);
      appendPlace(out, inlined.file, inlined.line, options, source);
      out += " < ";
    }
    appendCodeName(out, frame.codeAddress, frame.symbol, frame.object);
    const bool outermost = !frame.inlined.empty();
    appendPlace(out, outermost ? frame.inlined.back().file : frame.file,
                outermost ? frame.inlined.back().line : frame.line, options, source);
  }
}

void writeChains(const std::vector<analysis::Callers>& chains, const TableOptions& options,
                 SourceText& source, text::RowSink& out) {
  uint64_t all = 0;
  for (const analysis::Callers& chain : chains) all += chain.records;
  const size_t shown = std::min(chains.size(), kMaxChains);
  for (size_t i = 0; i < shown; ++i) {
    std::string words;
    appendShare(words, chains[i].records, all);
    words += " from ";
    appendChain(words, chains[i], options, source);
    out.add(text::wrap(words, options.width, "  ", "    "));
  }
  const size_t rest = chains.size() - shown;
  if (rest == 0) return;
  out.add(text::wrap(std::to_string(rest) + (rest == 1 ? " more call chain" : " more call chains") +
                         " (--format json lists them)",
                     options.width, "  ", "  "));
}

}  // namespace

void writeCallers(const analysis::Report& report, const TableOptions& options, SourceText& source,
                  text::RowSink& out) {
  std::set<std::pair<uint64_t, std::string_view>> written;
  for (const analysis::Line& line : report.lines) {
    for (const analysis::Access& access : line.accesses) {
      const auto& chains = access.callers;
      if (!chains || chains->empty() || !written.emplace(access.codeAddress, access.code->object).second)
        continue;
      if (written.size() == 1) {
        out.beginBlock();
        out.add("Callers of the code above", text::Mark::bold);
        out.add(
            text::wrap("Shares of all samples with a call chain at the code address, on whatever line; the "
                       "innermost caller first.",
                       options.width),
            text::Mark::dim);
      }
      std::string name;
      appendCodeName(name, access.codeAddress, access.code->symbol, access.code->object);
      out.add(text::wrap(name + ':', options.width));
      writeChains(*chains, options, source, out);
    }
  }
  if (!written.empty() || !options.callers) return;
  out.beginBlock();
  out.add(text::wrap("No callers: the rows have no call chains. `perf c2c record -g` records them.",
                     options.width));
}

}  // namespace cacheline::c2c
