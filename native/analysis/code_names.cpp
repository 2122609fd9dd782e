// Names of code, cached.
#include "analysis/code_names.h"

#include <algorithm>

namespace cacheline::analysis {

using symbols::ModuleStatus;

const char* unnamedReason(Unnamed why) {
  switch (why) {
    case Unnamed::named:
      return "";
    case Unnamed::noBinary:
      return "no file of the binary was found";
    case Unnamed::changedBinary:
      return "the binary was rebuilt since it was recorded";
    case Unnamed::outsideFile:
      return "the address is outside the mapped part of the binary";
    case Unnamed::noSymbols:
      return "the binary is stripped and its debug file was not found";
    case Unnamed::noSymbolThere:
      return "no symbol of the binary covers the address";
    case Unnamed::noDebugInfo:
      return "the binary has no debug information, so source lines are unknown";
    case Unnamed::noLineThere:
      return "the debug information has no source line for the address";
    case Unnamed::generated:
      return "no file backs the code: it was made at run time or is the vdso";
    case Unnamed::generatedNoLine:
      return "the code was made at run time (BPF, a trampoline), so it has no source lines";
    case Unnamed::noKernel:
      return "neither vmlinux nor kallsyms of the recorded kernel was found";
  }
  return "";
}

CodeName nameOf(symbols::Module& module, uint64_t elfAddress) {
  CodeName name;
  const ModuleStatus status = module.status();
  if (module.image() == nullptr) {
    name.why = status == ModuleStatus::changed ? Unnamed::changedBinary : Unnamed::noBinary;
    return name;
  }
  std::vector<symbols::SourceFrame> frames = module.framesAt(elfAddress);
  if (!frames.empty()) {
    name.symbol = frames.back().function;
    name.file = frames.front().file;
    name.line = frames.front().line;
    if (frames.size() > 1) name.inlined = std::move(frames);
  }
  if (name.symbol.empty())
    name.why = status == ModuleStatus::noSymbols ? Unnamed::noSymbols : Unnamed::noSymbolThere;
  else if (name.file.empty() || name.line == 0)
    name.why = status == ModuleStatus::ok ? Unnamed::noLineThere : Unnamed::noDebugInfo;
  return name;
}

SharedName CodeNames::at(uint32_t binary, uint64_t elfAddress) {
  SharedName& known = names_[Place{binary, elfAddress}];
  if (!known) known = share(nameOf(binaries_.module(binary), elfAddress), binary, elfAddress);
  return known;
}

SharedName CodeNames::share(CodeName name, uint32_t binary, uint64_t elfAddress) const {
  name.object = binaries_.baseName(binary);
  name.elfAddress = elfAddress;
  return std::make_shared<const CodeName>(std::move(name));
}

SharedName CodeNames::atOffset(uint32_t binary, uint64_t fileOffset) {
  uint64_t elfAddress = 0;
  if (binary != kNone && binaries_.elfAddress(binary, fileOffset, elfAddress)) return at(binary, elfAddress);
  // Nothing depends on where in the binary it is: one entry serves all of it.
  SharedName& known = outside_[binary];
  if (known) return known;
  CodeName name;
  name.why = Unnamed::generated;
  if (binary != kNone) {
    name.object = binaries_.baseName(binary);
    const ModuleStatus status = binaries_.module(binary).status();
    name.why = binaries_.image(binary) != nullptr ? Unnamed::outsideFile
               : status == ModuleStatus::changed  ? Unnamed::changedBinary
                                                  : Unnamed::noBinary;
  }
  return known = std::make_shared<const CodeName>(std::move(name));
}

void CodeNames::Batch::add(std::vector<Place> places) {
  places_ = std::move(places);
  std::sort(places_.begin(), places_.end());
  places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  names_.resize(places_.size());
}

void CodeNames::Batch::work(const std::function<symbols::Module&(uint32_t)>& moduleOf) {
  constexpr size_t kStretch = 32;  // places: what lies side by side uses the same tables
  for (size_t taken; (taken = next_.fetch_add(kStretch)) < places_.size();)
    for (size_t left = places_.size() - taken, i = left - std::min(kStretch, left); i < left; ++i)
      names_[i] = nameOf(moduleOf(places_[i].binary), places_[i].elfAddress);
}

void CodeNames::take(Batch& batch) {
  for (size_t i = 0; i < batch.places_.size(); ++i) {
    const Place& place = batch.places_[i];
    names_[place] = share(std::move(batch.names_[i]), place.binary, place.elfAddress);
  }
}

}  // namespace cacheline::analysis
