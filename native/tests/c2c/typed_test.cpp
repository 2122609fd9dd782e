// Memory samples have no registers: the types of what they touch are followed through the code.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "analysis/recording.h"
#include "c2c/analyze.h"
#include "symbols/elf_image.h"

namespace cacheline::c2c {
namespace {

constexpr const char* kSource = R"(
struct worker { long id; long count; long spare; };
struct worker total = {1};
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
__attribute__((noinline)) void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
__attribute__((noinline)) void add(void) { ACCESS(add_total, total.count); }
void _start(void) { bump(&total); add(); }
)";
constexpr uint64_t kHeap = 0x5000000;
constexpr uint64_t kPage = 4096;

std::string build(const perfdata::testing::TempFolder& folder) {
  const std::string source = folder / "typed.c", path = folder / "typed";
  std::ofstream(source) << kSource;
  const std::string command = std::string(CACHELINE_TEST_CC) +
                              " -g -O1 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector -o " +
                              path + " " + source;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
  return path;
}

uint64_t remoteHitm() {
  perf_mem_data_src word{};
  word.mem_op = PERF_MEM_OP_LOAD;
  word.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1;
  word.mem_snoop = PERF_MEM_SNOOP_HITM;
  return word.val;
}

TEST(TypedMemory, RowsAreNamedByVariableAndByTheTypeFollowedThroughTheCode) {
  const perfdata::testing::TempFolder folder;
  const std::string program = build(folder);
  const auto image = symbols::ElfImage::open(program);
  perfdata::testing::RecordBuilder builder;
  perf_event_attr attr =
      perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                                   PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT);
  builder.event(attr, "mem-loads", {1}).at(1).thread(100, 100).comm("typed", true);
  for (const symbols::Segment& segment : image->segments()) {
    const uint64_t start = segment.address / kPage * kPage;
    builder.mmap2({.address = start,
                   .length = (segment.address + segment.fileSize - start + kPage - 1) / kPage * kPage,
                   .pageOffset = segment.fileOffset / kPage * kPage,
                   .major = 8,
                   .minor = 1,
                   .inode = 7,
                   .file = program});
  }
  builder.mmap2({.address = kHeap, .length = kPage, .protection = PROT_READ | PROT_WRITE, .file = "[heap]"});
  const auto sample = [&](uint64_t time, uint32_t tid, const char* access, uint64_t address) {
    builder.at(time).thread(100, tid).sample({.ip = image->addressOfSymbol(access).value(),
                                              .address = address,
                                              .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
                                              .weight = 200,
                                              .dataSource = remoteHitm()});
  };
  const uint64_t total = image->addressOfSymbol("total").value();
  for (uint64_t i = 0; i < 10; ++i) {
    sample(100 + i * 10, 100 + i % 2, "bump_count", kHeap + 24 + 8);
    sample(105 + i * 10, 101 - i % 2, "add_total", total + 8);
  }
  const std::string path = folder / "perf.data";
  perfdata::Features features;
  features.arch = "x86_64";
  builder.write(path, features);

  const analysis::Recording recording = analysis::openRecording(path);
  const auto reader = perfdata::Reader::open(path);
  Options options;
  options.showAll = true;
  const analysis::Report report = analyze(*reader, recording, options, {});
  ASSERT_EQ(report.lines.size(), 2u);
  for (const analysis::Line& line : report.lines) {
    ASSERT_EQ(line.accesses.size(), 1u);
    const analysis::DataName& data = line.accesses[0].data;
    const bool heap = line.address == kHeap;
    EXPECT_EQ(data.how, heap ? analysis::How::code : analysis::How::global);
    EXPECT_EQ(data.object, heap ? "[heap]" : "total");
    EXPECT_EQ(data.type, "worker");
    EXPECT_EQ(data.field, "count");
    EXPECT_EQ(data.base, heap ? kHeap + 24 : total);
  }
  ASSERT_EQ(report.types.size(), 1u);
  EXPECT_EQ(report.types[0].instances, 2u);
  EXPECT_EQ(report.types[0].memory->remoteHitm, 20u);
  ASSERT_EQ(report.types[0].fields.size(), 1u);
  EXPECT_EQ(report.types[0].fields[0].meanCycles, 200);
}

}  // namespace
}  // namespace cacheline::c2c
