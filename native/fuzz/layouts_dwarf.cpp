// Any bytes as a binary with types: the index, every layout, fields at many places, an index from disk.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"
#include "fuzz/layouts_seeds.h"
#include "layouts/binary_types.h"
#include "layouts/layout.h"
#include "layouts/type_index_cache.h"
#include "symbols/dwarf_index.h"
#include "symbols/module.h"
#include "types/field_path.h"

using namespace cacheline;
using namespace cacheline::layouts;
using namespace cacheline::types;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");  // nothing is kept
  compileTypeSeeds(*argc, *argv);
  return 0;
}

namespace {

void askAll(symbols::Module& module) {
  BinaryTypes types(module);
  const std::vector<TypeId> all = types.all();
  for (size_t i = 0; i < std::min<size_t>(all.size(), 64); i++) {
    for (const bool expand : {false, true}) layoutOf(types.table(), all[i], {64, expand});
    const uint64_t size = types.table().sizeOf(all[i]).value_or(0);
    for (uint64_t at = 0; at < std::min<uint64_t>(size, 256); at += 3) fieldsAt(types.table(), all[i], at, 8);
    fieldsAt(types.table(), all[i], size, 1);
    types.named(types.table().nameOf(all[i]));
  }
  types.declaredIn("seed.cpp");
  types.isDeclared("Opaque");
  for (const char* name : {"Opaque", "int", "size_t", "string"}) types.plainNamed(name);
  for (const symbols::Segment& segment : module.image()->segments())
    for (uint64_t i = 0; i < 16; i++) types.variableAt(segment.address + segment.memorySize / 16 * i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // An ELF file begins otherwise.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("I")) {
    readTypeIndex(bytes.substr(1), 0);
    return 0;
  }
  const UniqueFd fd(::memfd_create("elf", MFD_CLOEXEC));
  if (!fd || ::write(fd.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto module = symbols::Module::open("/proc/self/fd/" + std::to_string(fd.get()), "");
  if (module->image() != nullptr) askAll(*module);
  return 0;
}
