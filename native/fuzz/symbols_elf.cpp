// Any bytes as an ELF file: every question ElfImage and inspectBinary answer, and look-ups at every edge.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "fuzz/symbols_seeds.h"
#include "symbols/elf_image.h"
#include "symbols/inspect.h"

using namespace cacheline;
using namespace cacheline::symbols;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  compileSymbolSeeds(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const UniqueFd fd(::memfd_create("elf", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  inspectBinary(path);
  readBuildId(path);
  try {
    const auto image = ElfImage::open(path);
    for (const Segment& segment : image->segments())
      for (uint64_t address :
           {segment.address, segment.address + segment.fileSize, segment.address + segment.memorySize / 2}) {
        if (const Symbol* symbol = image->functionAt(address); symbol != nullptr && symbol->name.empty())
          std::abort();
        if (const Symbol* symbol = image->dataAt(address); symbol != nullptr && symbol->address > address)
          std::abort();
        const auto bytes = image->bytesAt(address, 256);
        if (bytes.size() > 256) std::abort();
        volatile uint8_t sum = 0;
        for (uint8_t byte : bytes) sum = static_cast<uint8_t>(sum + byte);
        (void)image->sectionAt(address);
        (void)image->addressOfFileOffset(address);
      }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unreadable) std::abort();  // the only failure foreign bytes may cause
  }
  return 0;
}
