// Any bytes as a binary with debug information, through Module: frames and variables over its segments.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"
#include "fuzz/symbols_seeds.h"
#include "symbols/module.h"

using namespace cacheline;
using namespace cacheline::symbols;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  compileSymbolSeeds(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const UniqueFd fd(::memfd_create("elf", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto module = Module::open("/proc/self/fd/" + std::to_string(fd.get()), "");
  if (module->image() == nullptr) return 0;
  const auto askAlong = [&](uint64_t start, uint64_t length) {
    const uint64_t step = std::max<uint64_t>(1, length / 64);
    for (uint64_t i = 0, address = start; i < 64; i++, address += step) {
      module->framesAt(address);
      module->variableAt(address);
      module->image()->bytesAt(address, 16);
    }
  };
  for (const Segment& segment : module->image()->segments()) askAlong(segment.address, segment.memorySize);
  if (!module->image()->isRelocatable()) return 0;  // those have no segments yet
  for (const char* name : {".text", ".data", ".bss"})
    if (const auto section = module->image()->section(name)) askAlong(section->address, section->size);
  return 0;
}
