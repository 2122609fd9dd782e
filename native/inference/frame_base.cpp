// Call frame information through libdw, each rule read once.
#include "inference/frame_base.h"

#include <dwarf.h>
#include <fcntl.h>
#include <libelf.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "base/unique_fd.h"
#include "inference/location_reader.h"
#include "symbols/die.h"
#include "symbols/dwarf_index.h"
#include "symbols/raw_sections.h"

namespace cacheline::inference {
namespace {

struct FrameFree {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

}  // namespace

struct CallFrames::Impl {
  struct Rule {
    uint64_t high = 0;
    Expression cfa;
  };
  Dwarf_CFI* debugFrame = nullptr;  // libdw's own
  UniqueFd binary;
  symbols::ElfHandle elf;
  symbols::FrameHandle ehFrame;
  std::map<uint64_t, Rule> rules;  // by the first address that was asked for
  std::map<uint64_t, std::optional<FrameRules>> all;

  const Rule* read(Dwarf_CFI* cfi, uint64_t address);
  std::optional<FrameRules> readAll(Dwarf_CFI* cfi, uint64_t address) const;
};

CallFrames::CallFrames(symbols::Module& module) : impl_(std::make_unique<Impl>()) {
  if (module.dwarf() != nullptr) {
    Dwarf* dwarf = module.dwarf()->handle();
    impl_->debugFrame = dwarf_getcfi(dwarf);
    impl_->ehFrame.reset(dwarf_getcfi_elf(dwarf_getelf(dwarf)));
    // A separate debug file has no bytes for .eh_frame: they stayed in the binary.
    if (impl_->ehFrame || module.debugFile().empty()) return;
  }
  impl_->binary = UniqueFd(::open(module.file().c_str(), O_RDONLY | O_CLOEXEC));
  if (!impl_->binary) return;
  elf_version(EV_CURRENT);  // else elf_begin() refuses
  impl_->elf.reset(elf_begin(impl_->binary.get(), ELF_C_READ_MMAP, nullptr));
  if (impl_->elf) impl_->ehFrame.reset(dwarf_getcfi_elf(impl_->elf.get()));
}

CallFrames::~CallFrames() = default;

namespace {

std::unique_ptr<Dwarf_Frame, FrameFree> frameAt(Dwarf_CFI* cfi, uint64_t address) {
  Dwarf_Frame* found = nullptr;
  if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address, &found) != 0) return nullptr;
  return std::unique_ptr<Dwarf_Frame, FrameFree>(found);
}

/// `number`: DWARF's of the register.
FrameRules::Rule ruleOf(Dwarf_Frame* frame, int number, uint64_t address) {
  Dwarf_Op own[3];
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, own, &operations, &count) != 0)
    return {FrameRules::Rule::Kind::undefined, {}};
  if (count == 0)
    return {operations == nullptr ? FrameRules::Rule::Kind::same : FrameRules::Rule::Kind::undefined, {}};
  return {FrameRules::Rule::Kind::place, compileExpression(nullptr, operations, count, address)};
}

}  // namespace

const CallFrames::Impl::Rule* CallFrames::Impl::read(Dwarf_CFI* cfi, uint64_t address) {
  const auto frame = frameAt(cfi, address);
  if (!frame) return nullptr;
  Dwarf_Addr low = 0, high = 0;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_info(frame.get(), &low, &high, nullptr) < 0 ||
      dwarf_frame_cfa(frame.get(), &operations, &count) != 0 || address < low || address >= high)
    return nullptr;
  // libdw's `low` is too low behind an epilogue in the middle of a function: restoring the remembered state
  // brings the place back where it was remembered (elfutils 0.188). So a rule holds from where it was asked.
  // Its operations are copied: those of a plain rule are in the frame itself.
  return &rules.insert_or_assign(address, Rule{high, compileExpression(nullptr, operations, count, address)})
              .first->second;
}

const Expression* CallFrames::cfaAt(uint64_t address) {
  const auto after = impl_->rules.upper_bound(address);
  if (after != impl_->rules.begin()) {
    const auto& rule = std::prev(after)->second;
    if (address < rule.high) return &rule.cfa;
  }
  const Impl::Rule* rule = impl_->read(impl_->debugFrame, address);
  if (rule == nullptr) rule = impl_->read(impl_->ehFrame.get(), address);
  return rule != nullptr ? &rule->cfa : nullptr;
}

std::optional<FrameRules> CallFrames::Impl::readAll(Dwarf_CFI* cfi, uint64_t address) const {
  constexpr std::array<int, FrameRules::kPreserved.size()> kNumbers = {3, 6, 12, 13, 14, 15};
  const auto frame = frameAt(cfi, address);
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (!frame || dwarf_frame_cfa(frame.get(), &operations, &count) != 0) return std::nullopt;
  FrameRules found;
  found.cfa = compileExpression(nullptr, operations, count, address);
  const int returnAddress = dwarf_frame_info(frame.get(), nullptr, nullptr, nullptr);
  if (returnAddress < 0) return std::nullopt;
  found.returnAddress = ruleOf(frame.get(), returnAddress, address);
  for (size_t i = 0; i < kNumbers.size(); ++i) found.preserved[i] = ruleOf(frame.get(), kNumbers[i], address);
  return found;
}

const FrameRules* CallFrames::rulesAt(uint64_t address) {
  const auto [known, isNew] = impl_->all.try_emplace(address);
  if (isNew) {
    known->second = impl_->readAll(impl_->debugFrame, address);
    if (!known->second) known->second = impl_->readAll(impl_->ehFrame.get(), address);
  }
  return known->second ? &*known->second : nullptr;
}

Expression frameBaseOf(Dwarf_Die function, uint64_t address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  for (int hop = 0; hop < symbols::kLongestReferenceChain; hop++) {
    if (dwarf_attr(&function, DW_AT_frame_base, &attribute) != nullptr) {
      acceptPlainBlock(attribute);
      if (dwarf_getlocation_addr(&attribute, address, &operations, &count, 1) != 1) return {};
      return compileExpression(&attribute, operations, count, address);
    }
    const auto next = symbols::completion(function);
    if (!next) break;
    function = *next;
  }
  return {};
}

}  // namespace cacheline::inference
