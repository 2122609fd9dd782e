// Module: opens a binary as a recording names it, finds its debug information, and says what is missing and
// why.
#include "symbols/module.h"

#include <algorithm>

#include "base/error.h"
#include "symbols/debug_files.h"
#include "symbols/dwarf_index.h"
#include "symbols/elf_image_impl.h"

namespace cacheline::symbols {

struct Module::Impl {
  std::string path;
  ModuleStatus status = ModuleStatus::missing;
  std::string problem, nextStep;  ///< of debug information that cannot be had
  std::string detail;
  std::string debugFile, supplement;
  std::shared_ptr<const ElfImage> image, debugImage;
  std::shared_ptr<InlineTrees> trees = std::make_shared<InlineTrees>();  ///< the reopened one's too
  std::unique_ptr<DwarfIndex> dwarf;

  const ElfImage& source() const { return image->hasDebugInfo() || !debugImage ? *image : *debugImage; }
  std::unique_ptr<DwarfIndex> openDwarf() const {
    return std::make_unique<DwarfIndex>(source().path(), source().impl_->file, supplement, trees, *image);
  }
  void findDebugInformation(SymbolSearch& search);
  void describe(const std::string& dwarfProblem, const std::string& refused);
  void lacks(const std::string& what, const std::string& next);
};

void Module::Impl::findDebugInformation(SymbolSearch& search) {
  DebugFile separate;
  if (!image->hasDebugInfo() || !image->hasSymbolTable())
    separate = findDebugFile(*image, image->impl_->file, path, search);
  if (separate.image) {
    debugImage = separate.image;
    debugFile = debugImage->path();
    image->impl_->symbolFile = debugImage;
  }
  std::string failure;
  if (source().hasDebugInfo()) {
    try {
      supplement = findSupplement(source().impl_->file, search);
      dwarf = openDwarf();
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  describe(failure, separate.reason);
}

void Module::Impl::describe(const std::string& dwarfProblem, const std::string& refused) {
  if (dwarf) {
    status = ModuleStatus::ok;
    if (image->isDebugOnly())
      detail = path + " itself was not found: names and lines come from its debug file " + image->path() +
               ", and its code cannot be decoded.";
    if (const MissingSupplement& missing = dwarf->missingSupplement(); !missing.name.empty())
      detail = "Some names of " + path + " are missing: its debug information continues in " + missing.name +
               ", which " + missing.why + ".";
    return;
  }
  const bool symbols = !image->impl_->symbols().empty();
  status = symbols ? ModuleStatus::noDebugInfo : ModuleStatus::noSymbols;
  if (!dwarfProblem.empty())
    lacks("The debug information of " + path + " cannot be used (" + dwarfProblem + ").",
          image->isRelocatable() ? "Link it, and name the program or library instead." : "");
  else if (!refused.empty())
    lacks(refused, "");
  else if (const ElfFile& file = image->impl_->file; file.isCutOff())
    lacks(path + " is cut off: its section headers would be at bytes " + std::to_string(file.header.e_shoff) +
              " to " + std::to_string(file.sectionHeadersEnd()) + ", but it has " +
              std::to_string(file.bytes.size()) + " bytes.",
          "Copy or build it again.");
  else if (symbols)
    lacks(path + " has no debug information: functions are named, source lines are not.",
          "Compile with -g, or install its debug symbols.");
  else
    lacks(path + " is stripped: no functions, variables or source lines can be named.",
          "Use an unstripped build compiled with -g, or install its debug symbols.");
}

void Module::Impl::lacks(const std::string& what, const std::string& next) {
  problem = what;
  nextStep = next;
  detail = next.empty() ? what : what + " " + next;
}

Module::Module(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Module::~Module() = default;

std::shared_ptr<Module> Module::of(const std::string& path, FoundBinary found, SymbolSearch& search) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  if (found.image) {
    // Its debug file's symbols will be attached to it.
    impl->image = std::move(found.image);
    impl->findDebugInformation(search);
  } else {
    impl->status = found.changed ? ModuleStatus::changed : ModuleStatus::missing;
    impl->detail = std::move(found.detail);
  }
  return std::shared_ptr<Module>(new Module(std::move(impl)));
}

std::shared_ptr<Module> Module::open(const std::string& path, const std::string& recordedBuildId,
                                     SymbolSearch& search) {
  return of(path, search.binary(path, recordedBuildId), search);
}

std::shared_ptr<Module> Module::open(const std::string& path, const std::string& recordedBuildId) {
  SymbolSearch search;
  return open(path, recordedBuildId, search);
}

std::shared_ptr<Module> Module::changed(const std::string& path, const std::string& why) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->status = ModuleStatus::changed;
  impl->detail = why;
  return std::shared_ptr<Module>(new Module(std::move(impl)));
}

std::shared_ptr<Module> Module::reopened() const {
  auto impl = std::make_unique<Impl>();
  impl->path = impl_->path;
  impl->status = impl_->status;
  impl->problem = impl_->problem;
  impl->nextStep = impl_->nextStep;
  impl->detail = impl_->detail;
  impl->debugFile = impl_->debugFile;
  impl->supplement = impl_->supplement;
  impl->image = impl_->image;
  impl->debugImage = impl_->debugImage;
  impl->trees = impl_->trees;
  if (impl_->dwarf) impl->dwarf = impl->openDwarf();
  return std::shared_ptr<Module>(new Module(std::move(impl)));
}

const std::string& Module::path() const {
  return impl_->path;
}
const std::string& Module::file() const {
  static const std::string none;
  return impl_->image ? impl_->image->path() : none;
}
ModuleStatus Module::status() const {
  return impl_->status;
}
const std::string& Module::detail() const {
  return impl_->detail;
}
const std::string& Module::problem() const {
  return impl_->problem;
}
const std::string& Module::nextStep() const {
  return impl_->nextStep;
}
const std::string& Module::debugFile() const {
  return impl_->debugFile;
}
const ElfImage* Module::image() const {
  return impl_->image.get();
}

std::vector<SourceFrame> Module::framesAt(uint64_t address) {
  std::vector<SourceFrame> frames;
  if (!impl_->image) return frames;
  if (impl_->dwarf) frames = impl_->dwarf->framesAt(address);
  if (!frames.empty() && !frames.back().function.empty()) return frames;
  if (const Symbol* symbol = impl_->image->functionAt(address)) {
    if (frames.empty()) frames.emplace_back();
    frames.back().function = demangle(symbol->name);
  }
  return frames;
}

std::optional<Variable> Module::variableAt(uint64_t address) {
  if (!impl_->dwarf) return std::nullopt;
  return impl_->dwarf->variableAt(address);
}

DwarfIndex* Module::dwarf() {
  return impl_->dwarf.get();
}

const char* moduleStatusName(ModuleStatus status) {
  switch (status) {
    case ModuleStatus::ok:
      return "ok";
    case ModuleStatus::noDebugInfo:
      return "no debug info";
    case ModuleStatus::noSymbols:
      return "no symbols";
    case ModuleStatus::changed:
      return "changed";
    case ModuleStatus::missing:
      return "missing";
  }
  return "missing";
}

}  // namespace cacheline::symbols
