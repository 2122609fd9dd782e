// Walks over the children of DIEs that references lead to: they may overlap, where a scan of a unit reads
// each once.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "symbols/die_scan.h"

namespace cacheline::symbols {

/// Not thread-safe.
class ChildLists {
 public:
  /// `most`: bytes of DIEs that all walks together go over; then they end. Lists that lie in each other would
  /// make that a square.
  explicit ChildLists(uint64_t most) : left_(most) {}
  ChildLists(const ChildLists&) = delete;
  ChildLists& operator=(const ChildLists&) = delete;

  static bool any(int) { return true; }
  /// As DieScan::walkBelow(). `enter(Dwarf_Die&)` may walk, too.
  template <typename Wanted, typename Enter>
  void walk(Dwarf_Die parent, Wanted&& wanted, Enter&& enter) {
    if (DieScan* scan = scanOf(parent))
      scan->walkBelow(
          dwarf_dieoffset(&parent), wanted, [&](DieScan::Here& here) { return enter(here.die); },
          [](Dwarf_Off) {});
  }

 private:
  DieScan* scanOf(Dwarf_Die& die) {
    const auto known = scans_.find(die.cu);
    if (known != scans_.end()) return &known->second;
    Dwarf_Die root{};
    if (die.cu == nullptr || dwarf_diecu(&die, &root, nullptr, nullptr) == nullptr) return nullptr;
    return &scans_.try_emplace(die.cu, root, &left_).first->second;
  }

  uint64_t left_;
  std::unordered_map<Dwarf_CU*, DieScan> scans_;
};

}  // namespace cacheline::symbols
