// What the reader makes of files built by hand: lives, reuse, forks, mappings, times.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "file_builder.h"

namespace cacheline::heap::test {
namespace {

TEST(HeapReader, FindsABlockFromItsFirstToItsLastByteAndFromItsAllocationToItsFree) {
  const auto heap = FileBuilder().chunk(7, 8).allocate(100, 0x5000, 192).free(200, 0x5000).read();
  const Block* block = heap->find(7, 0x5000, 100);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->size, 192u);
  EXPECT_EQ(block->allocated, 100u);
  EXPECT_EQ(block->freed, 200u);
  EXPECT_EQ(block->pid, 7u);
  EXPECT_EQ(block->tid, 8u);
  EXPECT_FALSE(block->mapping);
  EXPECT_EQ(heap->find(7, 0x50bf, 199), block);
  EXPECT_EQ(heap->find(7, 0x50c0, 150), nullptr);
  EXPECT_EQ(heap->find(7, 0x4fff, 150), nullptr);
  EXPECT_EQ(heap->find(7, 0x5000, 99), nullptr);
  EXPECT_EQ(heap->find(7, 0x5000, 200), nullptr);
  EXPECT_EQ(heap->find(8, 0x5000, 150), nullptr);
  EXPECT_TRUE(heap->warnings().empty());
}

TEST(HeapReader, TellsReusedAddressesApartByTime) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, 0x5000, 64)
                        .free(200, 0x5000)
                        .allocate(300, 0x4fc0, 256)
                        .free(400, 0x4fc0)
                        .allocate(500, 0x5000, 64)
                        .read();
  EXPECT_EQ(heap->find(7, 0x5010, 150)->address, 0x5000u);
  EXPECT_EQ(heap->find(7, 0x5010, 250), nullptr);
  EXPECT_EQ(heap->find(7, 0x5010, 350)->address, 0x4fc0u);
  EXPECT_EQ(heap->find(7, 0x5010, 450), nullptr);
  EXPECT_EQ(heap->find(7, 0x5010, 5000)->allocated, 500u);
}

TEST(HeapReader, ABlockThatIsAllocatedAgainWithoutAFreeEndsThere) {
  const auto heap = FileBuilder().chunk(7, 7).allocate(100, 0x5000, 256).allocate(300, 0x5000, 64).read();
  EXPECT_EQ(heap->find(7, 0x5080, 200)->freed, 300u);
  EXPECT_EQ(heap->find(7, 0x5080, 300), nullptr);
}

TEST(HeapReader, ThreadsOfDifferentChunksMeetInTime) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, 0x5000, 64)
                        .free(400, 0x5000)
                        .chunk(7, 9)
                        .free(200, 0x5000)
                        .allocate(300, 0x5000, 64)
                        .read();
  EXPECT_EQ(heap->find(7, 0x5000, 150)->tid, 7u);
  EXPECT_EQ(heap->find(7, 0x5000, 250), nullptr);
  EXPECT_EQ(heap->find(7, 0x5000, 350)->tid, 9u);
  EXPECT_EQ(heap->find(7, 0x5000, 350)->freed, 400u);
}

TEST(HeapReader, AChunkThatIsGivenToAnotherThreadSaysSo) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, 0x5000, 64)
                        .record(HEAP_THREAD, 11)
                        .allocate(200, 0x6000, 64)
                        .read();
  EXPECT_EQ(heap->find(7, 0x5000, 300)->tid, 7u);
  EXPECT_EQ(heap->find(7, 0x6000, 300)->tid, 11u);
}

TEST(HeapReader, GivesTheStackInnermostFirst) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .record(HEAP_STACK, 2, {77, 0x401000, 0x402000})
                        .allocate(100, 0x5000, 64, 77)
                        .allocate(100, 0x6000, 64, 78)
                        .read();
  EXPECT_EQ(heap->stack(heap->find(7, 0x5000, 100)->stack), (std::vector<uint64_t>{0x401000, 0x402000}));
  EXPECT_TRUE(heap->stack(heap->find(7, 0x6000, 100)->stack).empty()) << "a stack that is not in the file";
  EXPECT_TRUE(heap->stack(12345).empty());
}

TEST(HeapReader, AForkedChildHasItsParentsBlocksOfThatMoment) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, 0x5000, 64)
                        .allocate(110, 0x6000, 64)
                        .allocate(120, 0x7000, 64)
                        .free(400, 0x5000)
                        .allocate(410, 0x8000, 64)
                        .chunk(9, 9)
                        .record(HEAP_FORK, 7, {200})
                        .free(300, 0x6000)
                        .free(310, 0x7000)
                        .allocate(320, 0x7000, 128)
                        .read();
  EXPECT_EQ(heap->find(9, 0x5000, 150), nullptr) << "it was not there yet";
  EXPECT_EQ(heap->find(9, 0x5000, 450)->allocated, 100u) << "the parent's free is not the child's";
  EXPECT_EQ(heap->find(9, 0x6000, 250)->allocated, 110u);
  EXPECT_EQ(heap->find(9, 0x6000, 350), nullptr) << "the child has freed it";
  EXPECT_EQ(heap->find(7, 0x6000, 350)->allocated, 110u) << "but the parent has not";
  EXPECT_EQ(heap->find(9, 0x7000, 350)->size, 128u);
  EXPECT_EQ(heap->find(9, 0x8000, 500), nullptr) << "allocated by the parent after the fork";
}

TEST(HeapReader, AGrandchildAsksAllItsAncestors) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .allocate(100, 0x5000, 64)
                        .allocate(100, 0x6000, 64)
                        .chunk(8, 8)
                        .record(HEAP_FORK, 7, {200})
                        .free(250, 0x6000)
                        .chunk(9, 9)
                        .record(HEAP_FORK, 8, {300})
                        .free(400, 0x5000)
                        .read();
  EXPECT_EQ(heap->find(9, 0x5000, 350)->allocated, 100u);
  EXPECT_EQ(heap->find(9, 0x5000, 400), nullptr);
  EXPECT_EQ(heap->find(8, 0x5000, 500)->allocated, 100u);
  EXPECT_EQ(heap->find(9, 0x6000, 350), nullptr);
}

TEST(HeapReader, ExecEndsAllBlocksOfItsProcessAlone) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .record(HEAP_IMAGE, 7, {50})
                        .allocate(100, 0x5000, 64)
                        .chunk(7, 7)
                        .record(HEAP_IMAGE, 7, {200})
                        .allocate(300, 0x6000, 64)
                        .chunk(8, 8)
                        .allocate(100, 0x5000, 64)
                        .read();
  EXPECT_EQ(heap->find(7, 0x5000, 150)->freed, 200u);
  EXPECT_EQ(heap->find(7, 0x5000, 250), nullptr);
  EXPECT_NE(heap->find(7, 0x6000, 350), nullptr);
  EXPECT_NE(heap->find(8, 0x5000, 350), nullptr);
}

TEST(HeapReader, BlocksComeBeforeTheMappingsThatTheyLieIn) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .map(100, 0x10000, 0x4000)
                        .allocate(200, 0x11000, 64)
                        .free(300, 0x11000)
                        .read();
  EXPECT_TRUE(heap->find(7, 0x11000, 150)->mapping);
  EXPECT_FALSE(heap->find(7, 0x11000, 250)->mapping);
  EXPECT_TRUE(heap->find(7, 0x11000, 350)->mapping);
}

TEST(HeapReader, UnmappingAPartLeavesTheRest) {
  const auto heap = FileBuilder()
                        .chunk(7, 7)
                        .map(100, 0x10000, 0x4000)
                        .unmap(200, 0x11000, 0x1000)
                        .map(300, 0x13000, 0x2000)
                        .read();
  EXPECT_EQ(heap->find(7, 0x11800, 150)->size, 0x4000u);
  EXPECT_EQ(heap->find(7, 0x11800, 250), nullptr);
  EXPECT_EQ(heap->find(7, 0x10800, 250)->size, 0x1000u);
  EXPECT_EQ(heap->find(7, 0x13800, 250)->address, 0x12000u);
  EXPECT_EQ(heap->find(7, 0x13800, 350)->size, 0x2000u) << "a mapping over it replaces it";
  EXPECT_EQ(heap->find(7, 0x12800, 350)->size, 0x1000u);
}

TEST(HeapReader, TicksBecomeNanosecondsByTheAnchorsAroundThem) {
  FileBuilder file;
  file.header.tsc = 1;
  file.header.start = {1000, 5'000'000};
  file.header.end = {5000, 5'003'000};  // one tick is half a nanosecond at first, then a whole one
  file.chunk(7, 7).allocate(2000, 0x5000, 64).free(4000, 0x5000);
  file.chunkHeader().opened = {3000, 5'001'000};
  const auto heap = file.read();
  const Block* block = heap->find(7, 0x5000, 5'001'000);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->allocated, 5'000'500u);
  EXPECT_EQ(block->freed, 5'002'000u);
}

TEST(HeapReader, WithoutTwoAnchorsThereAreNoTimesAndNoBlocks) {
  FileBuilder file;
  file.header.tsc = 1;
  file.header.start = {1000, 5'000'000};
  file.chunk(7, 7).allocate(2000, 0x5000, 64);
  const auto heap = file.read();
  EXPECT_EQ(heap->find(7, 0x5000, 5'001'000), nullptr);
  ASSERT_EQ(heap->warnings().size(), 1u);
  EXPECT_NE(heap->warnings()[0].find("anchor"), std::string::npos);
}

TEST(HeapReader, SaysWhatWasRecordedAndLost) {
  FileBuilder file;
  file.header.lost = 3;
  file.chunk(7, 7);
  file.chunkHeader().blocks = 5;
  file.chunkHeader().lost_rate = 10;
  file.chunkHeader().lost_table = 20;
  file.chunkHeader().lost_nested = 30;
  const auto heap = file.read();
  EXPECT_EQ(heap->blocks(), 5u);
  EXPECT_EQ(heap->lost(), 63u);
  EXPECT_EQ(heap->sampling(), 8u);
  EXPECT_EQ(heap->alwaysRecordedFrom(), 64u);
}

/// Thousands of blocks of all sizes that come and go, against a look through all of them.
TEST(HeapReader, AgreesWithASearchThroughAllBlocks) {
  std::mt19937_64 random(1);
  FileBuilder file;
  file.chunk(7, 7, 400);
  std::vector<Block> all;
  std::map<uint64_t, size_t> living;
  for (uint64_t time = 1; time < 20'000; time++) {
    const uint64_t size = 8 << random() % 9, address = 0x5000 + (random() % 4000) * 8;
    const auto next = living.lower_bound(address);
    const bool overlaps =
        (next != living.end() && all[next->second].address < address + size) ||
        (next != living.begin() &&
         all[std::prev(next)->second].address + all[std::prev(next)->second].size > address);
    if (!overlaps) {
      file.allocate(time, address, size);
      Block block;
      block.address = address;
      block.size = size;
      block.allocated = time;
      living[address] = all.size();
      all.push_back(block);
    } else if (next != living.end()) {
      all[next->second].freed = time;
      file.free(time, next->first);
      living.erase(next);
    }
  }
  const auto heap = file.read();
  ASSERT_GT(all.size(), 5000u);
  uint64_t hits = 0;
  for (int i = 0; i < 5000; i++) {
    const uint64_t address = 0x5000 + random() % 36'000, time = random() % 20'000;
    const Block* wanted = nullptr;
    for (const Block& block : all)
      if (address - block.address < block.size && time >= block.allocated && time < block.freed)
        wanted = &block;
    const Block* found = heap->find(7, address, time);
    ASSERT_EQ(found != nullptr, wanted != nullptr) << address << " at " << time;
    if (found == nullptr) continue;
    hits++;
    EXPECT_EQ(found->address, wanted->address);
    EXPECT_EQ(found->allocated, wanted->allocated);
    EXPECT_EQ(found->freed, wanted->freed);
  }
  EXPECT_GT(hits, 1000u);
}

}  // namespace
}  // namespace cacheline::heap::test
