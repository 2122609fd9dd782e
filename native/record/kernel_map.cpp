// The mappings of the kernel's own code and of its modules', which the kernel does not report itself.
#include "record/kernel_map.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "symbols/elf_file.h"

namespace cacheline::record {
namespace {

struct Range {
  uint64_t start = 0, end = 0;
};

/// _text and _etext of /proc/kallsyms; zeros where kernel.kptr_restrict hides them.
Range kernelText(const std::string& kallsyms) {
  Range text;
  std::ifstream file(kallsyms);
  for (std::string line; text.end == 0 && std::getline(file, line);) {
    const size_t name = line.rfind(' ');
    uint64_t address = 0;
    if (name == std::string::npos || std::sscanf(line.c_str(), "%" SCNx64, &address) != 1) continue;
    if (line.compare(name, std::string::npos, " _text") == 0) text.start = address;
    if (line.compare(name, std::string::npos, " _etext") == 0) text.end = address;
  }
  return text;
}

/// PERF_RECORD_MMAP of kernel code. A page offset names an address where the name is that of a symbol.
void appendMmap(std::vector<uint8_t>& records, Range code, uint64_t pageOffset, const std::string& name,
                size_t trailerBytes) {
  struct Body {
    perf_event_header header;
    uint32_t pid, tid;
    uint64_t address, length, pageOffset;
  } body{};
  const size_t nameBytes = (name.size() + 1 + 7) & ~size_t{7};
  body.header.type = PERF_RECORD_MMAP;
  body.header.misc = PERF_RECORD_MISC_KERNEL;
  body.header.size = static_cast<uint16_t>(sizeof body + nameBytes + trailerBytes);
  body.pid = UINT32_MAX;
  body.address = code.start;
  body.length = code.end - code.start;
  body.pageOffset = pageOffset;
  const size_t at = records.size();
  records.resize(at + body.header.size);
  std::memcpy(records.data() + at, &body, sizeof body);
  std::memcpy(records.data() + at + sizeof body, name.data(), name.size());
}

/// Files of modules by the kernel's names of them, which have '_' for '-'.
std::map<std::string, std::string> moduleFiles(const std::string& root, const std::string& release) {
  std::map<std::string, std::string> files;
  const std::string folder = "/lib/modules/" + release + "/";
  std::ifstream list(root + folder + "modules.dep");  // "kernel/fs/ext4/ext4.ko: what it needs"
  for (std::string line; std::getline(list, line);) {
    const std::string path = line.substr(0, line.find(':'));
    std::string name = path.substr(path.rfind('/') + 1);
    name.resize(std::min(name.find(".ko"), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    files.emplace(name, folder + path);
  }
  return files;
}

std::string buildIdOf(const std::string& root, const std::string& module) {
  std::ifstream in(root + "/sys/module/" + module + "/notes/.note.gnu.build-id", std::ios::binary);
  const std::vector<char> notes{std::istreambuf_iterator<char>(in), {}};
  return symbols::buildIdOfNotes({reinterpret_cast<const uint8_t*>(notes.data()), notes.size()});
}

}  // namespace

KernelMap kernelMap(size_t trailerBytes, const std::string& release, const std::string& root) {
  KernelMap map;
  const Range text = kernelText(root + "/proc/kallsyms");
  if (text.start == 0 || text.end <= text.start) return map;
  // The name and the page offset are the ones perf's readers expect of the kernel's map: "[kernel.kallsyms]"
  // and the symbol that page offset is the address of.
  appendMmap(map.records, text, text.start, "[kernel.kallsyms]_text", trailerBytes);
  const std::map<std::string, std::string> files = moduleFiles(root, release);
  std::ifstream modules(root + "/proc/modules");  // "ext4 991232 1 - Live 0xffffffffc06c4000 (E)"
  for (std::string line; std::getline(modules, line);) {
    std::istringstream words(line);
    std::string name, uses, users, state, place;
    uint64_t size = 0;
    if (!(words >> name >> size >> uses >> users >> state >> place) || name.find('/') != std::string::npos)
      continue;
    const uint64_t start = std::strtoull(place.c_str(), nullptr, 16);
    if (start == 0 || size == 0 || size > UINT64_MAX - start) continue;
    // As perf calls those that are not in the kernel's folder.
    const auto file = files.find(name);
    const std::string shown = file == files.end() ? "[" + name + "]" : file->second;
    if (shown.size() > 4096) continue;  // longer than any path
    appendMmap(map.records, {start, start + size}, 0, shown, trailerBytes);
    if (const std::string id = buildIdOf(root, name); !id.empty())
      map.buildIds.push_back({-1, id, shown, true});
  }
  return map;
}

}  // namespace cacheline::record
