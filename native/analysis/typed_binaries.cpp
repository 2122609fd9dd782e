// Types by binary.
#include "analysis/typed_binaries.h"

namespace cacheline::analysis {

TypedBinaries::Entry& TypedBinaries::entry(uint32_t binary) {
  if (entries_.size() <= binary) entries_.resize(binary + size_t{1});
  Entry& known = entries_[binary];
  if (!known.module) known.module = apart_ ? binaries_.share(binary)->reopened() : binaries_.share(binary);
  return known;
}

layouts::BinaryTypes& TypedBinaries::types(uint32_t binary) {
  Entry& known = entry(binary);
  if (!known.types) known.types = std::make_unique<layouts::BinaryTypes>(*known.module);
  return *known.types;
}

inference::LiveVariables& TypedBinaries::live(uint32_t binary) {
  layouts::BinaryTypes& types = this->types(binary);
  Entry& known = entry(binary);
  if (!known.live) known.live = std::make_unique<inference::LiveVariables>(*known.module, types);
  return *known.live;
}

}  // namespace cacheline::analysis
