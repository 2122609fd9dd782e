// Names of code, cached.
#include "analysis/code_names.h"

namespace cacheline::analysis {

const CodeName& CodeNames::of(const Site& site) {
  const auto [it, added] =
      index_.try_emplace(Key{site.plan.codeAddress, site.binary}, static_cast<uint32_t>(names_.size()));
  if (!added) return names_[it->second];
  CodeName name;
  name.object = binaries_.baseName(site.binary);
  std::vector<symbols::SourceFrame> frames = binaries_.module(site.binary).framesAt(site.plan.codeAddress);
  if (!frames.empty()) {
    name.symbol = frames.back().function;
    name.file = frames.front().file;
    name.line = frames.front().line;
    if (frames.size() > 1) name.inlined = std::move(frames);
  }
  names_.push_back(std::move(name));
  return names_.back();
}

}  // namespace cacheline::analysis
