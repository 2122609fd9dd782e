// Blocks that the same code allocated are one entry: a pool has thousands.
#include "c2c/blocks_text.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

constexpr size_t kMostEntries = 20;  ///< those of the lines listed first
constexpr size_t kLongestBlockName = 60;

/// Blocks of one type and size, by the code that allocated them.
struct BlockEntry {
  std::string type;  ///< empty: unknown
  uint64_t base = 0;
  std::string allocated;
  std::set<std::pair<uint64_t, std::string_view>> blocks;  ///< where each begins, and in which address space
};

void appendFrame(std::string& out, const std::string& function, const std::string& file, uint32_t line,
                 bool withSource, SourceText& source) {
  text::appendShortened(out, text::printable(function.empty() ? "an unknown function" : function),
                        kLongestBlockName, text::Shorten::middle);
  if (!withSource || file.empty()) return;
  out += " (";
  source.append(out, file, line);
  out += ')';
}

/// "128 bytes allocated in xmalloc (util.c:16), called from make_workers (pool.c:41)"
std::string allocatedText(const analysis::HeapBlock& block, bool withSource, SourceText& source) {
  std::string out;
  text::appendNumber(out, block.size);
  out += block.size == 1 ? " byte allocated in " : " bytes allocated in ";
  appendFrame(out, block.function, block.place.file, block.place.line, withSource, source);
  for (const symbols::SourceFrame& caller : block.callers) {
    out += &caller == &block.callers.front() ? ", called from " : " from ";
    appendFrame(out, caller.function, caller.file, caller.line, withSource, source);
  }
  return out;
}

std::vector<BlockEntry> entriesOf(const analysis::Report& report, bool withSource, SourceText& source) {
  std::vector<BlockEntry> entries;
  HashMap<std::string, size_t> known;
  for (const analysis::Line& line : report.lines) {
    for (const analysis::Access& access : line.accesses) {
      const analysis::DataName& data = access.data;
      if (!data.allocation) continue;
      std::string allocated = allocatedText(*data.allocation, withSource, source);
      const auto [found, isNew] = known.try_emplace(data.type + '\n' + allocated, entries.size());
      if (isNew) entries.push_back({data.type, data.base.value_or(0), std::move(allocated), {}});
      if (data.base) entries[found->second].blocks.emplace(*data.base, line.space);
    }
  }
  return entries;
}

/// "worker[8] at 0x5000000 and 3 more"
std::string subjectOf(const BlockEntry& entry) {
  std::string out;
  if (!entry.type.empty())
    text::appendShortened(out, text::printable(entry.type), kLongestBlockName, text::Shorten::middle);
  if (entry.blocks.empty()) return out.empty() ? "unknown" : out;
  if (!out.empty()) out += " at ";
  text::appendHex(out, entry.base);
  if (entry.blocks.size() > 1) out.append(" and ").append(std::to_string(entry.blocks.size() - 1)) += " more";
  return out;
}

}  // namespace

void writeBlocks(const analysis::Report& report, const TableOptions& options, SourceText& source,
                 text::RowSink& out) {
  const std::vector<BlockEntry> entries = entriesOf(report, options.source, source);
  if (entries.empty()) return;
  out.beginBlock();
  out.add(text::wrap("Heap blocks of the data above", options.width), text::Mark::bold);
  const size_t shown = std::min(entries.size(), kMostEntries);
  for (size_t i = 0; i < shown; ++i)
    out.add(text::wrap(subjectOf(entries[i]) +
                           (entries[i].type.empty() ? ": a block of " : ": in a block of ") +
                           entries[i].allocated,
                       options.width, "", "  "));
  const size_t rest = entries.size() - shown;
  if (rest == 0) return;
  out.add(text::wrap("blocks of " + std::to_string(rest) +
                         (rest == 1 ? " more allocation" : " more allocations") +
                         " (--format json lists them)",
                     options.width));
}

}  // namespace cacheline::c2c
