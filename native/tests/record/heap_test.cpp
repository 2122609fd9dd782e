// Recordings with heap blocks: the file, meta.json, and the programs of which none can be had.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/error.h"
#include "heap/allocations.h"
#include "record/recorder.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

const char* const kAllocates = R"(
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char** argv) {
  void* blocks[1000];
  for (int i = 0; i < 1000; i++) blocks[i] = malloc(100);
  for (int i = 0; i < 1000; i += 2) free(blocks[i]);
  printf("%s %d\n", getenv("LD_PRELOAD"), getpid());
  FILE* file = fopen(argv[1], "w");
  fprintf(file, "%s\n%d %lu\n", getenv("LD_PRELOAD"), getpid(), (unsigned long)blocks[1]);
  fclose(file);
  while (clock() < CLOCKS_PER_SEC / 5) continue;  // to be sampled
  return 11;
})";

RecordOptions heapOptions(const TemporaryFolder& folder, std::vector<std::string> command) {
  RecordOptions options = optionsFor(folder, std::move(command));
  options.heap = HeapOptions{CACHELINE_HEAP_AGENT, 4};
  options.stdoutFd = options.stderrFd = 2;
  return options;
}

/// In nanoseconds, of the recordings' clock.
uint64_t monotonicTime() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

TEST(HeapRecording, WritesTheBlocksAndSaysSoInTheMeta) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "allocates", kAllocates, "-O0");
  RecordOptions options = heapOptions(folder, {program, folder.file("says")});
  options.environment = {"LD_PRELOAD=libm.so.6"};
  const uint64_t before = monotonicTime();
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 11);
  ASSERT_TRUE(result.heap);
  EXPECT_EQ(result.heap->sampling, 4u);
  EXPECT_GE(result.heap->blocks, 1000u);
  EXPECT_EQ(result.heap->lost, 0u);

  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_TRUE(meta["heap"].IsObject());
  EXPECT_EQ(meta["heap"]["sampling"].GetUint64(), 4u);
  EXPECT_EQ(meta["heap"]["blocks"].GetUint64(), result.heap->blocks);
  EXPECT_EQ(meta["heap"]["lost"].GetUint64(), 0u);

  const std::string says = readFile(folder.file("says"));
  EXPECT_TRUE(contains(says, "libcacheline_heap.so:libm.so.6\n"))
      << "the other preloaded library stays: " << says;
  uint64_t pid = 0, address = 0;
  ASSERT_EQ(std::sscanf(says.c_str() + says.find('\n'), "%lu %lu", &pid, &address), 2);
  const auto heap = heap::Allocations::open(options.outputDirectory);
  ASSERT_NE(heap, nullptr);
  EXPECT_EQ(heap->blocks(), result.heap->blocks);
  // Times are the recording's: a sample's time finds the block.
  const Recorded recorded(options.outputDirectory);
  ASSERT_GT(recorded.lastTime, 0u);
  const heap::Block* block = heap->find(static_cast<uint32_t>(pid), address, recorded.lastTime);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->size, 100u);
  EXPECT_GT(block->allocated, before);
  EXPECT_LT(block->allocated, monotonicTime());
}

TEST(HeapRecording, WithoutItThereIsNoFileAndTheMetaSaysNull) {
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {"/bin/true"});
  EXPECT_FALSE(recordNow(options).heap);
  EXPECT_FALSE(exists(options.outputDirectory + "/allocations"));
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  EXPECT_TRUE(meta["heap"].IsNull());
}

/// The error of a recording that is refused, with nothing left on disk.
Error refusalOf(const RecordOptions& options) {
  try {
    recordNow(options);
  } catch (const Error& error) {
    EXPECT_FALSE(exists(options.outputDirectory + "/allocations"));
    EXPECT_FALSE(exists(options.outputDirectory + "/perf.data"));
    return error;
  }
  return {ErrorKind::internal, "it was recorded"};
}

TEST(HeapRecording, AStaticProgramIsRefused) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "static", "int main() { return 0; }", "-static");
  const Error error = refusalOf(heapOptions(folder, {program}));
  EXPECT_EQ(error.kind(), ErrorKind::impossible) << error.what();
  EXPECT_TRUE(contains(error.what(), "statically linked")) << error.what();
}

/// A section that only Go's linker makes.
std::string goProgram(const TemporaryFolder& folder, const std::string& flags) {
  return compile(folder, "go", R"(
#include <stdlib.h>
__attribute__((section(".go.buildinfo"), used)) static char info[] = "\xff Go buildinf:";
int main() { return malloc(100) == 0; })",
                 flags + " -O0 -fno-builtin");
}

TEST(HeapRecording, OfGoProgramsItSaysWhatIsSeen) {
  const TemporaryFolder folder;
  const Error error = refusalOf(heapOptions(folder, {goProgram(folder, "-static")}));
  EXPECT_EQ(error.kind(), ErrorKind::impossible) << error.what();
  EXPECT_TRUE(contains(error.what(), "Go has an allocator of its own")) << error.what();
  EXPECT_EQ(error.nextStep(), "Record without --heap");
  const RecordResult result = recordNow(heapOptions(folder, {goProgram(folder, "")}));
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_TRUE(anyContains(result.warnings, "only what C code in"));
}

TEST(HeapRecording, LostBlocksHaveTheirReason) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "many", R"(
#include <stdlib.h>
int main() {
  for (int i = 0; i < 300000; i++) free(malloc(100));
})",
                                      "-O0 -fno-builtin");
  const RecordResult result = recordNow(heapOptions(folder, {program}));
  ASSERT_GT(result.heap->lost, 100'000u);
  EXPECT_TRUE(anyContains(result.warnings, "heap blocks were not recorded beside"));
  EXPECT_TRUE(anyContains(result.warnings, "20,000 at once and 10,000 a second"));
  EXPECT_FALSE(anyContains(result.warnings, "256 MiB"));
  EXPECT_FALSE(anyContains(result.warnings, "table"));
}

TEST(HeapRecording, ASetUserIdProgramIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a file to another user";
  const TemporaryFolder folder;
  const std::string program = compile(folder, "other", "int main() { return 0; }");
  ASSERT_EQ(::chown(program.c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  const Error error = refusalOf(heapOptions(folder, {program}));
  EXPECT_EQ(error.kind(), ErrorKind::impossible) << error.what();
  EXPECT_TRUE(contains(error.what(), "set-user-ID")) << error.what();
}

TEST(HeapRecording, AMissingAgentIsNamed) {
  const TemporaryFolder folder;
  RecordOptions options = heapOptions(folder, {"/bin/true"});
  options.heap->agent = "/nonexistent/libcacheline_heap.so";
  const Error error = refusalOf(options);
  EXPECT_EQ(error.kind(), ErrorKind::impossible);
  EXPECT_TRUE(contains(error.what(), "/nonexistent/libcacheline_heap.so")) << error.what();
}

TEST(HeapRecording, AProgramWithAMallocOfItsOwnIsSaid) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "own", R"(
#include <stddef.h>
static char area[1 << 20];
static size_t used;
void* malloc(size_t size) { return area + (used += (size + 15) & ~15ul); }
void free(void* p) {}
void* calloc(size_t n, size_t size) { return malloc(n * size); }
void* realloc(void* p, size_t size) { return malloc(size); }
int main() { return malloc(100) == 0; })",
                                      "-O0 -fno-builtin");
  const RecordResult result = recordNow(heapOptions(folder, {program}));
  EXPECT_EQ(result.exitStatus, 0);
  EXPECT_TRUE(anyContains(result.warnings, "a malloc of its own"));
}

}  // namespace
}  // namespace cacheline::record::test
