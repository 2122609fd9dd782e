// Names of code, cached.
#include "analysis/code_names.h"

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
      return "the address is outside of what the binary's file maps";
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

const CodeName& CodeNames::at(uint32_t binary, uint64_t elfAddress) {
  const auto [it, added] = index_.try_emplace(Key{elfAddress, binary}, static_cast<uint32_t>(names_.size()));
  if (!added) return names_[it->second];
  CodeName name = nameOf(binaries_.module(binary), elfAddress);
  name.object = binaries_.baseName(binary);
  name.elfAddress = elfAddress;
  names_.push_back(std::move(name));
  return names_.back();
}

const CodeName& CodeNames::atOffset(uint32_t binary, uint64_t fileOffset) {
  uint64_t elfAddress = 0;
  if (binary != kNone && binaries_.elfAddress(binary, fileOffset, elfAddress)) return at(binary, elfAddress);
  // Nothing depends on where in the binary it is: one entry serves all of it.
  const auto [it, added] = outside_.try_emplace(binary, static_cast<uint32_t>(names_.size()));
  if (!added) return names_[it->second];
  CodeName name;
  name.why = Unnamed::generated;
  if (binary != kNone) {
    name.object = binaries_.baseName(binary);
    const ModuleStatus status = binaries_.module(binary).status();
    name.why = binaries_.image(binary) != nullptr ? Unnamed::outsideFile
               : status == ModuleStatus::changed  ? Unnamed::changedBinary
                                                  : Unnamed::noBinary;
  }
  names_.push_back(std::move(name));
  return names_.back();
}

}  // namespace cacheline::analysis
