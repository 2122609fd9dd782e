// Files that are cut, empty, of another kind, or that lie: a warning each, and the rest is read.
#include <gtest/gtest.h>

#include "file_builder.h"
#include "heap/allocations.h"

namespace cacheline::heap::test {
namespace {

FileBuilder twoChunks() {
  FileBuilder file;
  file.chunk(7, 7).allocate(100, 0x5000, 64).allocate(200, 0x6000, 64);
  file.chunk(7, 8).allocate(300, 0x7000, 64);
  return file;
}

std::unique_ptr<Allocations> readBytes(const std::vector<uint8_t>& bytes) {
  return Allocations::fromBytes(bytes.data(), bytes.size(), "test");
}

/// The word of the first chunk behind its header: the first record.
uint64_t& firstRecord(std::vector<uint8_t>& bytes) {
  return *reinterpret_cast<uint64_t*>(&bytes[HEAP_PAGE + sizeof(heap_chunk_header)]);
}

TEST(HeapDamage, AFolderWithoutTheFileHasNoBlocksAtAll) {
  EXPECT_EQ(Allocations::open("/nonexistent"), nullptr);
}

TEST(HeapDamage, NoCutIsFatalAndTheBlocksBeforeItAreThere) {
  const std::vector<uint8_t> whole = twoChunks().bytes();
  for (size_t size = 0; size < whole.size(); size += 4) {
    const auto heap = Allocations::fromBytes(whole.data(), size, "test");
    const size_t firstEnd = HEAP_PAGE + sizeof(heap_chunk_header) + 32;
    EXPECT_EQ(heap->find(7, 0x5000, 500) != nullptr, size >= firstEnd) << size;
    EXPECT_EQ(heap->warnings().empty(),
              size >= sizeof(heap_file_header) &&
                  (size < HEAP_PAGE + sizeof(heap_chunk_header) ||
                   (size >= 2 * HEAP_PAGE && size < 2 * HEAP_PAGE + sizeof(heap_chunk_header))))
        << size;
  }
}

TEST(HeapDamage, AFileOfAnotherKindOrVersionIsNamed) {
  std::vector<uint8_t> bytes = twoChunks().bytes();
  bytes[0] ^= 1;
  EXPECT_NE(readBytes(bytes)->warnings().at(0).find("test: this is not a file"), std::string::npos);
  FileBuilder newer = twoChunks();
  newer.header.version = 2;
  const auto heap = newer.read();
  EXPECT_EQ(heap->find(7, 0x5000, 500), nullptr);
  EXPECT_EQ(heap->warnings().size(), 1u);
}

TEST(HeapDamage, ARecordOfAWrongLengthEndsItsChunkOnly) {
  for (const uint64_t word : {HEAP_WORD(HEAP_ALLOCATE, 3, 0x5000), HEAP_WORD(HEAP_ALLOCATE, 0, 0x5000),
                              HEAP_WORD(99, 4, 0x5000), HEAP_WORD(HEAP_STACK, 2, 1)}) {
    std::vector<uint8_t> bytes = twoChunks().bytes();
    firstRecord(bytes) = word;
    const auto heap = readBytes(bytes);
    EXPECT_EQ(heap->find(7, 0x5000, 500), nullptr);
    EXPECT_NE(heap->find(7, 0x7000, 500), nullptr) << "the other chunk";
    ASSERT_EQ(heap->warnings().size(), 1u);
    EXPECT_NE(heap->warnings()[0].find("1 chunks are damaged"), std::string::npos) << heap->warnings()[0];
  }
}

TEST(HeapDamage, AChunkHeaderThatLiesIsPassedOver) {
  for (const bool pages : {true, false}) {
    FileBuilder file;
    file.chunk(7, 7).allocate(100, 0x5000, 64);
    if (pages)
      file.chunkHeader().pages = 0;
    else
      file.chunkHeader().offset += HEAP_PAGE;
    file.chunk(7, 8).allocate(300, 0x7000, 64);
    const auto heap = file.read();
    EXPECT_EQ(heap->find(7, 0x5000, 500), nullptr);
    EXPECT_NE(heap->find(7, 0x7000, 500), nullptr);
    EXPECT_EQ(heap->warnings().size(), 1u);
  }
}

TEST(HeapDamage, SizesAndAddressesAtTheEndOfMemory) {
  const uint64_t last = (uint64_t{1} << 48) - 16;
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, last, ~uint64_t{0})
                        .allocate(100, 0, ~uint64_t{0})
                        .allocate(100, 0x5000, 0)
                        .map(100, last, ~uint64_t{0})
                        .unmap(200, 0, ~uint64_t{0})
                        .read();
  EXPECT_EQ(heap->find(7, last + 15, 150)->size, 16u) << "cut at the end of memory";
  EXPECT_EQ(heap->find(7, 0x4000, 150)->size, uint64_t{1} << 48);
  EXPECT_NE(heap->find(7, 0x5000, 150), nullptr);
  EXPECT_EQ(heap->find(7, ~uint64_t{0}, 150), nullptr);
}

TEST(HeapDamage, AProcessThatIsItsOwnParentHasAnEnd) {
  FileBuilder file;
  file.chunk(7, 7, 3).allocate(1, 0x5000, 64);
  for (uint64_t i = 0; i < 500; i++) file.record(HEAP_FORK, 7, {2 + i});
  const auto heap = file.read();
  EXPECT_EQ(heap->find(7, 0x9000, 1000), nullptr);
}

TEST(HeapDamage, AnchorsThatContradictOneAnotherAreLeftOut) {
  FileBuilder file;
  file.header.tsc = 1;
  file.header.start = {1000, 1000};
  file.header.end = {9000, 9000};
  file.chunk(7, 7).allocate(2000, 0x5000, 64).allocate(~uint64_t{0}, 0x6000, 64);
  file.chunkHeader().opened = {3000, ~uint64_t{0} >> 3};
  const auto heap = file.read();
  EXPECT_EQ(heap->warnings().size(), 1u);
}

}  // namespace
}  // namespace cacheline::heap::test
