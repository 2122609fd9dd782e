// Builds `allocations` files by hand, for the tests of their reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "heap/allocations.h"
#include "heap/format.h"

namespace cacheline::heap::test {

/// Times are ns: the file's ticks are nanoseconds unless `header.tsc` says otherwise.
class FileBuilder {
 public:
  FileBuilder() {
    header.magic = HEAP_FILE_MAGIC;
    header.version = HEAP_VERSION;
    header.page = HEAP_PAGE;
    header.sampling = 8;
    header.always_from = 64;
    header.next_page = 1;
  }

  /// A new chunk of so many pages; the records that follow go into it.
  FileBuilder& chunk(uint32_t pid, uint32_t tid, uint32_t pages = 1) {
    start_ = words_.size();
    words_.resize(start_ + size_t{pages} * kPageWords);
    heap_chunk_header chunk{};
    chunk.magic = HEAP_CHUNK_MAGIC;
    chunk.offset = HEAP_PAGE + start_ * sizeof(uint64_t);
    chunk.pages = pages;
    chunk.pid = pid;
    chunk.tid = tid;
    std::memcpy(&words_[start_], &chunk, sizeof chunk);
    at_ = start_ + sizeof chunk / sizeof(uint64_t);
    header.next_page += pages;
    return *this;
  }
  /// Of the chunk that records go into.
  heap_chunk_header& chunkHeader() { return *reinterpret_cast<heap_chunk_header*>(&words_[start_]); }

  FileBuilder& record(heap_kind kind, uint64_t value, const std::vector<uint64_t>& rest = {}) {
    words_.at(at_++) = HEAP_WORD(kind, 1 + rest.size(), value);
    for (const uint64_t word : rest) words_.at(at_++) = word;
    return *this;
  }
  FileBuilder& allocate(uint64_t time, uint64_t address, uint64_t size, uint64_t stack = 0) {
    return record(HEAP_ALLOCATE, address, {time, size, stack});
  }
  FileBuilder& free(uint64_t time, uint64_t address) { return record(HEAP_FREE, address, {time}); }
  FileBuilder& map(uint64_t time, uint64_t address, uint64_t size) {
    return record(HEAP_MAP, address, {time, size, 0});
  }
  FileBuilder& unmap(uint64_t time, uint64_t address, uint64_t size) {
    return record(HEAP_UNMAP, address, {time, size});
  }

  std::vector<uint8_t> bytes() const {
    std::vector<uint8_t> bytes(HEAP_PAGE + words_.size() * sizeof(uint64_t));
    std::memcpy(bytes.data(), &header, sizeof header);
    if (!words_.empty())
      std::memcpy(bytes.data() + HEAP_PAGE, words_.data(), words_.size() * sizeof(uint64_t));
    return bytes;
  }
  std::unique_ptr<Allocations> read() const {
    const std::vector<uint8_t> file = bytes();
    return Allocations::fromBytes(file.data(), file.size(), "test");
  }

  heap_file_header header{};

 private:
  static constexpr size_t kPageWords = HEAP_PAGE / sizeof(uint64_t);
  std::vector<uint64_t> words_;
  size_t start_ = 0, at_ = 0;
};

}  // namespace cacheline::heap::test
