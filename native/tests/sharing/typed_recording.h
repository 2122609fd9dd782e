// Recordings of memory samples over a real compiled program.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "analysis/recording.h"
#include "sharing/analyze.h"
#include "symbols/elf_image.h"

namespace cacheline::sharing::test {

class TypedRecording {
 public:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint32_t kPid = 100;

  /// `registers`: the samples have them.
  explicit TypedRecording(bool registers) {
    uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_ADDR |
                    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
    if (registers) type |= PERF_SAMPLE_REGS_INTR;
    builder_.event(perfdata::testing::clockAttr(type), "mem-loads", {1});
    builder_.at(1).thread(kPid, kPid).comm("typed", true);
  }
  /// `program` is mapped `load bias` bytes from its ELF addresses.
  TypedRecording(const std::string& program, const symbols::ElfImage& image, uint64_t loadBias,
                 bool registers)
      : TypedRecording(registers) {
    for (const symbols::Segment& segment : image.segments()) {
      const uint64_t start = segment.address / kPage * kPage;
      builder_.mmap2({.address = start + loadBias,
                      .length = (segment.address + segment.fileSize - start + kPage - 1) / kPage * kPage,
                      .pageOffset = segment.fileOffset / kPage * kPage,
                      .major = 8,
                      .minor = 1,
                      .inode = 7,
                      .file = program});
    }
  }
  /// A kernel whose `_text` is at `text`, or the module of that file name.
  void kernel(uint64_t text, uint64_t length, const std::string& name = "[kernel.kallsyms]_text") {
    builder_.mmap({.address = text,
                   .length = length,
                   .pageOffset = text,
                   .misc = PERF_RECORD_MISC_KERNEL,
                   .file = name});
  }
  /// That the samples to come are taken on.
  void cpu(uint32_t number) { cpu_ = number; }
  void memory(uint64_t address, uint64_t length, const std::string& name) {
    builder_.mmap2(
        {.address = address, .length = length, .protection = PROT_READ | PROT_WRITE, .file = name});
  }
  /// A remote HITM at `ip` (of the process), 10 ns after the one before.
  void sample(uint32_t tid, uint64_t ip, uint64_t address, std::map<uint8_t, uint64_t> registers = {},
              uint16_t misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP) {
    perf_mem_data_src source{};
    source.mem_op = PERF_MEM_OP_LOAD;
    source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_REM_CCE1;
    source.mem_snoop = PERF_MEM_SNOOP_HITM;
    take(source, tid, ip, address, std::move(registers), misc);
  }
  void localHitm(uint32_t tid, uint64_t ip, uint64_t address) {
    perf_mem_data_src source{};
    source.mem_op = PERF_MEM_OP_LOAD;
    source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3;
    source.mem_snoop = PERF_MEM_SNOOP_HITM;
    take(source, tid, ip, address, {}, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
  }
  void store(uint32_t tid, uint64_t ip, uint64_t address) {
    perf_mem_data_src source{};
    source.mem_op = PERF_MEM_OP_STORE;
    source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1;
    take(source, tid, ip, address, {}, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
  }
  /// Cycles of the loads to come.
  void cycles(uint64_t number) { cycles_ = number; }
  /// Of all lines, or of those that a report lists, by one thread, by two and by five. `beside` writes what
  /// else the recording's folder has.
  analysis::Report report(Options options = {}, perfdata::Features features = {},
                          const std::function<void(const std::string& folder)>& beside = {},
                          bool all = true) {
    const std::string path = folder_ / "perf.data";
    features.arch = "x86_64";
    builder_.write(path, features);
    if (beside) beside(folder_ / "");
    const analysis::Recording recording = analysis::openRecording(folder_ / "");
    options.showAll = all;
    options.threads = 1;
    const analysis::Report alone = analyze(*perfdata::Reader::open(path), recording, options, {});
    for (const unsigned threads : {2u, 5u}) {
      options.threads = threads;
      EXPECT_EQ(analysis::reportJson(analyze(*perfdata::Reader::open(path), recording, options, {})),
                analysis::reportJson(alone))
          << threads << " threads";
    }
    options.threads = 2;
    return analyze(*perfdata::Reader::open(path), recording, options, {});
  }

 private:
  void take(const perf_mem_data_src& source, uint32_t tid, uint64_t ip, uint64_t address,
            std::map<uint8_t, uint64_t> registers, uint16_t misc) {
    builder_.at(time_ += 10)
        .thread(kPid, tid)
        .cpu(cpu_)
        .sample({.ip = ip,
                 .address = address,
                 .misc = misc,
                 .weight = cycles_,
                 .dataSource = source.val,
                 .registers = std::move(registers)});
  }

  perfdata::testing::TempFolder folder_;
  perfdata::testing::RecordBuilder builder_;
  uint64_t time_ = 1000;
  uint32_t cpu_ = 0;
  uint64_t cycles_ = 200;
};

}  // namespace cacheline::sharing::test
