// Which of the definitions that units repeat become entries of the index.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "layouts/type_index.h"
#include "types/inner_types.h"

namespace cacheline::layouts {

/// A definition as the index may get it.
struct IndexCandidate {
  static constexpr size_t kNone = SIZE_MAX;

  IndexedType entry;                ///< its name may be empty until it gets into the index
  Dwarf_Die named{};                ///< the definition, or its typedef
  const void* structure = nullptr;  ///< the definition: its DIE's place in memory
  uint64_t looks = 0;               ///< the hash of how it looks from outside
  size_t position = kNone;          ///< in the index, where it is there already
};

/// Of definitions that look alike and may have the same inside one becomes an entry: the one that knows most.
/// Most are not new, so that asking comes first.
class IndexCandidates {
 public:
  using NameOf = std::function<std::string(const Dwarf_Die& named)>;
  IndexCandidates(std::vector<IndexedType>& types, NameOf nameOf)
      : types_(types), nameOf_(std::move(nameOf)) {}
  /// False where one that looks so was settled with the same inside.
  bool isNew(uint64_t looks, const types::InnerHashes& inner) {
    return seen_.insert(hashOf(looks, inner)).second;
  }
  void settle(IndexCandidate& candidate, const types::InnerHashes& inner);

 private:
  struct Known {
    size_t position;
    types::InnerHashes inner;  ///< what all that fit it know
    ptrdiff_t open;            ///< parts that the one in the index only declares
  };
  static uint64_t hashOf(uint64_t looks, const types::InnerHashes& inner);
  static Known* fitting(std::vector<Known>& alike, const types::InnerHashes& inner);
  void keep(IndexCandidate& candidate);

  std::vector<IndexedType>& types_;
  NameOf nameOf_;
  std::unordered_set<uint64_t> seen_;
  std::unordered_map<uint64_t, std::vector<Known>> known_;  ///< by how they look
};

}  // namespace cacheline::layouts
