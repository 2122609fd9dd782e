// Reads .symtab, else .dynsym, of the program and its libraries. Trusted input: the test's own binaries.
#include "tests/live/loaded_functions.h"

#include <elf.h>
#include <link.h>

#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"

namespace cacheline::decode {
namespace {

void addFunctions(const std::string& path, uint64_t bias, std::map<uint64_t, LoadedFunction>& functions) {
  const MappedFile file = MappedFile::open(path);
  const uint8_t* data = file.bytes().data();
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(data);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(data + header->e_shoff);
  const Elf64_Shdr* table = nullptr;
  for (size_t i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && table == nullptr))
      table = &sections[i];
  }
  if (table == nullptr) return;
  const char* names = reinterpret_cast<const char*>(data + sections[table->sh_link].sh_offset);
  const std::span<const Elf64_Sym> symbols(reinterpret_cast<const Elf64_Sym*>(data + table->sh_offset),
                                           table->sh_size / sizeof(Elf64_Sym));
  for (const Elf64_Sym& symbol : symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || symbol.st_shndx == SHN_UNDEF)
      continue;
    const uint64_t address = symbol.st_value + bias;
    functions[address] = {names + symbol.st_name, address, symbol.st_size};
  }
}

}  // namespace

LoadedFunctions::LoadedFunctions() {
  const auto visit = [](dl_phdr_info* info, size_t, void* self) {
    const std::string_view name = info->dlpi_name;
    auto& functions = static_cast<LoadedFunctions*>(self)->byAddress_;
    if (name.empty()) addFunctions("/proc/self/exe", info->dlpi_addr, functions);
    if (name.find("/libc.") != std::string_view::npos || name.find("/libstdc++.") != std::string_view::npos) {
      addFunctions(std::string(name), info->dlpi_addr, functions);
    }
    return 0;
  };
  ::dl_iterate_phdr(visit, this);
}

const LoadedFunction* LoadedFunctions::find(uint64_t address) const {
  auto after = byAddress_.upper_bound(address);
  if (after == byAddress_.begin()) return nullptr;
  const LoadedFunction& function = std::prev(after)->second;
  return address - function.address < function.size ? &function : nullptr;
}

}  // namespace cacheline::decode
