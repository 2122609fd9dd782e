// The kernel's areas, and which file or list names what lies in them.
#include "analysis/kernel_code.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.h"

namespace cacheline::analysis {

namespace {

const std::string kKernelName = kKernelObject;
const std::string kUnknown = "[unknown]";

/// "[ext4]" of "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" and of "[ext4]". The kernel writes '_' where
/// file names have '-'.
std::string moduleName(std::string_view file) {
  if (file.starts_with('[')) return std::string(file);
  file = file.substr(file.rfind('/') + 1);
  std::string name(file.substr(0, file.find(".ko")));
  std::replace(name.begin(), name.end(), '-', '_');
  return "[" + name + "]";
}

std::string readWhole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);  // files of /proc cannot be mapped
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

struct KernelCode::Area {
  enum class Kind { kernel, module, guest };
  Kind kind = Kind::module;
  uint64_t start = 0, end = 0;
  std::string path, object, buildId;
  std::string reference;          ///< of the kernel: the symbol whose address is known, or empty
  uint64_t referenceAddress = 0;  ///< in the recording
  bool opened = false;
  std::shared_ptr<symbols::Module> module;
  uint32_t binary = kNone;        ///< of a module, and of a kernel whose place is known
  std::optional<uint64_t> moved;  ///< of the kernel: recorded address - vmlinux's address
  std::string problem;
  bool contains(uint64_t address) const { return address - start < end - start; }
};

KernelCode::KernelCode(const perfdata::Features& features, Binaries& binaries, RunningKernel running)
    : features_(features), binaries_(binaries), running_(std::move(running)) {}
KernelCode::~KernelCode() = default;

void KernelCode::onMmap(const perfdata::Mmap& record) {
  if (!record.kernel || record.length == 0) return;
  auto area = std::make_unique<Area>();
  area->start = record.address;
  area->end = record.address + std::min(record.length, UINT64_MAX - record.address);
  area->path = std::string(record.file);
  area->buildId = record.buildId;
  if (record.file.starts_with("[guest.")) {
    area->kind = Area::Kind::guest;
    area->object = area->path.substr(0, area->path.find(']') + 1);
  } else if (record.file.starts_with("[kernel.")) {
    area->kind = Area::Kind::kernel;
    area->object = kKernelName;
    area->reference = area->path.substr(std::min(area->path.find(']') + 1, area->path.size()));
    area->referenceAddress = record.pageOffset;
  } else {
    area->object = moduleName(record.file);
  }
  if (area->buildId.empty())
    area->buildId = recordedBuildId(area->kind == Area::Kind::kernel ? "" : area->object);
  if (area->kind == Area::Kind::kernel) kernel_ = area.get();
  areas_.push_back(std::move(area));
  areasIndexed_ = false;
}

/// Of a module; of the kernel, which has no name here.
const std::string& KernelCode::recordedBuildId(const std::string& module) {
  if (!buildIds_) {
    buildIds_.emplace();
    for (const perfdata::BuildIdEntry& entry : features_.buildIds) {
      const bool ofKernel = entry.path.starts_with("[kernel.") || entry.path.ends_with("vmlinux");
      if (entry.kernel) buildIds_->try_emplace(ofKernel ? "" : moduleName(entry.path), entry.buildId);
    }
  }
  static const std::string kUnrecorded;
  const auto known = buildIds_->find(module);
  return known != buildIds_->end() ? known->second : kUnrecorded;
}

void KernelCode::onKsymbol(const perfdata::Ksymbol& record) {
  if (record.unregister) {
    for (auto it = dynamic_.rbegin(); it != dynamic_.rend(); ++it)
      if (it->start == record.address && it->until == UINT64_MAX) {
        it->until = record.time;
        break;
      }
    return;
  }
  if (record.length == 0 || record.name.empty()) return;
  CodeName name;
  name.symbol = name.object = std::string(record.name);
  name.why = Unnamed::generatedNoLine;
  const uint64_t end = record.address + std::min<uint64_t>(record.length, UINT64_MAX - record.address);
  dynamic_.push_back({record.address, end, record.time, UINT64_MAX, static_cast<uint32_t>(names_.size())});
  names_.push_back(std::make_shared<const CodeName>(std::move(name)));
  longestDynamic_ = std::max<uint64_t>(longestDynamic_, record.length);
  dynamicSorted_ = false;
}

const KernelCode::Dynamic* KernelCode::dynamicAt(uint64_t address, uint64_t time) {
  if (dynamic_.empty()) return nullptr;
  if (!dynamicSorted_)
    std::stable_sort(dynamic_.begin(), dynamic_.end(),
                     [](const Dynamic& a, const Dynamic& b) { return a.start < b.start; });
  dynamicSorted_ = true;
  auto it = std::upper_bound(dynamic_.begin(), dynamic_.end(), address,
                             [](uint64_t value, const Dynamic& item) { return value < item.start; });
  const Dynamic* best = nullptr;
  constexpr int kLooked = 4096;  // names that came and went at one address
  for (int i = 0; it != dynamic_.begin() && i < kLooked; ++i) {
    --it;
    if (address - it->start >= longestDynamic_) break;
    if (address >= it->end) continue;
    // Without a time the last one stands for the address.
    const bool alive = time == UINT64_MAX || (it->since <= time && time < it->until);
    if (alive && (best == nullptr || it->since > best->since)) best = &*it;
  }
  return best;
}

KernelCode::Area* KernelCode::areaAt(uint64_t address) const {
  if (!areasIndexed_) {
    // A module lies inside of the kernel's range where that reaches to the end of the address space. The
    // newer one of two is there.
    constexpr uint64_t kModulesFirst = uint64_t{1} << 32;
    std::vector<symbols::Interval> intervals;
    for (uint32_t i = 0; i < areas_.size(); ++i) {
      const Area& area = *areas_[i];
      const uint64_t first = area.kind == Area::Kind::module ? kModulesFirst : 0;
      intervals.push_back({area.start, area.end, first + i, i});
    }
    areaIndex_ = symbols::IntervalMap(std::move(intervals));
    areasIndexed_ = true;
  }
  const auto index = areaIndex_.find(address);
  return index ? areas_[*index].get() : nullptr;
}

void KernelCode::open(Area& area) {
  if (area.opened) return;
  area.opened = true;
  if (area.kind == Area::Kind::guest) {
    area.problem = "Code of a guest's kernel is not named: its files are not on this machine.";
    return;
  }
  const bool kernel = area.kind == Area::Kind::kernel;
  symbols::FoundBinary found = kernel ? binaries_.search().vmlinux(features_.osRelease, area.buildId)
                                      : binaries_.search().kernelModule(area.path, area.buildId);
  if (!found.image) {
    area.problem = found.detail;
  } else {
    const std::string file = found.image->path();
    area.module = symbols::Module::of(file, std::move(found), binaries_.search());
    area.problem = area.module->detail();
    if (kernel) {
      const auto at =
          area.reference.empty() ? std::nullopt : area.module->image()->addressOfSymbol(area.reference);
      if (at && area.referenceAddress != 0) area.moved = area.referenceAddress - *at;
      if (!area.moved)
        area.problem = "The recording does not say where its kernel was loaded, so " + area.module->file() +
                       " cannot be used; record as root or with kernel.kptr_restrict=0.";
      if (const auto section = area.module->image()->section(".data..percpu")) perCpu_.emplace(*section);
    }
    if (!kernel || area.moved) area.binary = binaries_.adopt(area.module, area.object);
  }
  if (!kallsyms_) {
    kallsyms_.emplace();
    if (kernel_ != nullptr) loadKallsyms(*kernel_);
  }
}

void KernelCode::loadKallsyms(const Area& kernel) {
  if (kernel.buildId.empty()) {
    kallsymsProblem_ = "The recording has no build id of its kernel, so no kallsyms can be matched to it.";
    return;
  }
  symbols::Kallsyms list(readWhole(binaries_.search().cachedKallsyms(kernel.buildId)));
  const bool cached = !list.empty();
  if (!cached) {
    if (!symbols::sameBuildId(kernel.buildId, symbols::kernelBuildId(running_.notes))) {
      kallsymsProblem_ = "This machine runs another kernel than the recorded one (build id " +
                         kernel.buildId + "), so its kallsyms are not used.";
      return;
    }
    list = symbols::Kallsyms(readWhole(running_.kallsyms));
    if (list.empty()) {
      kallsymsProblem_ = running_.kallsyms + (list.hidden() ? " hides its addresses; run as root or set "
                                                              "kernel.kptr_restrict=0."
                                                            : " is empty.");
      return;
    }
  }
  const auto at = list.addressOf(kernel.reference.empty() ? "_text" : kernel.reference);
  if (kernel.referenceAddress != 0 && !kernel.reference.empty() && at) {
    kallsymsMoved_ = kernel.referenceAddress - *at;
  } else if (!cached) {
    kallsymsProblem_ = "The recording does not say where its kernel was loaded, so kallsyms cannot be used.";
    return;
  }
  // perf copied it while it recorded; else the same place of the kernel speaks for the same boot.
  kallsymsModules_ = kallsymsMoved_ == 0;
  kallsyms_ = std::move(list);
}

std::optional<uint64_t> KernelCode::fileAddress(const Area& area, uint64_t address) const {
  if (!area.module || area.module->image() == nullptr) return std::nullopt;
  if (area.kind == Area::Kind::kernel)
    return area.moved ? std::optional(address - *area.moved) : std::nullopt;
  // A module's first memory is its .text; where its other sections were put, nobody recorded (nameByList).
  const auto text = area.module->image()->section(".text");
  if (!text || address - area.start >= text->size) return std::nullopt;
  return text->address + (address - area.start);
}

const symbols::KernelSymbol* KernelCode::listed(const Area& area, uint64_t address, bool code,
                                                uint64_t& offset) {
  if (!kallsyms_ || kallsyms_->empty()) return nullptr;
  const bool module = area.kind == Area::Kind::module;
  if (module && !kallsymsModules_) return nullptr;
  const symbols::KernelSymbol* symbol = kallsyms_->at(address - kallsymsMoved_);
  if (symbol == nullptr || symbol->code != code) return nullptr;
  const std::string owner =
      symbol->module.empty() ? kKernelName : moduleName("[" + std::string(symbol->module) + "]");
  if (owner != area.object) return nullptr;
  offset = address - kallsymsMoved_ - symbol->address;
  return symbol;
}

KernelPlace KernelCode::place(uint64_t address) {
  Area* area = areaAt(address);
  if (area == nullptr) return {};
  open(*area);
  const auto at = area->binary == kNone ? std::nullopt : fileAddress(*area, address);
  return at ? KernelPlace{area->binary, *at} : KernelPlace{};
}

CodeName KernelCode::makeCode(uint64_t address) {
  CodeName name;
  Area* area = areaAt(address);
  if (area == nullptr) {
    name.object = object(address);
    name.why = Unnamed::noKernel;
    return name;
  }
  open(*area);
  if (const auto at = fileAddress(*area, address)) {
    name = nameOf(*area->module, *at);
    name.elfAddress = *at;
  }
  name.object = area->object;
  if (!name.symbol.empty()) return name;
  uint64_t offset = 0;
  const symbols::KernelSymbol* symbol = listed(*area, address, true, offset);
  if (symbol != nullptr) name.symbol = symbol->name;
  name.why = symbol != nullptr                                    ? Unnamed::noDebugInfo
             : area->module || (kallsyms_ && !kallsyms_->empty()) ? Unnamed::noSymbolThere
                                                                  : Unnamed::noKernel;
  return name;
}

void KernelCode::onPerCpu(uint64_t variable, uint64_t address, std::optional<uint32_t> cpu) {
  if (perCpu_) perCpu_->learn(variable, address, cpu);
}

bool KernelCode::nameByFile(const Area& area, uint64_t elfAddress, KernelData& data) {
  const symbols::Symbol* symbol = area.module->image()->dataAt(elfAddress);
  const auto variable = area.module->variableAt(elfAddress);
  if (variable && !variable->file.empty()) data.definition = Place{variable->file, variable->line};
  if (symbol != nullptr) {
    data.symbol = symbols::demangle(symbol->name);
    data.offset = elfAddress - symbol->address;
  } else if (variable) {
    data.symbol = variable->name;
    data.offset = elfAddress - variable->address;
  } else {
    return false;
  }
  data.object = area.object;
  data.place = {area.binary, elfAddress};
  return true;
}

/// Of a module's variable the list knows the place, and the module's file the type.
bool KernelCode::nameByList(uint64_t listedAddress, bool ofModule, KernelData& data) {
  if (!kallsyms_ || kallsyms_->empty()) return false;
  constexpr uint64_t kLargest = 1 << 20;  // kallsyms has no sizes: farther away it is the heap, not a symbol
  const symbols::KernelSymbol* listed = kallsyms_->at(listedAddress);
  if (listed == nullptr || listed->code || (!listed->module.empty() && !kallsymsModules_)) return false;
  const uint64_t offset = listedAddress - listed->address;
  if (offset >= kLargest || (ofModule && listed->module.empty())) return false;
  data.symbol = listed->name;
  data.offset = offset;
  data.object = listed->module.empty() ? kKernelName : moduleName("[" + std::string(listed->module) + "]");
  for (const auto& area : areas_) {
    if (area->kind != Area::Kind::module || area->object != data.object) continue;
    open(*area);
    if (!area->module || area->module->image() == nullptr) continue;
    const symbols::Symbol* only = nullptr;
    int count = 0;
    for (const symbols::Symbol& symbol : area->module->image()->dataSymbols())
      if (symbol.name == listed->name) ++count, only = &symbol;
    if (count == 1 && offset < only->size) return nameByFile(*area, only->address + offset, data);
  }
  return true;
}

KernelData KernelCode::makeData(uint64_t address) {
  KernelData data;
  data.object = object(address);
  // The recorded ranges are those of code; the kernel's data lie behind it, a module's anywhere.
  Area* area = areaAt(address);
  if (area == nullptr) area = kernel_;
  if (area == nullptr) {
    data.why = Unnamed::noKernel;
    return data;
  }
  open(*area);
  const bool kernel = area->kind == Area::Kind::kernel;
  const auto copy = kernel && perCpu_ ? perCpu_->at(address) : std::nullopt;
  if (copy && copy->ofModule) {
    // From address 0 on they stay where they are; among the others (Linux 6.15) they move with the kernel.
    const uint64_t moved = perCpu_->movesWithKernel() ? area->moved.value_or(0) - kallsymsMoved_ : 0;
    nameByList(copy->elfAddress + moved, true, data);
  } else if (const auto at = kernel ? fileAddress(*area, address) : std::nullopt) {
    nameByFile(*area, copy ? copy->elfAddress : *at, data);
  }
  if (copy && !data.symbol.empty())
    data.copy = (copy->cpu ? "CPU " + std::to_string(*copy->cpu) : std::string("one CPU")) + "'s copy";
  if (data.symbol.empty() && !nameByList(address - kallsymsMoved_, false, data))
    data.why =
        area->module || (kallsyms_ && !kallsyms_->empty()) ? Unnamed::noSymbolThere : Unnamed::noKernel;
  return data;
}

SharedName KernelCode::code(uint64_t address, uint64_t time) {
  if (const Dynamic* dynamic = dynamicAt(address, time)) return names_[dynamic->name];
  const auto known = codeIndex_.find(address);
  if (known != codeIndex_.end()) return names_[known->second];
  codeIndex_[address] = static_cast<uint32_t>(names_.size());
  return names_.emplace_back(std::make_shared<const CodeName>(makeCode(address)));
}

const KernelData& KernelCode::data(uint64_t address) {
  const auto [it, added] = dataIndex_.try_emplace(address, static_cast<uint32_t>(dataNames_.size()));
  const uint32_t index = it->second;
  if (added) dataNames_.push_back(makeData(address));
  return dataNames_[index];
}

const std::string& KernelCode::object(uint64_t address) const {
  if (const Area* area = areaAt(address)) return area->object;
  return kernel_ != nullptr ? kUnknown : kKernelName;
}

std::vector<BinaryState> KernelCode::states() const {
  std::vector<BinaryState> states;
  for (const auto& area : areas_) {
    if (!area->opened) continue;
    const bool listed =
        kallsyms_ && !kallsyms_->empty() &&
        (area->kind == Area::Kind::kernel || (area->kind == Area::Kind::module && kallsymsModules_));
    BinaryState state{area->kind == Area::Kind::module ? area->path : area->object, area->buildId, {}, {}};
    const bool usable = area->module && (area->kind != Area::Kind::kernel || area->moved);
    state.status = symbols::moduleStatusName(usable   ? area->module->status()
                                             : listed ? symbols::ModuleStatus::noDebugInfo
                                                      : symbols::ModuleStatus::missing);
    state.detail = area->problem;
    if (!usable && listed) state.detail = "kallsyms names functions, but no source lines. " + area->problem;
    if (!usable && !listed && !kallsymsProblem_.empty()) state.detail += " " + kallsymsProblem_;
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace cacheline::analysis
