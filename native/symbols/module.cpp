// Module: opens a binary as a recording names it, finds its debug information, and says what is missing and
// why.
#include "symbols/module.h"

#include <algorithm>

#include "base/error.h"
#include "symbols/debug_files.h"
#include "symbols/dwarf_index.h"
#include "symbols/elf_image_impl.h"

namespace cacheline::symbols {
namespace {

/// Old recordings store 20 bytes always: a shorter id is followed by zeros.
bool sameBuildId(std::string recorded, const std::string& actual) {
  std::transform(recorded.begin(), recorded.end(), recorded.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return !actual.empty() && recorded.starts_with(actual) &&
         recorded.find_first_not_of('0', actual.size()) == std::string::npos;
}

}  // namespace

struct Module::Impl {
  std::string path;
  ModuleStatus status = ModuleStatus::missing;
  std::string detail;
  std::string debugFile;
  std::shared_ptr<const ElfImage> image, debugImage;
  std::unique_ptr<DwarfIndex> dwarf;

  void findDebugInformation();
  void describe(const std::string& dwarfProblem, const std::string& refused);
};

void Module::Impl::findDebugInformation() {
  DebugFile separate;
  if (!image->hasDebugInfo() || !image->hasSymbolTable())
    separate = findDebugFile(*image, image->impl_->file, DebugSearch::standard());
  if (separate.image) {
    debugImage = separate.image;
    debugFile = debugImage->path();
    image->impl_->symbolFile = debugImage;
  }
  std::string problem;
  const ElfImage& source = image->hasDebugInfo() || !debugImage ? *image : *debugImage;
  if (source.hasDebugInfo()) {
    try {
      dwarf = std::make_unique<DwarfIndex>(source.path(), source.impl_->file);
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  describe(problem, separate.reason);
}

void Module::Impl::describe(const std::string& dwarfProblem, const std::string& refused) {
  if (dwarf) {
    status = ModuleStatus::ok;
    if (!dwarf->missingSupplement().empty())
      detail = "Some names of " + path + " are missing: its debug information continues in " +
               dwarf->missingSupplement() + ", which was not found.";
    return;
  }
  const bool symbols = !image->impl_->symbols().empty();
  status = symbols ? ModuleStatus::noDebugInfo : ModuleStatus::noSymbols;
  if (!dwarfProblem.empty())
    detail = "The debug information of " + path + " cannot be used (" + dwarfProblem + ").";
  else if (!refused.empty())
    detail = refused;
  else if (symbols)
    detail = path +
             " has no debug information: functions are named, source lines are not; compile with -g or " +
             "install its debug symbols.";
  else
    detail = path +
             " is stripped: no functions, variables or source lines can be named; use an unstripped build " +
             "compiled with -g or install its debug symbols.";
}

Module::Module(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Module::~Module() = default;

std::shared_ptr<Module> Module::open(const std::string& path, const std::string& recordedBuildId) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  try {
    impl->image = ElfImage::open(path);
    const std::string& actual = impl->image->buildId();
    if (!recordedBuildId.empty() && !sameBuildId(recordedBuildId, actual)) {
      impl->status = ModuleStatus::changed;
      impl->detail = path + " was rebuilt since it was recorded: build id " + recordedBuildId +
                     " recorded, " + (actual.empty() ? "none" : actual) + " now; addresses only.";
      impl->image.reset();
    } else {
      impl->findDebugInformation();
    }
  } catch (const Error& error) {
    impl->status = ModuleStatus::missing;
    impl->detail = std::string(error.what()) + ".";
  }
  return std::shared_ptr<Module>(new Module(std::move(impl)));
}

std::shared_ptr<Module> Module::changed(const std::string& path, const std::string& why) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->status = ModuleStatus::changed;
  impl->detail = why;
  return std::shared_ptr<Module>(new Module(std::move(impl)));
}

const std::string& Module::path() const {
  return impl_->path;
}
ModuleStatus Module::status() const {
  return impl_->status;
}
const std::string& Module::detail() const {
  return impl_->detail;
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
  auto variable = impl_->dwarf->variableAt(address);
  if (variable && variable->size == 0)
    if (const Symbol* symbol = impl_->image->dataAt(variable->address);
        symbol != nullptr && symbol->address == variable->address)
      variable->size = symbol->size;
  return variable;
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
