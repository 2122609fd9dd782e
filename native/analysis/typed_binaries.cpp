// Types by binary.
#include "analysis/typed_binaries.h"

namespace cacheline::analysis {

TypedBinaries::Entry& TypedBinaries::entry(uint32_t binary) {
  if (entries_.size() <= binary) entries_.resize(binary + size_t{1});
  Entry& known = entries_[binary];
  if (!known.module) known.module = apart_ ? binaries_.share(binary)->reopened() : binaries_.share(binary);
  return known;
}

types::BinaryTypes& TypedBinaries::types(uint32_t binary) {
  Entry& known = entry(binary);
  if (!known.types) known.types = std::make_unique<types::BinaryTypes>(*known.module);
  return *known.types;
}

types::LiveVariables& TypedBinaries::live(uint32_t binary) {
  types::BinaryTypes& types = this->types(binary);
  Entry& known = entry(binary);
  if (!known.live) known.live = std::make_unique<types::LiveVariables>(*known.module, types);
  return *known.live;
}

}  // namespace cacheline::analysis
