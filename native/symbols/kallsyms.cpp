// One pass over the text, then one sort by address.
#include "symbols/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <tuple>

#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

struct KallsymsLine {
  KernelSymbol symbol;
  uint8_t rank = 0;          ///< lower is the better alias
  uint32_t underscores = 0;  ///< that the name begins with
};

std::optional<KallsymsLine> parseLine(std::string_view text) {
  KallsymsLine line;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, line.symbol.address, 16);
  // " T name" follows.
  if (error != std::errc{} || end - rest < 4 || rest[0] != ' ' || rest[2] != ' ') return std::nullopt;
  const char type = rest[1];
  std::string_view name(rest + 3, static_cast<size_t>(end - rest - 3));
  if (const size_t tab = name.find('\t'); tab != std::string_view::npos) {
    std::string_view module = name.substr(tab + 1);
    name = name.substr(0, tab);
    if (module.size() < 3 || module.front() != '[' || module.back() != ']') return std::nullopt;
    line.symbol.module = module.substr(1, module.size() - 2);
  }
  if (name.empty()) return std::nullopt;
  line.symbol.name = name;
  const char lower = static_cast<char>(type | 0x20);
  const bool weak = lower == 'w' || lower == 'v';
  line.symbol.code = lower == 't' || lower == 'w';
  line.rank = weak ? 2 : type == lower ? 1 : 0;
  line.underscores = static_cast<uint32_t>(std::min(name.find_first_not_of('_'), name.size()));
  return line;
}

bool before(const KallsymsLine& a, const KallsymsLine& b) {
  if (a.symbol.address != b.symbol.address) return a.symbol.address < b.symbol.address;
  return std::tuple(a.rank, a.underscores, b.symbol.name.size(), a.symbol.name) <
         std::tuple(b.rank, b.underscores, a.symbol.name.size(), b.symbol.name);
}

}  // namespace

Kallsyms::Kallsyms(std::string text) : text_(text.begin(), text.end()) {
  const std::string_view all(text_.data(), text_.size());
  std::vector<KallsymsLine> lines;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    if (auto line = parseLine(all.substr(begin, end - begin))) lines.push_back(*line);
    begin = end + 1;
  }
  hidden_ = !lines.empty() && std::all_of(lines.begin(), lines.end(),
                                          [](const KallsymsLine& line) { return line.symbol.address == 0; });
  if (hidden_) return;
  std::sort(lines.begin(), lines.end(), before);
  symbols_.reserve(lines.size());
  for (const KallsymsLine& line : lines) {
    if (line.symbol.module.empty() && (line.symbol.name == "_text" || line.symbol.name == "_stext"))
      references_.push_back(line.symbol);
    if (symbols_.empty() || symbols_.back().address != line.symbol.address) symbols_.push_back(line.symbol);
  }
}

const KernelSymbol* Kallsyms::at(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t value, const KernelSymbol& symbol) { return value < symbol.address; });
  return after == symbols_.begin() ? nullptr : &*std::prev(after);
}

std::optional<uint64_t> Kallsyms::addressOf(std::string_view name) const {
  for (const auto* list : {&references_, &symbols_})
    for (const KernelSymbol& symbol : *list)
      if (symbol.name == name && symbol.module.empty()) return symbol.address;
  return std::nullopt;
}

std::string kernelBuildId(const std::string& notesPath) {
  std::ifstream in(notesPath, std::ios::binary);  // a sysfs file cannot be mapped
  const std::vector<char> notes{std::istreambuf_iterator<char>(in), {}};
  return buildIdOfNotes({reinterpret_cast<const uint8_t*>(notes.data()), notes.size()});
}

}  // namespace cacheline::symbols
