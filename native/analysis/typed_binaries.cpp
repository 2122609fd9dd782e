// Types by binary.
#include "analysis/typed_binaries.h"

namespace cacheline::analysis {

TypedBinary& TypedBinaries::entry(uint32_t binary) {
  if (entries_.size() <= binary) entries_.resize(binary + size_t{1});
  std::shared_ptr<TypedBinary>& known = entries_[binary];
  if (known) return *known;
  const std::shared_ptr<symbols::Module>& module = binaries_.share(binary);
  KeptBinary* kept = apart_ || module->image() == nullptr ? nullptr : binaries_.kept(binary);
  if (kept != nullptr) known = kept->typed;
  if (known) return *known;
  known = std::make_shared<TypedBinary>();
  known->module = apart_ ? module->reopened() : module;
  if (kept != nullptr) kept->typed = known;
  return *known;
}

layouts::BinaryTypes& TypedBinaries::types(uint32_t binary) {
  TypedBinary& known = entry(binary);
  if (!known.types) known.types = std::make_unique<layouts::BinaryTypes>(*known.module);
  return *known.types;
}

inference::LiveVariables& TypedBinaries::live(uint32_t binary) {
  layouts::BinaryTypes& types = this->types(binary);
  TypedBinary& known = entry(binary);
  if (!known.live) known.live = std::make_unique<inference::LiveVariables>(*known.module, types);
  return *known.live;
}

}  // namespace cacheline::analysis
