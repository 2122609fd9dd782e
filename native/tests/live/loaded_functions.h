// Functions of this process's own binaries, from their ELF symbol tables.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace cacheline::decode {

struct LoadedFunction {
  std::string name;
  uint64_t address = 0, size = 0;  ///< in this process's memory
  std::span<const uint8_t> code() const { return {reinterpret_cast<const uint8_t*>(address), size}; }
};

class LoadedFunctions {
 public:
  LoadedFunctions();
  const LoadedFunction* find(uint64_t address) const;

 private:
  std::map<uint64_t, LoadedFunction> byAddress_;
};

}  // namespace cacheline::decode
