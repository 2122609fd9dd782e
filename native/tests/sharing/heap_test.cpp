// Heap blocks that were recorded beside memory samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "c2c/tables.h"
#include "fixture.h"
#include "sharing/memory_collector.h"
#include "sharing/row_evidence.h"
#include "tests/heap/file_builder.h"
#include "tests/sharing/typed_recording.h"
#include "text/terminal_text.h"

namespace cacheline::sharing {
namespace {

using analysis::DataName;
using analysis::How;
using test::TypedRecording;

constexpr const char* kPoolSource = R"code(
struct worker { long id; long count; long spare; };
char pool[4096];
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
NOINLINE void *reserve(unsigned long size) { __asm__ volatile("" : "+r"(size) : : "memory"); return pool; }
NOINLINE struct worker *make_workers(void) { struct worker *all = reserve(192); all->id = 1; return all; }
NOINLINE struct worker *make_one(void) { struct worker *one = reserve(24); one->id = 1; return one; }
NOINLINE void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
NOINLINE void raw(long place) { __asm__ volatile(".globl raw_word\nraw_word: incq (%%rdi)" : : "D"(place) : "memory"); }
NOINLINE void setup(void) { bump(make_workers()); bump(make_one()); raw((long)pool); }
void _start(void) { setup(); }
)code";
constexpr uint64_t kBlocks = 0x5000000;  // where there is a heap
constexpr uint32_t kPid = TypedRecording::kPid;

class MemoryOfBlocks : public testing::Test {
 protected:
  void begin(bool registers) {
    const std::string program =
        symbols::test::compile(dir_, "pool", "c", kPoolSource,
                               "-g -O1 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector");
    image_ = symbols::ElfImage::open(program);
    recording_ = std::make_unique<TypedRecording>(program, *image_, 0, registers);
    recording_->memory(kBlocks, 16 * TypedRecording::kPage, "[heap]");
    file_ = heap::test::FileBuilder();
    file_.chunk(kPid, kPid);
  }
  uint64_t at(const char* symbol) const { return image_->addressOfSymbol(symbol).value(); }
  /// Where the first call of `function` returns to.
  uint64_t afterCall(const char* function) const {
    const auto code = image_->bytesAt(at(function), 64);
    const auto call = std::find(code.begin(), code.end(), 0xe8);
    return at(function) + static_cast<uint64_t>(call - code.begin()) + 5;
  }
  /// The call chain of blocks that `function` allocates.
  uint64_t stackOf(const char* function) {
    const uint64_t hash = at(function);
    file_.record(HEAP_STACK, 2, {hash, afterCall(function), afterCall("setup")});
    return hash;
  }
  /// By two threads in turn; 20 samples, 10 ns each, the first of all at 1010 ns.
  void access(const char* access, uint64_t address, const std::map<uint8_t, uint64_t>& registers = {}) {
    for (uint32_t i = 0; i < 20; ++i) recording_->sample(kPid + i % 2, at(access), address, registers);
  }
  analysis::Report report(bool all = true) {
    return recording_->report(
        {}, {}, [this](const std::string& folder) { write(folder); }, all);
  }
  void write(const std::string& folder) const {
    const std::vector<uint8_t> bytes = file_.bytes();
    std::ofstream(folder + "/allocations", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  static DataName dataAt(const analysis::Report& report, uint64_t address) {
    for (const analysis::Line& line : report.lines)
      for (const analysis::Access& access : line.accesses)
        if (line.address + access.offset == address) return access.data;
    ADD_FAILURE() << "nothing was accessed at " << address;
    return {};
  }

  symbols::test::TempDir dir_;
  std::shared_ptr<const symbols::ElfImage> image_;
  std::unique_ptr<TypedRecording> recording_;
  heap::test::FileBuilder file_;
};

TEST_F(MemoryOfBlocks, NameTheElementAndWhoAllocatedIt) {
  for (const bool registers : {false, true})
    for (const bool all : {false, true}) {
      begin(registers);
      file_.allocate(500, kBlocks, 192, stackOf("make_workers"));
      const uint64_t worker = kBlocks + 2 * 24;
      access("bump_count", worker + 8, {{kRegDi, worker}});
      const DataName data = dataAt(report(all), worker + 8);
      EXPECT_EQ(data.how, How::code);
      EXPECT_EQ(data.type, "worker[8]");
      EXPECT_EQ(data.index, 2u);
      EXPECT_EQ(data.field, "count");
      EXPECT_EQ(data.base, kBlocks);
      ASSERT_TRUE(data.allocation);
      EXPECT_EQ(data.allocation->size, 192u);
      EXPECT_EQ(data.allocation->function, "make_workers");
      EXPECT_EQ(data.allocation->place.line, 7u);
      ASSERT_EQ(data.allocation->callers.size(), 1u);
      EXPECT_EQ(data.allocation->callers[0].function, "setup");
    }
}

TEST_F(MemoryOfBlocks, ABlockIsTheObjectWhereTheCodeSaysNothing) {
  begin(false);
  file_.allocate(500, kBlocks, 192, stackOf("make_workers"));
  file_.allocate(501, kBlocks + 4096, 24, stackOf("make_one"));
  access("raw_word", kBlocks + 56);
  access("raw_word", kBlocks + 4096 + 16);
  access("raw_word", kBlocks + 8192);  // no block
  const analysis::Report report = this->report();
  const DataName data = dataAt(report, kBlocks + 56);
  EXPECT_EQ(data.how, How::allocation);
  EXPECT_EQ(data.base, kBlocks);
  EXPECT_EQ(analysis::objectName(data), "192 bytes allocated in make_workers");
  const DataName one = dataAt(report, kBlocks + 4096 + 16);
  EXPECT_EQ(one.how, How::allocation);
  EXPECT_EQ(one.type, "worker");
  EXPECT_EQ(one.field, "spare");
  EXPECT_FALSE(dataAt(report, kBlocks + 8192).allocation);
}

TEST_F(MemoryOfBlocks, BlocksAtOneAddressAreToldApartByTime) {
  begin(false);
  file_.allocate(500, kBlocks, 192, stackOf("make_workers"));
  file_.free(1205, kBlocks);  // after the 20 samples
  file_.allocate(1206, kBlocks, 24, stackOf("make_one"));
  access("raw_word", kBlocks + 8);
  access("bump_count", kBlocks + 16);
  access("raw_word", kBlocks + 32);  // behind the block of that time
  const analysis::Report report = this->report();
  ASSERT_TRUE(dataAt(report, kBlocks + 8).allocation);
  EXPECT_EQ(dataAt(report, kBlocks + 8).allocation->function, "make_workers");
  ASSERT_TRUE(dataAt(report, kBlocks + 16).allocation);
  EXPECT_EQ(dataAt(report, kBlocks + 16).allocation->function, "make_one");
  EXPECT_FALSE(dataAt(report, kBlocks + 32).allocation);
}

TEST_F(MemoryOfBlocks, AreInTheText) {
  begin(false);
  const uint64_t many = stackOf("make_workers"), one = stackOf("make_one");
  for (uint64_t i = 0; i < 3; ++i) {
    file_.allocate(500 + i, kBlocks + 256 * i, 192, many);
    access("bump_count", kBlocks + 256 * i + 2 * 24 + 8);
  }
  file_.allocate(510, kBlocks + 4096, 24, one);
  access("raw_word", kBlocks + 4096 + 16);
  file_.allocate(511, kBlocks + 8192, 2000);
  access("raw_word", kBlocks + 8192 + 16);
  c2c::TableOptions options;
  options.width = 200;
  options.folder = dir_.path();
  std::string text;
  for (const std::string& piece : c2c::tablesText(report(), options)) text += piece;
  const size_t block = text.find("\nHeap blocks of the data above\n");
  ASSERT_NE(block, std::string::npos) << text;
  EXPECT_EQ(
      text.substr(block + 1),
      "Heap blocks of the data above\n"
      "worker[8] at 0x5000000 and 2 more: in a block of 192 bytes allocated in make_workers (pool.c:7),\n"
      "  called from setup (pool.c:11)\n"
      "worker at 0x5001000: in a block of 24 bytes allocated in make_one (pool.c:8), called from setup\n"
      "  (pool.c:11)\n"
      "0x5002000: a block of 2000 bytes allocated in an unknown function\n");
  for (const uint32_t width : {c2c::kNarrowestTables, 80u}) {
    options.width = width;
    for (const std::string& piece : c2c::tablesText(report(), options))
      for (size_t from = 0, end = 0; (end = piece.find('\n', from)) != std::string::npos; from = end + 1)
        EXPECT_LE(text::displayWidth(piece.substr(from, end - from)), width);
  }
}

/// Times of a damaged file may go back.
TEST_F(MemoryOfBlocks, AreFoundByTheSamplesOwnTime) {
  file_.chunk(kPid, kPid);
  file_.allocate(500, kBlocks, 192).free(1500, kBlocks).allocate(1600, kBlocks, 64);
  const auto allocations = file_.read();
  const analysis::Meta meta;
  const Options options;
  perfdata::Mmap mapped;
  mapped.pid = mapped.tid = kPid;
  mapped.address = kBlocks;
  mapped.length = TypedRecording::kPage;
  mapped.file = "[heap]";
  analysis::Timeline timeline;
  timeline.onMmap(mapped);
  MemoryCollector collector({}, meta, timeline, options, 64, {}, allocations.get());
  perf_mem_data_src load{};
  load.mem_op = PERF_MEM_OP_LOAD;
  load.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1;
  perfdata::Sample sample;
  sample.pid = sample.tid = kPid;
  sample.misc = PERF_RECORD_MISC_USER;
  sample.dataSource = load.val;
  std::vector<perfdata::Sample> samples;
  for (const auto& [time, ahead] : {std::pair(2000, 8), std::pair(1000, 16)}) {
    sample.time = sample.moment.time = static_cast<uint64_t>(time);
    sample.address = kBlocks + static_cast<uint64_t>(ahead);
    samples.push_back(sample);
  }
  for (const perfdata::Sample& each : samples) collector.onSample(each);
  collector.finish();
  RowEvidence evidence(collector, {}, options, 64, 0);
  for (const perfdata::Sample& each : samples) evidence.onSample(each);
  evidence.finish();
  analysis::AddressSpaces spaces(timeline);
  const analysis::AddressSpace& space = spaces.at(kPid, {});
  const auto sizeAt = [&](uint64_t address) {
    const auto position = collector.lineSpaces.locate(space, space.mappings->find(address), address);
    const auto found = collector.blocks.at(position, {});
    return found ? found->block.size : 0;
  };
  EXPECT_EQ(sizeAt(kBlocks + 8), 64u);
  EXPECT_EQ(sizeAt(kBlocks + 16), 192u);
}

TEST_F(MemoryOfBlocks, WarnsOfAFileThatIsDamagedOrMissing) {
  const auto warned = [](const analysis::Report& report, const std::string& part) {
    return std::any_of(report.warnings.begin(), report.warnings.end(),
                       [&](const std::string& text) { return text.find(part) != std::string::npos; });
  };
  begin(false);
  access("bump_count", kBlocks + 8);
  file_.allocate(500, kBlocks, 192, stackOf("make_workers"));
  EXPECT_TRUE(report().warnings.empty());
  file_.chunk(kPid, kPid).chunkHeader().magic = 0;
  file_.chunk(kPid, kPid);
  const analysis::Report damaged = report();
  EXPECT_TRUE(warned(damaged, "chunks are damaged"));
  EXPECT_TRUE(dataAt(damaged, kBlocks + 8).allocation) << "what can be read is used";

  const auto withMeta = [&](const std::string& json, bool file) {
    return recording_->report({}, {}, [&](const std::string& folder) {
      std::filesystem::remove(folder + "/allocations");
      std::ofstream(folder + "/meta.json") << json;
      if (file) write(folder);
    });
  };
  constexpr const char* kSaysMissing = "no file `allocations`";
  const std::string some = R"({"heap": {"sampling": 64, "blocks": 7, "lost": 0}})";
  EXPECT_TRUE(warned(withMeta(some, false), kSaysMissing));
  EXPECT_FALSE(warned(withMeta(some, true), kSaysMissing));
  EXPECT_FALSE(warned(withMeta(R"({"heap": null})", false), kSaysMissing));
}

/// Blocks at one address are told apart by time.
TEST_F(MemoryOfBlocks, AreNotUsedWithoutTimes) {
  perfdata::testing::TempFolder folder;
  perfdata::testing::RecordBuilder builder;
  builder.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
                                             PERF_SAMPLE_DATA_SRC),
                "mem-loads", {1});
  perfdata::Features features;
  features.arch = "x86_64";
  builder.write(folder / "perf.data", features);
  file_.chunk(kPid, kPid);
  file_.allocate(500, kBlocks, 192);
  write(folder / "");
  const analysis::Recording recording = analysis::openRecording(folder / "");
  const analysis::Report report = analyze(*perfdata::Reader::open(recording.perfData), recording, {}, {});
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].find("Heap blocks were recorded"), std::string::npos) << report.warnings[0];
}

}  // namespace
}  // namespace cacheline::sharing
