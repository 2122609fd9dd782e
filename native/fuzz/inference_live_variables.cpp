// Any bytes as a binary with debug information: the variables and followed types at its instructions.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"
#include "fuzz/symbols_seeds.h"
#include "inference/live_variables.h"

using namespace cacheline;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  symbols::compileSymbolSeeds(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const UniqueFd fd(::memfd_create("elf", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto module = symbols::Module::open("/proc/self/fd/" + std::to_string(fd.get()), "");
  if (module->image() == nullptr) return 0;
  layouts::BinaryTypes types(*module);
  inference::LiveVariables live(*module, types);
  Registers registers;
  registers.mask = ~uint64_t{0};
  registers.value.fill(0x700000);
  for (const symbols::Segment& segment : module->image()->segments()) {
    if (!segment.executable) continue;
    for (uint64_t i = 0; i < std::min<uint64_t>(segment.fileSize, 256); i++) {
      const uint64_t at = segment.address + i;
      live.objectsAt(at, at + i % 4, 0, registers, 0x700000 + i % 64, 8);
      live.operandType(at);
    }
  }
  return 0;
}
