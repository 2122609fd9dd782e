// The mapping of the kernel's own code, which the kernel does not report itself.
#include <linux/perf_event.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "record/machine.h"

namespace cacheline::record {
namespace {

struct Range {
  uint64_t start = 0, end = 0;
};

/// _text and _etext of /proc/kallsyms; zeros where kernel.kptr_restrict hides them.
Range kernelText() {
  Range text;
  const auto closeFile = [](FILE* file) { std::fclose(file); };
  const std::unique_ptr<FILE, decltype(closeFile)> file(std::fopen("/proc/kallsyms", "re"), closeFile);
  char line[512];
  while (file && text.end == 0 && std::fgets(line, sizeof line, file.get()) != nullptr) {
    const char* name = std::strrchr(line, ' ');
    if (name == nullptr || name[1] != '_') continue;
    uint64_t address = 0;
    if (std::sscanf(line, "%" SCNx64, &address) != 1) continue;
    if (std::strcmp(name, " _text\n") == 0) text.start = address;
    if (std::strcmp(name, " _etext\n") == 0) text.end = address;
  }
  return text;
}

}  // namespace

std::vector<uint8_t> kernelMmapRecord(size_t trailerBytes) {
  const Range text = kernelText();
  if (text.start == 0 || text.end <= text.start) return {};
  // The name and the page offset are the ones perf's readers expect of the kernel's map: "[kernel.kallsyms]"
  // and the symbol that page offset is the address of.
  static constexpr char kName[] = "[kernel.kallsyms]_text";
  struct Body {
    perf_event_header header;
    uint32_t pid, tid;
    uint64_t address, length, pageOffset;
    char name[(sizeof kName + 7) & ~size_t{7}];
  } body{};
  body.header.type = PERF_RECORD_MMAP;
  body.header.misc = PERF_RECORD_MISC_KERNEL;
  body.header.size = static_cast<uint16_t>(sizeof body + trailerBytes);
  body.pid = UINT32_MAX;
  body.address = body.pageOffset = text.start;
  body.length = text.end - text.start;
  std::memcpy(body.name, kName, sizeof kName);
  std::vector<uint8_t> record(sizeof body + trailerBytes);
  std::memcpy(record.data(), &body, sizeof body);
  return record;
}

}  // namespace cacheline::record
