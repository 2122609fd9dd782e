// Mappings by address.
#include "analysis/address_space.h"

#include <algorithm>
#include <iterator>

namespace cacheline::analysis {

namespace {

constexpr size_t kLeafSize = 128;  // pieces; a leaf splits at twice that

}  // namespace

bool Backing::namesFile() const {
  if (!name.starts_with('/') || name.starts_with("//")) return false;
  if (name.starts_with("/dev/")) return name.starts_with("/dev/shm/");
  return !name.starts_with("/memfd:") && !name.starts_with("/SYSV") && !name.starts_with("/anon_hugepage");
}

size_t MappingSet::leafOf(uint64_t address) const {
  const auto it = std::upper_bound(leaves_.begin(), leaves_.end(), address,
                                   [](uint64_t value, const LeafRef& ref) { return value < ref.first; });
  return it == leaves_.begin() ? 0 : static_cast<size_t>(it - leaves_.begin()) - 1;
}

const Mapping* MappingSet::find(uint64_t address) const {
  if (leaves_.empty()) return nullptr;
  const Leaf& leaf = *leaves_[leafOf(address)].leaf;
  const auto it = std::upper_bound(leaf.begin(), leaf.end(), address,
                                   [](uint64_t value, const Mapping& piece) { return value < piece.end; });
  return it != leaf.end() && it->start <= address ? &*it : nullptr;
}

const Mapping* MappingSet::before(uint64_t address) const {
  if (leaves_.empty()) return nullptr;
  const size_t index = leafOf(address);
  const Leaf& leaf = *leaves_[index].leaf;
  const auto it = std::upper_bound(leaf.begin(), leaf.end(), address,
                                   [](uint64_t value, const Mapping& piece) { return value < piece.end; });
  if (it != leaf.begin()) return &*std::prev(it);
  return index > 0 ? &leaves_[index - 1].leaf->back() : nullptr;
}

const Mapping* MappingSet::last() const {
  return leaves_.empty() ? nullptr : &leaves_.back().leaf->back();
}

size_t MappingSet::size() const {
  size_t count = 0;
  for (const LeafRef& ref : leaves_) count += ref.leaf->size();
  return count;
}

MappingSet::Leaf& MappingSet::own(size_t index) {
  std::shared_ptr<Leaf>& leaf = leaves_[index].leaf;
  if (leaf.use_count() > 1) leaf = std::make_shared<Leaf>(*leaf);
  return *leaf;
}

void MappingSet::erase(uint64_t start, uint64_t end) {
  size_t firstEmpty = leaves_.size(), emptied = 0;
  for (size_t i = leafOf(start); i < leaves_.size() && leaves_[i].first < end; ++i) {
    const auto overlaps = [&](const Mapping& piece) { return piece.start < end && piece.end > start; };
    if (std::none_of(leaves_[i].leaf->begin(), leaves_[i].leaf->end(), overlaps)) continue;
    Leaf kept;
    kept.reserve(leaves_[i].leaf->size() + 1);
    for (const Mapping& piece : *leaves_[i].leaf) {
      if (!overlaps(piece)) {
        kept.push_back(piece);
        continue;
      }
      if (piece.start < start) {
        kept.push_back(piece);
        kept.back().end = start;
      }
      if (piece.end > end) {
        kept.push_back(piece);
        kept.back().start = end;
      }
    }
    if (kept.empty()) {  // neighbours: only the first and the last leaf can keep something
      if (emptied++ == 0) firstEmpty = i;
      continue;
    }
    leaves_[i].first = kept.front().start;
    leaves_[i].leaf = std::make_shared<Leaf>(std::move(kept));
  }
  const auto from = leaves_.begin() + static_cast<ptrdiff_t>(firstEmpty);
  leaves_.erase(from, from + static_cast<ptrdiff_t>(emptied));
}

void MappingSet::insert(const Mapping& mapping) {
  if (mapping.end <= mapping.start) return;
  if (!leaves_.empty()) erase(mapping.start, mapping.end);
  if (leaves_.empty()) {
    leaves_.push_back({mapping.start, std::make_shared<Leaf>(Leaf{mapping})});
    return;
  }
  const size_t index = leafOf(mapping.start);
  Leaf& leaf = own(index);
  leaf.insert(std::upper_bound(leaf.begin(), leaf.end(), mapping.start,
                               [](uint64_t value, const Mapping& piece) { return value < piece.start; }),
              mapping);
  leaves_[index].first = leaf.front().start;
  if (leaf.size() < 2 * kLeafSize) return;
  const auto middle = leaf.begin() + static_cast<ptrdiff_t>(kLeafSize);
  auto upper = std::make_shared<Leaf>(middle, leaf.end());
  leaf.erase(middle, leaf.end());
  const uint64_t first = upper->front().start;
  leaves_.insert(leaves_.begin() + static_cast<ptrdiff_t>(index) + 1, LeafRef{first, std::move(upper)});
}

void MappingSet::insertAnonymous(const Mapping& mapping) {
  std::vector<Mapping> kept;
  for (size_t i = leaves_.empty() ? 0 : leafOf(mapping.start); i < leaves_.size() && kept.size() <= kMaxKept;
       ++i) {
    if (leaves_[i].first >= mapping.end) break;
    for (const Mapping& piece : *leaves_[i].leaf) {
      const bool inside = piece.start >= mapping.start && piece.end <= mapping.end;
      const bool whole = piece.start == mapping.start && piece.end == mapping.end;
      if (inside && !whole && piece.backing == mapping.backing) kept.push_back(piece);
      if (kept.size() > kMaxKept) break;
    }
  }
  insert(mapping);
  if (kept.size() > kMaxKept) return;
  for (Mapping& piece : kept) {
    piece.code = mapping.code;
    insert(piece);
  }
}

}  // namespace cacheline::analysis
