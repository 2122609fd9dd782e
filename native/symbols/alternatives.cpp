// struct alt_instr of Linux (arch/x86/include/asm/alternative.h), in all of its forms.
#include "symbols/alternatives.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

namespace cacheline::symbols {
namespace {

/// All begin with two distances, each from its own field.
struct Form {
  size_t size;     ///< bytes of an entry
  size_t lengths;  ///< where the length of the instruction is, and behind it that of its replacement
};
// Since Linux 6.3; since 5.13; before, with a length of padding behind.
constexpr Form kForms[] = {{14, 12}, {12, 10}, {13, 10}};
constexpr size_t kReplacement = 4;  ///< where its distance is

struct Entry {
  std::span<uint8_t> instruction, replacement;
};

std::span<uint8_t> codeAt(CodeCopies& code, uint64_t address, size_t size) {
  const auto after = code.upper_bound(address);
  if (after == code.begin()) return {};
  auto& [start, bytes] = *std::prev(after);
  const uint64_t offset = address - start;
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return std::span(bytes).subspan(offset, size);
}

/// nullopt: no code is there, so the entry has another form.
std::optional<Entry> entryAt(Bytes alternatives, uint64_t address, size_t at, Form form, CodeCopies& code) {
  const auto target = [&](size_t field) {
    int32_t distance = 0;
    std::memcpy(&distance, alternatives.data() + at + field, sizeof distance);
    return address + at + field + static_cast<uint64_t>(int64_t{distance});
  };
  const size_t size = alternatives[at + form.lengths], replaced = alternatives[at + form.lengths + 1];
  const Entry entry{codeAt(code, target(0), size), codeAt(code, target(kReplacement), replaced)};
  if (size == 0 || replaced > size || entry.instruction.empty() ||
      (replaced > 0 && entry.replacement.empty()))
    return std::nullopt;
  return entry;
}

bool callsThroughMemory(std::span<const uint8_t> code) {
  constexpr uint8_t kGroup5 = 0xff, kCallRip = 0x15, kCallSib = 0x14, kNoRegisters = 0x25;
  return code.size() >= 6 && code[0] == kGroup5 &&
         (code[1] == kCallRip || (code[1] == kCallSib && code[2] == kNoRegisters));
}

/// Its distance counts from where it is, and the kernel corrects it.
bool isNearBranch(std::span<const uint8_t> code) {
  constexpr uint8_t kCall = 0xe8, kJump = 0xe9;
  return !code.empty() && (code[0] == kCall || code[0] == kJump);
}

}  // namespace

void applyAlternatives(Bytes alternatives, uint64_t address, CodeCopies& code) {
  constexpr uint8_t kNop = 0x90;
  std::vector<Entry> entries;
  for (const Form form : kForms) {
    if (alternatives.size() % form.size != 0) continue;
    entries.clear();
    for (size_t at = 0; at < alternatives.size(); at += form.size) {
      const auto entry = entryAt(alternatives, address, at, form, code);
      if (!entry) break;
      entries.push_back(*entry);
    }
    if (entries.size() * form.size == alternatives.size()) break;
    entries.clear();
  }
  // Of several for one instruction the kernel takes the last that fits: what they replace is asked first.
  std::erase_if(entries, [](const Entry& entry) { return !callsThroughMemory(entry.instruction); });
  for (const Entry& entry : entries) {
    if (entry.replacement.empty() || isNearBranch(entry.replacement)) continue;
    std::memmove(entry.instruction.data(), entry.replacement.data(), entry.replacement.size());
    const auto rest = entry.instruction.subspan(entry.replacement.size());
    std::fill(rest.begin(), rest.end(), kNop);
  }
}

}  // namespace cacheline::symbols
