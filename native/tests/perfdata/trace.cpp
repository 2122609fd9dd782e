// Records beside the samples: trace data and what a decoder of them needs, kernel symbols, context switches,
// and records that are only counted.
#include <gtest/gtest.h>

#include "file_builder.h"
#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

const std::vector<ByteOrder> kOrders = {ByteOrder::native, ByteOrder::foreign};

RecordBuilder builder(ByteOrder order) {
  RecordBuilder b(order);
  b.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                    PERF_SAMPLE_CPU),
          "e", {77});
  b.thread(70000, 70001).cpu(3);
  return b;
}

Collector read(const RecordBuilder& b, bool warningsWanted = false) {
  const Bytes bytes = fileBytes(b);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(!reader->warnings().empty(), warningsWanted);
  return got;
}

TEST(Trace, InfoAndConversionAndDataComeWhereTheyStand) {
  for (const ByteOrder order : kOrders) {
    RecordBuilder b = builder(order);
    b.raw(kRecordTimeConv, 0,
          ByteBuilder(order).put(uint64_t{10}).put(uint64_t{1 << 20}).put(uint64_t{99}).bytes());
    b.raw(
        kRecordAuxtraceInfo, 0,
        ByteBuilder(order).put(uint32_t{4}).put(uint32_t{0}).put(uint64_t{1} << 40).put(uint64_t{6}).bytes());
    b.at(10).sample({.ip = 1});
    ByteBuilder head(order);
    head.put(uint64_t{5})
        .put(uint64_t{0x1000})
        .put(uint64_t{0xabcdef0123})
        .put(uint32_t{2})
        .put(uint32_t{70001});
    b.raw(kRecordAuxtrace, 0, head.put(uint32_t{3}).put(uint32_t{0}).bytes());
    const Bytes data = {1, 2, 3, 4, 5};
    b.records().insert(b.records().end(), data.begin(), data.end());
    b.at(5).sample({.ip = 2});
    const Collector got = read(b);
    EXPECT_EQ(got.kinds(), "ciTSS");
    EXPECT_EQ(got.samples[0].ip, 2u) << "trace data do not stop the ordering";
    EXPECT_EQ(got.conversions[0].shift, 10u);
    EXPECT_EQ(got.conversions[0].multiplier, 1u << 20);
    EXPECT_EQ(got.conversions[0].zero, 99u);
    EXPECT_TRUE(got.conversions[0].capZero);
    EXPECT_FALSE(got.conversions[0].capShort);
    EXPECT_EQ(got.traceInfos[0].type, 4u);
    EXPECT_EQ(got.traceInfos[0].words, (std::vector<uint64_t>{uint64_t{1} << 40, 6}));
    EXPECT_EQ(got.traces[0].offset, 0x1000u);
    EXPECT_EQ(got.traces[0].reference, 0xabcdef0123u);
    EXPECT_EQ(got.traces[0].index, 2u);
    EXPECT_EQ(got.traces[0].tid, 70001u);
    EXPECT_EQ(got.traces[0].cpu, 3u);
    EXPECT_EQ(got.traces[0].content, data);
    EXPECT_TRUE(got.traces[0].lasting);
  }
}

TEST(Trace, ConversionsOfNewerRecordersSayMore) {
  RecordBuilder b = builder(ByteOrder::native);
  ByteBuilder body;
  body.put(uint64_t{10}).put(uint64_t{20}).put(uint64_t{30}).put(uint64_t{40}).put(~uint64_t{0} >> 8);
  b.raw(kRecordTimeConv, 0, body.put(uint8_t{0}).put(uint8_t{1}).zeros(6).bytes());
  const Collector got = read(b);
  EXPECT_EQ(got.conversions.at(0).cycles, 40u);
  EXPECT_EQ(got.conversions.at(0).mask, ~uint64_t{0} >> 8);
  EXPECT_FALSE(got.conversions.at(0).capZero);
  EXPECT_TRUE(got.conversions.at(0).capShort);
}

TEST(Trace, DataInsideOfCompressedRecords) {
  RecordBuilder b = builder(ByteOrder::native);
  RecordBuilder inner = b;
  const Bytes data(700'000, 0x42);  // more than a chunk
  ByteBuilder head;
  head.put(uint64_t{data.size()}).put(uint64_t{0}).put(uint64_t{0}).put(uint32_t{0}).put(uint32_t{1});
  inner.raw(kRecordAuxtrace, 0, head.put(uint32_t{1}).put(uint32_t{0}).bytes());
  inner.records().insert(inner.records().end(), data.begin(), data.end());
  inner.at(5).sample({.ip = 2});
  b.records() = RecordCompressor().records(inner.records(), 60'000);
  const Collector got = read(b);
  EXPECT_EQ(got.kinds(), "TS");
  EXPECT_EQ(got.traces.at(0).content, data);
  EXPECT_FALSE(got.traces.at(0).lasting);
}

TEST(Trace, AuxAndStartAndSwitchesAreInTimeOrder) {
  for (const ByteOrder order : kOrders) {
    RecordBuilder b = builder(order);
    b.at(40).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, {},
                 true);
    b.at(30).raw(PERF_RECORD_SWITCH_CPU_WIDE, 0, ByteBuilder(order).put(uint32_t{8}).put(uint32_t{9}).bytes(),
                 true);
    b.at(20).raw(PERF_RECORD_AUX, 0,
                 ByteBuilder(order).put(uint64_t{0x1000}).put(uint64_t{0x200}).put(uint64_t{3}).bytes(),
                 true);
    b.at(10).raw(PERF_RECORD_ITRACE_START, 0, ByteBuilder(order).put(uint32_t{6}).put(uint32_t{7}).bytes(),
                 true);
    const Collector got = read(b);
    EXPECT_EQ(got.kinds(), "IAWW");
    EXPECT_EQ(got.traceStarts[0].pid, 6u);
    EXPECT_EQ(got.traceStarts[0].tid, 7u);
    EXPECT_EQ(got.traceStarts[0].cpu, 3u);
    const Aux& aux = got.auxes[0];
    EXPECT_EQ(aux.offset, 0x1000u);
    EXPECT_EQ(aux.size, 0x200u);
    EXPECT_EQ(aux.flags, 3u);
    EXPECT_EQ(aux.time, 20u);
    EXPECT_EQ(aux.id, 77u);
    EXPECT_EQ(aux.pid, 70000u);
    EXPECT_EQ(aux.tid, 70001u);
    EXPECT_EQ(aux.cpu, 3u);
    EXPECT_EQ(got.switches[0].otherPid, 8u);
    EXPECT_EQ(got.switches[0].otherTid, 9u);
    EXPECT_FALSE(got.switches[0].out);
    EXPECT_EQ(got.switches[1].tid, 70001u);
    EXPECT_EQ(got.switches[1].otherTid, 0u);
    EXPECT_TRUE(got.switches[1].out);
    EXPECT_TRUE(got.switches[1].preempted);
    EXPECT_EQ(got.switches[1].time, 40u);
  }
}

TEST(Trace, KernelSymbolsComeAndGo) {
  for (const ByteOrder order : kOrders) {
    RecordBuilder b = builder(order);
    for (const uint16_t flags : {uint16_t{0}, uint16_t{PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER}}) {
      ByteBuilder body(order);
      body.put(uint64_t{0xffffffffc0001000}).put(uint32_t{0x180}).put(uint16_t{1}).put(flags);
      const std::string name = "bpf_prog_1234_x";
      b.at(50 + flags)
          .raw(PERF_RECORD_KSYMBOL, 0, body.put(Bytes(name.begin(), name.end())).zeros(1).bytes(), true);
    }
    const Collector got = read(b);
    ASSERT_EQ(got.ksymbols.size(), 2u);
    EXPECT_EQ(got.ksymbols[0].address, 0xffffffffc0001000u);
    EXPECT_EQ(got.ksymbols[0].length, 0x180u);
    EXPECT_EQ(got.ksymbols[0].text, "bpf_prog_1234_x");
    EXPECT_FALSE(got.ksymbols[0].unregister);
    EXPECT_TRUE(got.ksymbols[1].unregister);
    EXPECT_EQ(got.ksymbols[1].time, 51u);
  }
}

TEST(Trace, RecordsTooShortForWhatTheyAreAreCounted) {
  RecordBuilder b = builder(ByteOrder::native);
  for (const uint32_t type :
       {uint32_t{PERF_RECORD_KSYMBOL}, uint32_t{PERF_RECORD_AUX}, uint32_t{PERF_RECORD_ITRACE_START},
        uint32_t{PERF_RECORD_SWITCH_CPU_WIDE}, uint32_t{kRecordTimeConv}, uint32_t{kRecordAuxtraceInfo}}) {
    b.raw(type, 0, Bytes(type == PERF_RECORD_AUX ? 16 : 4));
  }
  b.raw(kRecordAuxtrace, 0, Bytes(8));  // of no bytes, from nowhere
  const Bytes bytes = fileBytes(b);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.kinds(), "");
  EXPECT_TRUE(warns(*reader, "7 records are shorter")) << reader->warnings().at(0);
}

TEST(Trace, OthersAreCountedAndPassedOver) {
  RecordBuilder b = builder(ByteOrder::native);
  const uint32_t types[] = {
      PERF_RECORD_THROTTLE,  PERF_RECORD_UNTHROTTLE, PERF_RECORD_READ,      PERF_RECORD_NAMESPACES,
      PERF_RECORD_BPF_EVENT, PERF_RECORD_CGROUP,     PERF_RECORD_TEXT_POKE, kRecordIdIndex,
      kRecordAuxtraceError,  kRecordThreadMap,       kRecordCpuMap,         kRecordStatConfig,
      kRecordStat,           kRecordStatRound,       kRecordEventUpdate,    kRecordFinishedInit};
  for (const uint32_t type : types) b.raw(type, 0, Bytes(24), true).raw(type, 0, {});
  b.at(5).sample({.ip = 1});
  const Bytes bytes = fileBytes(b);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.kinds(), "S");
  EXPECT_TRUE(reader->warnings().empty());
  for (const uint32_t type : types) EXPECT_EQ(reader->recordCounts()[type], 2u) << type;
}

}  // namespace
}  // namespace cacheline::perfdata::testing
