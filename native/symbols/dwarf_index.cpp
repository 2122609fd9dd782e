// Owns the libdw handle and puts lines, inlines, names and variables together.
#include "symbols/dwarf_index.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <libelf.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_map>

#include "base/error.h"
#include "base/unique_fd.h"
#include "symbols/die.h"
#include "symbols/dwarf_names.h"
#include "symbols/dwarf_units.h"
#include "symbols/inflate.h"
#include "symbols/joined_sections.h"
#include "symbols/raw_sections.h"
#include "symbols/relocation.h"
#include "symbols/split_files.h"
#include "symbols/variables.h"

namespace cacheline::symbols {
namespace {

/// A file as libdw has it open.
struct Opened {
  UniqueFd fd;
  InflatedSections inflated;
  ElfHandle elf;
  DwarfHandle dwarf;
};

/// `relocatable`: the parsed file, where it is one; else null.
Opened openFile(const std::string& path, const ElfFile* relocatable = nullptr) {
  Opened opened;
  elf_version(EV_CURRENT);
  opened.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.fd) throw Error(ErrorKind::unreadable, describeErrno("cannot open " + path, errno));
  opened.elf.reset(elf_begin(opened.fd.get(),
                             relocatable != nullptr ? ELF_C_READ_MMAP_PRIVATE : ELF_C_READ_MMAP, nullptr));
  if (!opened.elf)
    throw Error(ErrorKind::unreadable, "cannot read " + path + " as ELF: " + elf_errmsg(elf_errno()));
  opened.inflated = inflateZstd(opened.elf.get());
  if (relocatable != nullptr) {
    relocateDebugInfo(opened.elf.get(), *relocatable);
    if (JoinedSections joined = joinSections(opened.elf.get()); joined.needed) {
      opened.elf.reset(joined.file ? elf_begin(joined.file.get(), ELF_C_READ_MMAP_PRIVATE, nullptr)
                                   : nullptr);
      opened.fd = std::move(joined.file);
    }
    if (!opened.elf)
      throw Error(ErrorKind::unreadable, "cannot join the sections of the debug information of " + path +
                                             ": they are damaged or too large");
  }
  opened.dwarf.reset(dwarf_begin_elf(opened.elf.get(), DWARF_C_READ, nullptr));
  const char* reason = opened.dwarf ? nullptr : dwarf_errmsg(dwarf_errno());
  // libdw leaves a section out that it cannot inflate.
  const std::string compression = compressionProblem(opened.elf.get());
  if (!compression.empty() || reason != nullptr)
    throw Error(ErrorKind::unreadable, "cannot read the debug information of " + path + ": " +
                                           (compression.empty() ? reason : compression));
  return opened;
}

/// Sections of the process image with or without code. The linker leaves what it dropped outside of them, at
/// 0.
IntervalMap mappedSections(const ElfFile& file, bool code) {
  std::vector<Interval> intervals;
  for (uint32_t id = 0; id < file.sections.size(); id++) {
    const Elf64_Shdr& header = file.sections[id].header;
    if (!file.sections[id].isMapped() || ((header.sh_flags & SHF_EXECINSTR) != 0) != code) continue;
    const uint64_t size = std::min(header.sh_size, UINT64_MAX - header.sh_addr);
    intervals.push_back({header.sh_addr, header.sh_addr + size, 0, id});
  }
  return IntervalMap(std::move(intervals));
}

/// Where libdw looks for what .gnu_debugaltlink of a file names, besides the system's folder of build ids.
std::string supplementPath(const std::string& binary, const char* name) {
  std::error_code error;
  return std::filesystem::canonical(binary, error).parent_path() / name;
}

/// What .debug_sup of DWARF 5 (7.3.6) names, unless the file is the supplement itself: version, whether it
/// is, name.
MissingSupplement namedByDebugSup(Elf* elf) {
  const Bytes bytes = plainSection(elf, ".debug_sup");
  constexpr size_t kName = 3;
  if (bytes.size() <= kName || bytes[2] != 0) return {};
  const auto* name = reinterpret_cast<const char*>(bytes.data() + kName);
  return {std::string(name, strnlen(name, bytes.size() - kName)),
          "is named by .debug_sup: that section is not read", "Run dwz without --dwarf-5."};
}

/// The supplement where libdw finds none. Throws where it finds that of another build, and where libdw must
/// not look. `given`: it has the file already.
MissingSupplement missingSupplementOf(Dwarf* dwarf, const std::string& binary, bool given) {
  const char* name = nullptr;
  const void *wanted = nullptr, *there = nullptr;
  const ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &wanted);
  if (size <= 0) return namedByDebugSup(dwarf_getelf(dwarf));
  const std::string path = supplementPath(binary, name);
  if (!given && mayBlock(path))
    throw Error(ErrorKind::unreadable,
                "it continues in " + std::string(name) + ", which is not a regular file");
  Dwarf* supplement = dwarf_getalt(dwarf);
  if (supplement == nullptr) {
    std::string detail;
    const std::string why = whyText(whyUnreadable(path, detail), false);
    return {name, why + (detail.empty() ? "" : " (" + detail + ")"),
            "Install the package that has it, or put the file that dwz wrote there."};
  }
  if (dwelf_elf_gnu_build_id(dwarf_getelf(supplement), &there) != size ||
      std::memcmp(wanted, there, static_cast<size_t>(size)) != 0)
    throw Error(ErrorKind::unreadable,
                "it continues in " + std::string(name) + ", and the file there belongs to another build");
  return {};
}

/// Where a variable was defined; what the definition leaves out is at its declaration.
void fillDeclaration(Dwarf_Die die, Units& units, Variable& variable) {
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    if (variable.line == 0) {
      const auto line = unsignedAttribute(die, DW_AT_decl_line);
      if (line && *line <= UINT32_MAX) variable.line = static_cast<uint32_t>(*line);
    }
    if (variable.file.empty())
      if (const auto number = unsignedAttribute(die, DW_AT_decl_file))
        if (Unit* unit = units.of(die)) variable.file = unit->files().name(*number);
    const auto next = completion(die);
    if (!next || (variable.line != 0 && !variable.file.empty())) break;
    die = *next;
  }
}

}  // namespace

struct DwarfIndex::Impl {
  const ElfImage& image;
  Opened supplement, opened;  // the second one refers to the first
  IntervalMap code, data;
  ElfFormat format;
  MissingSupplement missingSupplement;
  std::shared_ptr<InlineTrees> trees;
  std::optional<SplitUnits> splits;  // of `opened`
  std::optional<Units> units;
  std::optional<Names> names;
  std::optional<VariableIndex> variables;
  std::unordered_map<const StaticVariable*, Variable> described;

  explicit Impl(const ElfImage& symbols) : image(symbols) {}
  Units& ensureUnits() {
    if (!units) {
      units.emplace(opened.dwarf.get(), code, *trees, *splits);
      names.emplace(*units);
    }
    return *units;
  }
  VariableIndex& ensureVariables() {
    Units& read = ensureUnits();
    if (!variables) variables.emplace(read, data, format, image, *names);
    return *variables;
  }
};

DwarfIndex::DwarfIndex(const std::string& path, const ElfFile& file, const std::string& supplement,
                       std::shared_ptr<InlineTrees> trees, const ElfImage& image)
    : impl_(std::make_unique<Impl>(image)) {
  impl_->trees = std::move(trees);
  impl_->opened = openFile(path, file.isRelocatable() ? &file : nullptr);
  impl_->splits.emplace(impl_->opened.dwarf.get(), path);
  if (!supplement.empty()) {
    impl_->supplement = openFile(supplement);
    dwarf_setalt(impl_->opened.dwarf.get(), impl_->supplement.dwarf.get());
  }
  impl_->code = mappedSections(file, true);
  impl_->data = mappedSections(file, false);
  impl_->format = file.format;
  impl_->missingSupplement = missingSupplementOf(impl_->opened.dwarf.get(), path, !supplement.empty());
}

DwarfIndex::~DwarfIndex() = default;

const MissingSupplement& DwarfIndex::missingSupplement() const {
  return impl_->missingSupplement;
}

std::vector<SourceFrame> DwarfIndex::framesAt(uint64_t address) {
  Unit* unit = impl_->ensureUnits().at(address);
  if (unit == nullptr) return {};
  const LinePosition position = unit->lines().find(address);
  SourceFrame frame{
      {}, position.file != nullptr ? *position.file : std::string(), position.line, position.column};
  std::vector<SourceFrame> frames;
  auto id = unit->functions().find(address);
  if (!id) {
    if (position.file != nullptr) frames.push_back(std::move(frame));
    return frames;
  }
  for (uint32_t at = *id; at != FunctionNode::kNone;) {
    const FunctionNode& node = unit->functions().node(at);
    frame.function = impl_->names->of(unit->dieAt(node.origin != 0 ? node.origin : node.die));
    if (node.parent != FunctionNode::kNone) frame.codeSize = node.codeSize;
    frames.push_back(std::move(frame));
    frame = {{},
             node.callFile != 0 || node.callLine != 0 ? unit->files().name(node.callFile) : std::string(),
             node.callLine,
             node.callColumn};
    at = node.parent;
  }
  return frames;
}

Dwarf* DwarfIndex::handle() {
  return impl_->opened.dwarf.get();
}

Units& DwarfIndex::units() {
  return impl_->ensureUnits();
}

SplitUnits& DwarfIndex::splitUnits() {
  return *impl_->splits;
}

Names& DwarfIndex::names() {
  impl_->ensureUnits();
  return *impl_->names;
}

const ScopeTree* DwarfIndex::knownScopes(const Dwarf_Die& die) const {
  const Unit* unit = impl_->units ? impl_->units->known(die) : nullptr;
  return unit != nullptr ? unit->knownScopes(die) : nullptr;
}

const StaticVariable* DwarfIndex::staticVariableAt(uint64_t address) {
  return impl_->ensureVariables().at(address);
}

const StaticVariable* DwarfIndex::threadLocalAt(uint64_t offset) {
  return impl_->ensureVariables().threadLocalAt(offset);
}

const StaticVariable* DwarfIndex::threadLocalNamed(const std::string& name) {
  return impl_->ensureVariables().threadLocalNamed(name, *impl_->names);
}

std::optional<Variable> DwarfIndex::variableAt(uint64_t address) {
  const StaticVariable* found = staticVariableAt(address);
  if (found == nullptr) return std::nullopt;
  Units& units = impl_->ensureUnits();
  const auto [known, isNew] = impl_->described.try_emplace(found);
  if (isNew) {
    Variable& variable = known->second;
    variable.address = found->address;
    variable.size = found->size;
    variable.name = impl_->names->of(found->die);
    fillDeclaration(found->die, units, variable);
  }
  return known->second;
}

}  // namespace cacheline::symbols
