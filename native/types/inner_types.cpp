// Hashes of what is inside, made when they are asked for: most structures are only ever seen from outside.
#include "types/inner_types.h"

#include <algorithm>

#include "base/hash.h"
#include "types/type.h"

namespace cacheline::types {

size_t InnerTypes::add(const void* structure, uint64_t hash) {
  // A unit has them by place.
  const bool fits =
      ascending_ == structures_.size() && (ascending_ == 0 || structures_.back().place < structure);
  structures_.push_back({structure, hash});
  if (fits) ascending_++;
  return structures_.size() - 1;
}

void InnerTypes::link(size_t structure, const void* member) {
  if (links_.size() >= kNone) return;
  uint32_t& last = structures_[structure].lastLink;
  links_.push_back({member, last});
  last = static_cast<uint32_t>(links_.size() - 1);
}

InnerTypes::Structure* InnerTypes::at(const void* place) {
  if (ascending_ != structures_.size()) {
    const auto before = [](const Structure& a, const Structure& b) { return a.place < b.place; };
    const auto added = structures_.begin() + static_cast<ptrdiff_t>(ascending_);
    std::sort(added, structures_.end(), before);
    std::inplace_merge(structures_.begin(), added, structures_.end(), before);
    ascending_ = structures_.size();
  }
  const auto found = std::lower_bound(
      structures_.begin(), structures_.end(), place,
      [](const Structure& structure, const void* wanted) { return structure.place < wanted; });
  return found != structures_.end() && found->place == place ? &*found : nullptr;
}

const InnerHashes& InnerTypes::of(const void* structure) {
  if (const Structure* found = at(structure)) return of(static_cast<size_t>(found - structures_.data()));
  if (others_ != nullptr) return others_->of(structure);
  answer_.clear();
  return answer_;
}

const InnerHashes& InnerTypes::of(size_t structure) {
  answer_.clear();
  for (uint32_t link = structures_[structure].lastLink; link != kNone; link = links_[link].before)
    answer_.push_back(whole(links_[link].member, 0));
  return answer_;
}

uint64_t InnerTypes::whole(const void* place, int depth) {
  Structure* found = at(place);
  if (found == nullptr) return others_ != nullptr ? others_->whole(place, depth) : 0;
  // One that lies in itself is a lie: nothing is known of it.
  if (found->read || depth > kDeepestNesting) return found->whole;
  found->read = true;
  uint64_t hash = found->hash;
  for (uint32_t link = found->lastLink; link != kNone; link = links_[link].before) {
    const uint64_t inner = whole(links_[link].member, depth + 1);
    if (inner == 0) return 0;
    hash = mix(hash, inner);
  }
  return found->whole = hash;
}

void InnerTypes::clear() {
  structures_.clear();
  links_.clear();
  ascending_ = 0;
}

}  // namespace cacheline::types
