// Call frame information through libdw, each rule read once.
#include "types/frame_base.h"

#include <dwarf.h>
#include <fcntl.h>
#include <libelf.h>

#include <cstdlib>

#include "base/unique_fd.h"
#include "symbols/die.h"
#include "symbols/dwarf_index.h"

namespace cacheline::types {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct CfiEnd {
  void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
};
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
  std::unique_ptr<Elf, ElfEnd> elf;
  std::unique_ptr<Dwarf_CFI, CfiEnd> ehFrame;
  std::map<uint64_t, Rule> rules;  // by the first address that was asked for

  const Rule* read(Dwarf_CFI* cfi, uint64_t address);
};

CallFrames::CallFrames(symbols::Module& module) : impl_(std::make_unique<Impl>()) {
  if (module.dwarf() == nullptr) return;
  Dwarf* dwarf = module.dwarf()->handle();
  impl_->debugFrame = dwarf_getcfi(dwarf);
  impl_->ehFrame.reset(dwarf_getcfi_elf(dwarf_getelf(dwarf)));
  if (impl_->ehFrame || module.debugFile().empty()) return;
  // A separate debug file has no bytes for .eh_frame: they stayed in the binary.
  impl_->binary = UniqueFd(::open(module.file().c_str(), O_RDONLY | O_CLOEXEC));
  if (!impl_->binary) return;
  impl_->elf.reset(elf_begin(impl_->binary.get(), ELF_C_READ_MMAP, nullptr));
  if (impl_->elf) impl_->ehFrame.reset(dwarf_getcfi_elf(impl_->elf.get()));
}

CallFrames::~CallFrames() = default;

const CallFrames::Impl::Rule* CallFrames::Impl::read(Dwarf_CFI* cfi, uint64_t address) {
  Dwarf_Frame* found = nullptr;
  if (cfi == nullptr || dwarf_cfi_addrframe(cfi, address, &found) != 0) return nullptr;
  const std::unique_ptr<Dwarf_Frame, FrameFree> frame(found);
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

}  // namespace cacheline::types
