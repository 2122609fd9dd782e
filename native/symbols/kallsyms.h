// The kernel's symbols as /proc/kallsyms lists them, and as perf keeps copies of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cacheline::symbols {

struct KernelSymbol {
  uint64_t address = 0;
  std::string_view name;
  std::string_view module;  ///< without brackets; empty: the kernel itself
  bool code = false;        ///< types t, T, w, W; others are data
};

/// Symbols have no sizes there: each reaches to the next one of any kind and module.
class Kallsyms {
 public:
  Kallsyms() = default;
  /// Lines "ffffffff81000000 T _text" or "ffffffffc0001000 t ext4_init\t[ext4]"; others are left out.
  explicit Kallsyms(std::string text);
  Kallsyms(Kallsyms&&) = default;
  Kallsyms& operator=(Kallsyms&&) = default;

  /// No symbol, or all at 0: kernel.kptr_restrict hides them from whoever reads the file.
  bool empty() const { return symbols_.empty(); }
  bool hidden() const { return hidden_; }
  /// The symbol an address falls behind; null before the first. Where several have one address: global before
  /// local and weak, then the one with fewer leading underscores, then the longer name.
  const KernelSymbol* at(uint64_t address) const;
  /// Of the kernel itself, not of a module.
  std::optional<uint64_t> addressOf(std::string_view name) const;

 private:
  std::vector<char> text_;  ///< what the views point into: a vector keeps its place when it is moved
  std::vector<KernelSymbol> symbols_;     ///< ascending and distinct addresses
  std::vector<KernelSymbol> references_;  ///< _text and _stext, which may be an alias
  bool hidden_ = false;
};

/// The build id in the notes of the running kernel (/sys/kernel/notes), hex; empty where there is none.
std::string kernelBuildId(const std::string& notesPath);

}  // namespace cacheline::symbols
