// The basic blocks of a function and the ways between them.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/steps.h"
#include "inference/function_scopes.h"
#include "symbols/elf_image.h"

namespace cacheline::inference {

struct ControlFlow {
  struct Block {
    size_t first = 0, last = 0;   ///< steps [first, last)
    std::vector<size_t> next;     ///< blocks that it leads to
    bool leadsSomewhere = false;  ///< it ends with a jump to places that are not known
  };
  /// Without an image, or where the function is too long, there are no steps.
  ControlFlow(const symbols::ElfImage* image, const FunctionScopes& function);

  /// The step at an address; steps.size() where none starts there.
  size_t stepAt(uint64_t address) const;
  size_t blockOf(size_t step) const;

  std::vector<decode::Step> steps;  ///< ascending addresses
  std::vector<Block> blocks;        ///< in the order of the steps
  bool tooLong = false;             ///< no steps, because there are too many
};

}  // namespace cacheline::inference
