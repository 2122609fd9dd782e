// Seeds for the fuzzers of native/perfdata: one recording in every form that the reader knows, written where
// the corpus is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/perfdata/file_builder.h"
#include "tests/perfdata/record_builder.h"

namespace cacheline::perfdata::testing {

/// The corpus folder, the last argument of a libFuzzer program that is no option, where it is an empty
/// folder; else "". Without files to start from a mutator never gets past the magic number.
inline std::string emptyCorpus(int argc, char** argv) {
  const std::string corpus = argc > 1 ? argv[argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !std::filesystem::is_directory(corpus)) return {};
  return std::filesystem::is_empty(corpus) ? corpus : std::string();
}

inline void writeSeed(const std::string& corpus, const std::string& name, const Bytes& bytes) {
  std::ofstream(corpus + "/" + name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// A recording with samples of two events, of fixed and of variable size, and records of every kind.
inline RecordBuilder seedRecording(ByteOrder order) {
  const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                          PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  perf_event_attr rich = clockAttr(common | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                                   PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
                                   PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX);
  rich.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  rich.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  rich.sample_regs_user = rich.sample_regs_intr = 0x103;
  RecordBuilder b(order);
  b.event(clockAttr(common | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR),
          "loads", {1, 2});
  b.event(rich, "rich", {3});
  b.thread(5, 6).at(1).comm("worker", true).mmap({.address = 0x1000, .length = 0x1000, .file = "//anon"});
  b.at(2).mmap2({.address = 0x400000, .length = 0x2000, .file = "/bin/w", .buildId = {1, 2, 3}}).fork(5, 7);
  for (uint64_t i = 0; i < 12; ++i) {
    SampleFields s{
        .ip = 0x400000 + i, .read = {1, 2, 3}, .callchain = {PERF_CONTEXT_USER, 1, 2}, .raw = {1, 2, 3, 4}};
    s.branches = {1, 2, 3};
    s.stack = Bytes(16, 1);
    s.aux = Bytes(8, 2);
    b.use(i % 2).cpu(0).at(100 + i).sample(s);
    if (i % 2 == 1) b.finishedRound();
  }
  b.use(0).lost(1).lostSamples(2).exit();
  ByteBuilder trace(order);
  trace.put(uint64_t{4}).put(uint64_t{0}).put(uint64_t{0}).put(uint32_t{0}).put(uint32_t{6}).put(uint64_t{0});
  b.raw(kRecordAuxtrace, 0, trace.bytes());
  b.records().resize(b.records().size() + 4, 7);
  for (const uint32_t type :
       {uint32_t{PERF_RECORD_AUX}, uint32_t{PERF_RECORD_SWITCH_CPU_WIDE}, uint32_t{PERF_RECORD_SWITCH},
        uint32_t{PERF_RECORD_KSYMBOL}, uint32_t{kRecordTimeConv}, uint32_t{kRecordAuxtraceInfo}})
    b.raw(type, 0, Bytes(32, 3), true);
  return b.finishedRound();
}

/// Content for feature bits that have a place in Features.
inline std::vector<FeatureBytes> seedFeatures(ByteOrder order) {
  const auto bytes = [order] { return ByteBuilder(order); };
  ByteBuilder topology = bytes(), numa = bytes(), memory = bytes(), cache = bytes(), caps = bytes(),
              id = bytes();
  topology.put(uint32_t{1}).putString("0").put(uint32_t{1}).putString("0").put(uint64_t{0}).put(uint32_t{0});
  numa.put(uint32_t{1}).put(uint32_t{0}).put(uint64_t{9}).put(uint64_t{8}).putString("0");
  memory.put(uint64_t{1}).put(uint64_t{4096}).put(uint64_t{1}).put(uint64_t{0}).put(uint64_t{3});
  memory.put(uint64_t{3}).put(uint64_t{5});
  cache.put(uint32_t{1}).put(uint32_t{1}).put(uint64_t{1}).put(uint64_t{64});
  cache.putString("Data").putString("32K").putString("0");
  caps.put(uint32_t{1}).put(uint32_t{1}).putString("branches").putString("32").putString("cpu");
  id.put(uint32_t{0})
      .put(uint16_t{2})
      .put(uint16_t{44})
      .put(uint32_t{5})
      .put(Bytes(24, 20))
      .put(Bytes{'/', 'x', 0, 0, 0, 0, 0, 0});
  return {{kFeatureBuildId, id.bytes()},
          {kFeatureHostname, bytes().putString("host").bytes()},
          {kFeatureNrCpus, bytes().put(uint32_t{1}).put(uint32_t{1}).bytes()},
          {kFeatureCmdline, bytes().put(uint32_t{1}).putString("perf").bytes()},
          {kFeatureEventDesc,
           bytes().put(uint32_t{1}).put(uint32_t{8}).zeros(8).put(uint32_t{0}).putString("e").bytes()},
          {kFeatureCpuTopology, topology.bytes()},
          {kFeatureNumaTopology, numa.bytes()},
          {kFeaturePmuMappings, bytes().put(uint32_t{1}).put(uint32_t{4}).putString("cpu").bytes()},
          {kFeatureGroupDesc, bytes().put(uint32_t{1}).putString("g").put(uint64_t{2}).bytes()},
          {kFeatureCache, cache.bytes()},
          {kFeatureSampleTime, bytes().put(uint64_t{1}).put(uint64_t{2}).bytes()},
          {kFeatureMemTopology, memory.bytes()},
          {kFeatureClockId, bytes().put(uint64_t{1}).bytes()},
          {kFeatureCompressed, bytes().zeros(20).bytes()},
          {kFeatureCpuPmuCaps, bytes().put(uint32_t{1}).putString("a").putString("b").bytes()},
          {kFeatureClockData, bytes().put(uint32_t{1}).zeros(20).bytes()},
          {kFeatureHybridTopology, bytes().put(uint32_t{1}).putString("cpu_core").putString("0").bytes()},
          {kFeaturePmuCaps, caps.bytes()}};
}

/// Fills an empty corpus with whole recordings: file and pipe, plain and compressed, either byte order.
inline void writeRecordingSeeds(int argc, char** argv) {
  const std::string corpus = emptyCorpus(argc, argv);
  if (corpus.empty()) return;
  for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign}) {
    const std::string suffix = order == ByteOrder::native ? "-native" : "-foreign";
    const RecordBuilder plain = seedRecording(order);
    writeSeed(corpus, "file" + suffix, fileBytes(plain, {.features = seedFeatures(order)}));
    ByteBuilder header(order);
    for (const FeatureBytes& feature : seedFeatures(order)) putFeature(header, feature.bit, feature.content);
    writeSeed(corpus, "pipe" + suffix, pipeBytes(plain, header.bytes()));
    for (const uint32_t type : {kRecordCompressed, kRecordCompressed2}) {
      RecordBuilder packed = plain;
      packed.records() = RecordCompressor(type, order).records(plain.records(), 500);
      packed.finishedRound();
      writeSeed(corpus, "file-z" + std::to_string(type) + suffix, fileBytes(packed));
      writeSeed(corpus, "pipe-z" + std::to_string(type) + suffix, pipeBytes(packed));
    }
  }
}

}  // namespace cacheline::perfdata::testing
