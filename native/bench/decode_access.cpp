// Plans per second over the C library's own code, and the cost of one plan by function size.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <vector>

#include "decode/access.h"

namespace {

using cacheline::decode::planAccess;

/// The executable bytes of the mapped C library.
std::span<const uint8_t> libraryText() {
  std::span<const uint8_t> text;
  const auto visit = [](dl_phdr_info* info, size_t, void* out) {
    if (std::strstr(info->dlpi_name, "/libc.") == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& header = info->dlpi_phdr[i];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      *static_cast<std::span<const uint8_t>*>(out) = {
          reinterpret_cast<const uint8_t*>(info->dlpi_addr + header.p_vaddr), header.p_memsz};
    }
    return 1;
  };
  ::dl_iterate_phdr(visit, &text);
  return text;
}

/// One plan in the middle of a function of range(0) bytes; bytes_per_second is the speed of the sweep.
void planInFunction(benchmark::State& state) {
  const std::span<const uint8_t> text = libraryText();
  const size_t size = static_cast<size_t>(state.range(0));
  if (text.size() < 2 * size) return state.SkipWithError("the C library's code was not found");
  size_t at = 0, attributed = 0, plans = 0;
  for (auto _ : state) {
    const auto function = text.subspan(at, size);
    attributed +=
        planAccess(function, 0x401000, 0x401000 + size / 2).failure == cacheline::decode::Failure::none;
    ++plans;
    at = (at + 4096) % (text.size() - size);
  }
  state.SetItemsProcessed(static_cast<int64_t>(plans));
  state.SetBytesProcessed(static_cast<int64_t>(plans * size));
  state.counters["attributed"] = static_cast<double>(attributed) / static_cast<double>(plans);
}
BENCHMARK(planInFunction)->RangeMultiplier(8)->Range(64, 1 << 18);

}  // namespace
