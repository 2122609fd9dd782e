// A small recording with a record of every kind that is delivered, in either byte order, and its description
// in words: what two readings of it must agree on.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "file_builder.h"
#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {

/// Two events, so that samples are told apart by their identifier, with fields of fixed and of variable size.
inline RecordBuilder exampleRecording(ByteOrder order = ByteOrder::native, uint64_t samples = 40) {
  const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                          PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  perf_event_attr loads = clockAttr(common | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
                                    PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE);
  loads.type = 4;
  loads.config = 0x1cd;
  loads.precise_ip = 2;
  perf_event_attr chains = clockAttr(common | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                                     PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER);
  RecordBuilder b(order);
  b.event(loads, "loads", {0x1'0000'0001, 0x1'0000'0002})
      .event(chains, "chains", {0x1'0000'0011, 0x1'0000'0012});
  b.thread(70000, 70000)
      .mmap({.address = 0xffffffff81000000,
             .length = 0x1000000,
             .misc = PERF_RECORD_MISC_KERNEL,
             .file = "[kernel.kallsyms]_text"});
  b.at(1001)
      .comm("worker", true)
      .mmap2({.address = 0x400000,
              .length = 0x2000,
              .major = 8,
              .minor = 1,
              .inode = 77,
              .file = "/usr/bin/worker"});
  b.at(1002).mmap2(
      {.address = 0x500000, .length = 0x1000, .file = "/lib/x.so", .buildId = {0xab, 0xcd, 0xef}});
  b.at(1003).fork(70000, 70001).thread(70000, 70001);
  for (uint64_t i = 0; i < samples; ++i) {
    SampleFields s;
    s.ip = 0x400100 + i;
    s.address = 0x7fff'0000'1000 + 64 * i;
    s.period = 1000 + i;
    s.callchain = {PERF_CONTEXT_USER, s.ip, 0x400200 + i};
    s.raw = Bytes(3 + i % 7, static_cast<uint8_t>(i));
    s.registers = {{kRegAx, i}, {kRegR15, ~i}};
    s.stack = Bytes(8 * (i % 3), 0x5a);
    s.weight = (100 + i) | (7 + i) << 32 | (9 + i) << 48;
    s.dataSource = 0x68100842 + (i << 33);
    s.physicalAddress = 0x1000 * i;
    b.use(i % 2).cpu(static_cast<uint32_t>(i / 2 % 2)).at(2000 + 10 * i).sample(s);
    if (i % 16 == 15) b.finishedRound();
  }
  return b.use(0).at(3000 + 10 * samples).lost(3).lostSamples(4).exit().finishedRound();
}

/// Everything that the example's records hold, a line each.
inline std::string described(const Collector& got) {
  std::ostringstream out;
  out << got.kinds() << std::hex << '\n';
  for (const auto& s : got.samples) {
    out << "sample " << s.event << ' ' << s.id << ' ' << s.ip << ' ' << s.pid << '/' << s.tid << ' ' << s.time
        << ' ' << s.address << ' ' << s.cpu << ' ' << s.period << ' ' << s.weight << ' '
        << s.instructionLatency << ' ' << s.pipelineStage << ' ' << s.dataSource << ' ' << s.physicalAddress
        << ' ' << s.dataPageSize << ' ' << s.registers.mask << ' ' << s.registers.value[kRegAx] << ' '
        << s.registers.value[kRegR15];
    for (const uint64_t address : s.chain) out << ' ' << address;
    out << '\n';
  }
  for (const auto& m : got.mmaps) {
    out << "mmap " << m.pid << '/' << m.tid << ' ' << m.address << ' ' << m.length << ' ' << m.pageOffset
        << ' ' << m.time << ' ' << m.major << ':' << m.minor << ' ' << m.inode << ' ' << m.protection << ' '
        << m.flags << ' ' << m.kernel << ' ' << m.buildId << ' ' << m.path << '\n';
  }
  for (const auto& c : got.comms)
    out << "comm " << c.pid << '/' << c.tid << ' ' << c.time << ' ' << c.text << '\n';
  for (const auto& t : got.forks) out << "fork " << t.tid << ' ' << t.parentTid << ' ' << t.time << '\n';
  for (const auto& t : got.exits) out << "exit " << t.tid << ' ' << t.time << '\n';
  for (const auto& l : got.lost) out << "lost " << l.count << ' ' << l.time << '\n';
  return out.str();
}

/// The same of a reading of `bytes`, which must be without warnings.
inline std::string readAndDescribe(const Bytes& bytes) {
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  for (const std::string& warning : reader->warnings()) ADD_FAILURE() << warning;
  return described(got);
}

}  // namespace cacheline::perfdata::testing
