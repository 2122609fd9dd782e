// What is new is kept, with all that is known of what is inside.
#include "layouts/index_candidates.h"

#include <algorithm>

#include "base/hash.h"

namespace cacheline::layouts {
namespace {

/// Namesakes that differ inside: more than any program's. What comes after them is left out.
constexpr size_t kMostAlike = 256;

bool fits(uint64_t one, uint64_t other) {
  return one == other || one == 0 || other == 0;
}

}  // namespace

uint64_t IndexCandidates::hashOf(uint64_t looks, const types::InnerHashes& inner) {
  for (const uint64_t hash : inner) looks = mix(looks, hash);
  return looks;
}

void IndexCandidates::settle(IndexCandidate& candidate, const types::InnerHashes& inner) {
  if (inner.empty()) return keep(candidate);
  std::vector<Known>& alike = known_[candidate.looks];
  if (Known* known = fitting(alike, inner)) {
    for (size_t i = 0; i < known->inner.size(); i++)
      if (known->inner[i] == 0) known->inner[i] = inner[i];
    const auto open = std::count(inner.begin(), inner.end(), 0);
    if (open >= known->open) return;
    known->open = open;
    types_[known->position].die = candidate.entry.die;
  } else if (alike.size() < kMostAlike) {
    if (!alike.empty()) candidate.entry.hash = hashOf(candidate.entry.hash, inner);
    keep(candidate);
    alike.push_back({candidate.position, inner, std::count(inner.begin(), inner.end(), 0)});
  }
}

IndexCandidates::Known* IndexCandidates::fitting(std::vector<Known>& alike, const types::InnerHashes& inner) {
  for (Known& known : alike)
    if (std::equal(inner.begin(), inner.end(), known.inner.begin(), known.inner.end(), fits)) return &known;
  return nullptr;
}

void IndexCandidates::keep(IndexCandidate& candidate) {
  IndexedType& entry = candidate.entry;
  if (candidate.position != IndexCandidate::kNone) {
    types_[candidate.position].hash = entry.hash;
    return;
  }
  candidate.position = types_.size();
  if (entry.name.empty()) entry.name = nameOf_(candidate.named);
  types_.push_back(std::move(entry));
}

}  // namespace cacheline::layouts
