// Tables of Arm SPE recordings, whose samples have no HITM and come in their order only.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "profile/profile.h"
#include "spe/spe_recording.h"
#include "tables/table.h"

namespace cacheline::tables {
namespace {

using spe::testing::SpeBuilder;
using spe::testing::SpeRecording;

constexpr uint32_t kParts = 8;
constexpr uint64_t kEach = 400;  // samples of a thread

/// Two threads on two CPUs, each at its own word of one line; of four accesses one is a store, and one a load
/// that another core answered.
SpeRecording atOneLine() {
  constexpr uint64_t kLine = 0x7f0000001040;
  SpeRecording recording;
  for (uint32_t cpu = 0; cpu < 2; ++cpu) {
    SpeBuilder builder;
    for (uint64_t i = 0; i < kEach; ++i) {
      builder.pc(0x400100 + 4 * cpu, 0).context(100 + cpu).total(static_cast<uint16_t>(20 + i));
      if (i % 4 == 0)
        builder.store();
      else
        builder.load().dataSource(i % 4 == 1 ? 9 : 0);  // of a Neoverse N1: a peer core, the own L1
      builder.virtualAddress(kLine + 8 * cpu)
          .physicalAddress(0x80001040 + 8 * cpu)
          .timestamp(1000 + 2 * i + cpu);
    }
    std::vector<uint8_t> bytes = builder.bytes();
    bytes.resize((bytes.size() + 7) / 8 * 8);
    recording.pieces.push_back({cpu, recording.conversion.time(1000 + 2 * kEach), bytes});
  }
  return recording;
}

Table speTable(const std::vector<Key>& by) {
  const perfdata::testing::TempFolder folder;
  atOneLine().write(folder / "perf.data");
  sharing::Options options;
  options.showAll = true;
  options.splits = splitsFor(by, kParts);
  return tableOf(profile::Profile(folder / "perf.data", options, {}, {}).takeReport(), by);
}

TEST(SpeTable, TellsPeersAndNoHitm) {
  for (const Key key : kKeys) {
    const Table table = speTable({key});
    SCOPED_TRACE(keyName(key));
    EXPECT_EQ(table.samples, 2 * kEach);
    uint64_t peers = 0, samples = 0, contended = 0;
    for (const Row& row : table.rows) {
      EXPECT_FALSE(row.hitm);
      EXPECT_FALSE(row.contendedNs);
      peers += row.peer.value();
      samples += row.samples;
      contended += row.contended;
    }
    EXPECT_EQ(samples, 2 * kEach);
    EXPECT_EQ(peers, 2 * kEach / 4);
    EXPECT_EQ(contended, table.contended);
    EXPECT_GT(contended, 0u);
  }
}

TEST(SpeTable, HasThreadsCpusAndTimes) {
  for (const Key key : {Key::thread, Key::cpu}) {
    const Table table = speTable({key});
    ASSERT_EQ(table.rows.size(), 2u);
    for (const Row& row : table.rows) {
      EXPECT_EQ(row.samples, kEach);
      EXPECT_NEAR(row.bounce.value(), 0.25, 1e-9);
    }
  }
  const Table times = speTable({Key::time});
  ASSERT_EQ(times.rows.size(), kParts);
  for (const Row& row : times.rows) EXPECT_NEAR(static_cast<double>(row.samples), 2.0 * kEach / kParts, 2);
}

}  // namespace
}  // namespace cacheline::tables
