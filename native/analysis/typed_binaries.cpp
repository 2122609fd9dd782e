// Types by binary.
#include "analysis/typed_binaries.h"

namespace cacheline::analysis {

TypedBinaries::Entry& TypedBinaries::entry(uint32_t binary) {
  if (entries_.size() <= binary) entries_.resize(binary + size_t{1});
  return entries_[binary];
}

types::BinaryTypes& TypedBinaries::types(uint32_t binary) {
  Entry& known = entry(binary);
  if (!known.types) known.types = std::make_unique<types::BinaryTypes>(binaries_.module(binary));
  return *known.types;
}

types::LiveVariables& TypedBinaries::live(uint32_t binary) {
  types::BinaryTypes& types = this->types(binary);
  Entry& known = entry(binary);
  if (!known.live) known.live = std::make_unique<types::LiveVariables>(binaries_.module(binary), types);
  return *known.live;
}

}  // namespace cacheline::analysis
