// Small helpers over libdw's debugging information entries (DIEs): a bounded walk, attributes, reference
// chains.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace cacheline::symbols {

/// The longest abstract_origin / specification / type chain that is followed; compilers write at most a few
/// links.
inline constexpr int kLongestReferenceChain = 16;

/// String attribute of this very DIE, null where absent.
const char* stringAttribute(Dwarf_Die& die, unsigned name);
/// Unsigned constant attribute of this very DIE.
std::optional<uint64_t> unsignedAttribute(Dwarf_Die& die, unsigned name);
/// The DIE a reference attribute of this very DIE points to.
std::optional<Dwarf_Die> referenceAttribute(Dwarf_Die& die, unsigned name);
/// The DIE that completes this one: its DW_AT_abstract_origin, else its DW_AT_specification.
std::optional<Dwarf_Die> completion(Dwarf_Die& die);

/// Visits the descendants of `root` in document order without recursion. `enter(die, offset)` says whether to
/// visit the children; `leave()` is called once for each DIE whose enter() said yes, after its children.
/// Offsets must grow: a file whose sibling references lead back or overlap ends the walk instead of looping.
template <typename Enter, typename Leave>
void walkDies(Dwarf_Die root, Enter&& enter, Leave&& leave) {
  constexpr size_t kDeepestNesting = 512;
  std::vector<Dwarf_Die> open;
  Dwarf_Off last = dwarf_dieoffset(&root);
  Dwarf_Die die, next;
  if (dwarf_child(&root, &die) != 0) return;
  for (;;) {
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    if (offset <= last || offset == static_cast<Dwarf_Off>(-1)) break;
    last = offset;
    if (enter(die, offset)) {
      if (open.size() < kDeepestNesting && dwarf_haschildren(&die) == 1 && dwarf_child(&die, &next) == 0) {
        open.push_back(die);
        die = next;
        continue;
      }
      leave();
    }
    int status;
    while ((status = dwarf_siblingof(&die, &next)) != 0 && !open.empty()) {
      die = open.back();
      open.pop_back();
      leave();
    }
    if (status != 0) break;
    die = next;
  }
  for (size_t i = open.size(); i > 0; i--) leave();
}

/// Calls `range(low, high)` for each address range of a DIE, from DW_AT_ranges or low_pc and high_pc.
template <typename Range>
void forEachRange(Dwarf_Die& die, Range&& range) {
  constexpr int kMostRanges = 1 << 20;  // of one DIE; a lying list ends here
  Dwarf_Addr base = 0, low = 0, high = 0;
  ptrdiff_t at = 0;
  for (int i = 0; i < kMostRanges && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0; i++)
    if (high > low) range(low, high);
}

}  // namespace cacheline::symbols
