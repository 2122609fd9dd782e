// Who called, found by call frame information in the recorded piece of the stack.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/binaries.h"
#include "base/registers.h"
#include "inference/frame_base.h"

namespace cacheline::analysis {

/// What the chain of frame pointers that the kernel followed is worth, by the code that was running.
enum class FrameChain : uint8_t {
  whole,           ///< the code keeps a frame pointer, or nothing is known of it
  lacksInnermost,  ///< the code leaves its caller's frame pointer alone: the chain begins one call further
                   ///< out
  broken,          ///< the code keeps something else in that register
};

class Unwinder {
 public:
  Unwinder(Binaries& binaries, BackingBinaries& backings) : binaries_(binaries), backings_(backings) {}

  /// Return addresses, innermost first, at most `most`. `stack`: memory from the stack pointer on. Ends early
  /// where the stack does, and at code without call frame information.
  void unwind(const AddressSpace& space, uint64_t ip, Registers registers, std::span<const uint8_t> stack,
              size_t most, std::vector<uint64_t>& addresses);
  FrameChain frameChainAt(const AddressSpace& space, uint64_t ip);

 private:
  struct Found {
    const inference::FrameRules* rules = nullptr;
    uint64_t loadBias = 0;
  };
  /// The rules of the code that `address` is in.
  Found find(const AddressSpace& space, uint64_t address);

  Binaries& binaries_;
  BackingBinaries& backings_;
  std::vector<std::unique_ptr<inference::CallFrames>> frames_;  ///< by binary
};

}  // namespace cacheline::analysis
