// Copies of the kernel's per-CPU variables, one a CPU, at addresses that no record says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "symbols/elf_image.h"

namespace cacheline::analysis {

/// An instruction that names a variable of its own CPU (`incl %gs:variable`) and the address that it reached
/// say where that CPU's copies lie, those of all variables.
class PerCpuCopies {
 public:
  /// `section`: where vmlinux has the variables (".data..percpu"); from address 0 on before Linux 6.15.
  explicit PerCpuCopies(symbols::Section section) : section_(section) {}

  /// Code that names the place `variable` of vmlinux reached `address`. `cpu`: that it ran on; nullopt:
  /// unknown.
  void learn(uint64_t variable, uint64_t address, std::optional<uint32_t> cpu);

  struct Found {
    uint64_t elfAddress = 0;
    bool ofModule = false;        ///< a variable of a module: then behind the section
    std::optional<uint32_t> cpu;  ///< whose copy it is
  };
  /// Whether symbols of them do, too.
  bool movesWithKernel() const { return section_.address != 0; }
  /// nullopt outside of the copies that are known.
  std::optional<Found> at(uint64_t address) const;

 private:
  symbols::Section section_;
  std::map<uint64_t, std::optional<uint32_t>> starts_;  ///< of copies of the whole section
};

}  // namespace cacheline::analysis
