// Small helpers over libdw's debugging information entries (DIEs): attributes, reference chains, children.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>

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

/// What `get` answers of a DIE, else of what completes it: a definition leaves attributes to its declaration.
template <typename Get>
auto alongChain(Dwarf_Die die, Get&& get) -> decltype(get(die)) {
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    if (auto value = get(die)) return value;
    const auto next = completion(die);
    if (!next) break;
    die = *next;
  }
  return {};
}

/// The language of a DIE's unit, DW_LANG_*; -1: unknown.
int languageOf(Dwarf_Die die);
/// Bytes of an address in a DIE's unit; 0: unknown.
uint8_t addressSizeOf(Dwarf_Die die);
bool isQualifier(int tag);  ///< const, volatile, restrict, _Atomic
/// A type behind qualifiers and, with `typedefs`, behind these, too. Nullopt: void, or a loop.
std::optional<Dwarf_Die> unqualified(Dwarf_Die type, bool typedefs);
/// Elements of one dimension of an array; nullopt: flexible, or known at run time only.
std::optional<uint64_t> dimensionLength(Dwarf_Die& range);

/// Visits the children of a DIE; `each(child)` says whether to go on. Ends where offsets do not grow: a lying
/// sibling reference would loop.
template <typename Each>
void forEachChild(Dwarf_Die parent, Each&& each) {
  constexpr size_t kMostChildren = 1 << 20;
  Dwarf_Die child, next;
  if (dwarf_child(&parent, &child) != 0) return;
  Dwarf_Off last = dwarf_dieoffset(&parent);
  for (size_t i = 0; i < kMostChildren; i++) {
    const Dwarf_Off offset = dwarf_dieoffset(&child);
    if (offset <= last || !each(child) || dwarf_siblingof(&child, &next) != 0) return;
    last = offset;
    child = next;
  }
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
