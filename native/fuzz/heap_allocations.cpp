// libFuzzer over `allocations` files. Whatever they say, a block that is found holds the address at the time,
// for every process, and stacks are there for every block.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "heap/allocations.h"
#include "heap/format.h"

using namespace cacheline::heap;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// Input: records. They are put behind a header and into chunks that are right, so that the mutator need not
/// find them; with the first byte odd the input is the whole file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::vector<uint8_t> file(data + 1, data + size);
  if (data[0] % 2 == 0) {
    const size_t pages = 1 + (sizeof(heap_chunk_header) + size) / HEAP_PAGE;
    file.assign((1 + 2 * pages) * HEAP_PAGE, 0);
    heap_file_header header{};
    header.magic = HEAP_FILE_MAGIC;
    header.version = HEAP_VERSION;
    header.page = HEAP_PAGE;
    header.tsc = data[1] % 2;
    header.start = {1, 1};
    header.end = {uint64_t{1} << 40, uint64_t{1} << 39};
    std::memcpy(file.data(), &header, sizeof header);
    for (size_t i = 0; i < 2; i++) {
      heap_chunk_header chunk{};
      chunk.magic = HEAP_CHUNK_MAGIC;
      chunk.offset = (1 + i * pages) * HEAP_PAGE;
      chunk.pages = static_cast<uint32_t>(pages);
      chunk.pid = chunk.tid = static_cast<uint32_t>(1 + i);
      std::memcpy(&file[chunk.offset], &chunk, sizeof chunk);
      const size_t half = (size - 1) / 2 / 8 * 8;
      std::memcpy(&file[chunk.offset + sizeof chunk], data + 1 + i * half, i == 0 ? half : size - 1 - half);
    }
  }
  const auto heap = Allocations::fromBytes(file.data(), file.size(), "fuzz");
  for (size_t at = 0; at + 16 <= size && at < 512; at += 8) {
    uint64_t address = 0, time = 0;
    std::memcpy(&address, data + at, 8);
    std::memcpy(&time, data + at + 8, 8);
    address >>= 64 - HEAP_VALUE_BITS;
    for (const uint32_t pid : {1u, 2u, data[0] + 0u}) {
      const Block* block = heap->find(pid, address, time);
      if (block == nullptr) continue;
      require(address - block->address < block->size);
      require(block->allocated <= time);
      require(block->address + (block->size - 1) < uint64_t{1} << HEAP_VALUE_BITS);
      require(heap->stack(block->stack).size() <= 255);
    }
  }
  return 0;
}
