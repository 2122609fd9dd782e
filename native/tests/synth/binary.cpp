// The program that the samples pretend to come from: where its code and its static data lie.
#include "binary.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/mapped_file.h"
#include "decode/instruction.h"
#include "symbols/elf_file.h"

namespace cacheline::synth {
namespace {

/// Start and size of every function in .symtab, ascending.
std::vector<std::pair<uint64_t, uint64_t>> functionsOf(const symbols::ElfFile& elf) {
  std::set<std::pair<uint64_t, uint64_t>> functions;
  const symbols::ElfSection* table = elf.section(".symtab");
  const symbols::ElfSection* text = elf.section(".text");
  if (table == nullptr || text == nullptr) return {};
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->bytes.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::copy_n(table->bytes.data() + at, sizeof symbol, reinterpret_cast<uint8_t*>(&symbol));
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 && text->contains(symbol.st_value))
      functions.emplace(symbol.st_value, symbol.st_size);
  }
  return {functions.begin(), functions.end()};
}

/// `count` of `all`, evenly spaced.
std::vector<uint64_t> choose(const std::vector<uint64_t>& all, uint64_t count, const std::string& what) {
  if (all.size() < count) {
    throw Error(ErrorKind::usage, what + " has " + std::to_string(all.size()) + " of the " +
                                      std::to_string(count) + " instructions that --codes asks for");
  }
  std::vector<uint64_t> chosen;
  for (uint64_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

}  // namespace

Binary readBinary(const std::string& path, uint64_t codes) {
  Binary binary;
  const uint64_t storeCodes = std::max<uint64_t>(1, codes / 4), loadCodes = codes - storeCodes;
  if (path.empty()) {
    binary.path = "/opt/synthetic/worker";
    for (uint64_t i = 0; i < codes; ++i)
      (i < loadCodes ? binary.loads : binary.stores).push_back(0x401000 + 8 * i);
    binary.parts = {{0x401000, (codes * 8 / kPage + 1) * kPage, 0x1000, PROT_READ | PROT_EXEC}};
    return binary;
  }

  binary.path = path;
  const MappedFile file = MappedFile::open(path);
  const symbols::ElfFile elf = symbols::ElfFile::parse(file.bytes(), path);
  binary.buildId = elf.buildId();
  for (const Elf64_Phdr& header : elf.programHeaders) {
    if (header.p_type != PT_LOAD || header.p_filesz == 0) continue;
    const uint64_t start = header.p_vaddr & ~(kPage - 1);
    const uint64_t end = (header.p_vaddr + header.p_filesz + kPage - 1) & ~(kPage - 1);
    const uint32_t protection = ((header.p_flags & PF_R) != 0 ? PROT_READ : 0u) |
                                ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0u) |
                                ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0u);
    binary.parts.push_back({start, end - start, header.p_offset & ~(kPage - 1), protection});
  }
  if (const symbols::ElfSection* data = elf.section(".data")) {
    binary.dataAddress = (data->header.sh_addr + kLine - 1) & ~(kLine - 1);
    const uint64_t end = data->header.sh_addr + data->header.sh_size;
    if (end > binary.dataAddress) binary.dataLines = (end - binary.dataAddress) / kLine;
  }

  std::vector<uint64_t> loads, stores;
  for (const auto& [start, size] : functionsOf(elf)) {
    const auto code = elf.loadedBytes(start, size);
    for (size_t at = 0; at < std::min<uint64_t>(size, code.size());) {
      decode::Instruction instruction;
      if (!decode::decodeInstruction(code.subspan(at), start + at, instruction)) break;
      const bool known = instruction.accesses && instruction.failure == decode::Failure::none;
      if (known && instruction.operand.kind == decode::AccessKind::read) loads.push_back(start + at);
      if (known && instruction.operand.kind != decode::AccessKind::read) stores.push_back(start + at);
      at += instruction.length;
    }
  }
  binary.loads = choose(loads, loadCodes, path);
  binary.stores = choose(stores, storeCodes, path);
  return binary;
}

}  // namespace cacheline::synth
