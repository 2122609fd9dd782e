// Names and source positions of accessing instructions.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/binaries.h"
#include "analysis/code_name.h"

namespace cacheline::analysis {

/// The name that `module` gives the code at `elfAddress`; `object` and `elfAddress` are left to the caller.
CodeName nameOf(symbols::Module& module, uint64_t elfAddress);

/// Looks every code address up once.
class CodeNames {
 public:
  explicit CodeNames(Binaries& binaries) : binaries_(binaries) {}
  SharedName of(const CodeLocation& location) { return at(location.binary, location.plan.codeAddress); }
  /// The code at an ELF address of a binary.
  SharedName at(uint32_t binary, uint64_t elfAddress);
  /// The code at a file offset of a binary, as a mapping gives it. `binary` kNone: code that no file backs.
  SharedName atOffset(uint32_t binary, uint64_t fileOffset);

  struct Place {
    uint32_t binary = 0;
    uint64_t elfAddress = 0;
    auto operator<=>(const Place&) const = default;
    size_t hash() const { return mix(elfAddress, binary); }
  };
  /// Many places, named by two threads at a time, each with modules of its own.
  class Batch {
   public:
    /// Before any work.
    void add(std::vector<Place> places);
    /// Names what nobody has taken until nothing is left: the highest addresses first, so that one who reads
    /// the same units from the lowest on reads others first.
    void work(const std::function<symbols::Module&(uint32_t binary)>& moduleOf);

   private:
    friend class CodeNames;
    std::vector<Place> places_;  ///< ascending
    std::vector<CodeName> names_;
    std::atomic<size_t> next_ = 0;
  };
  /// What was named.
  void take(Batch& batch);

 private:
  SharedName share(CodeName name, uint32_t binary, uint64_t elfAddress) const;
  Binaries& binaries_;
  HashMap<Place, SharedName> names_;
  HashMap<uint32_t, SharedName> outside_;  ///< by binary: code of it without an ELF address
};

}  // namespace cacheline::analysis
