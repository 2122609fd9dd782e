// Packets and records: every kind, every size, bytes that are no packets, and buffers that break off.
#include <gtest/gtest.h>

#include "spe/record.h"
#include "spe_builder.h"

namespace cacheline::spe::testing {
namespace {

Packet parse(const std::vector<uint8_t>& bytes, uint64_t auxOffset = 0) {
  Packet packet;
  EXPECT_TRUE(parsePacket(bytes, auxOffset, packet));
  return packet;
}

std::vector<SpeRecord> decode(const std::vector<uint8_t>& bytes, DecodeCounts* counts = nullptr) {
  SpeBuffer buffer(bytes);
  std::vector<SpeRecord> records;
  SpeRecord record;
  while (buffer.next(record)) records.push_back(record);
  EXPECT_EQ(buffer.position(), bytes.size());
  if (counts != nullptr) *counts = buffer.counts();
  return records;
}

void appendRecord(SpeBuilder& b, uint64_t number) {
  b.pc(0x400000 + 4 * number, 0).virtualAddress(0x10000 + 64 * number).total(100).load().timestamp(number);
}

TEST(Packets, EveryKindHasItsSizeAndIndex) {
  struct Case {
    SpeBuilder built;
    PacketKind kind;
    unsigned index;
    uint64_t payload;
    size_t size;
  };
  const Case cases[] = {
      {SpeBuilder().pad(), PacketKind::padding, 0, 0, 1},
      {SpeBuilder().end(), PacketKind::end, 0, 0, 1},
      {SpeBuilder().timestamp(0x1122334455667788), PacketKind::timestamp, 0, 0x1122334455667788, 9},
      {SpeBuilder().events(0xa5, 1), PacketKind::events, 0, 0xa5, 2},
      {SpeBuilder().events(0xa5b6, 2), PacketKind::events, 0, 0xa5b6, 3},
      {SpeBuilder().events(0xa5b6c7d8, 4), PacketKind::events, 0, 0xa5b6c7d8, 5},
      {SpeBuilder().events(0xa5b6c7d8e9fa0b1c, 8), PacketKind::events, 0, 0xa5b6c7d8e9fa0b1c, 9},
      {SpeBuilder().dataSource(0x0d), PacketKind::dataSource, 0, 0x0d, 2},
      {SpeBuilder().dataSource(0x1234, 2), PacketKind::dataSource, 0, 0x1234, 3},
      {SpeBuilder().context(0xdeadbeef, 1), PacketKind::context, 0, 0xdeadbeef, 5},
      {SpeBuilder().context(4711, 2), PacketKind::context, 1, 4711, 5},
      {SpeBuilder().operation(1, 0x16), PacketKind::operation, 1, 0x16, 2},
      {SpeBuilder().operation(2, 0x03), PacketKind::operation, 2, 0x03, 2},
      {SpeBuilder().counter(2, 0xfedc), PacketKind::counter, 2, 0xfedc, 3},
      {SpeBuilder().counter(2, 0xfedc, true), PacketKind::counter, 2, 0xfedc, 4},
      {SpeBuilder().counter(29, 7), PacketKind::counter, 29, 7, 4},
      {SpeBuilder().address(3, 0x8000001234567890), PacketKind::address, 3, 0x8000001234567890, 9},
      {SpeBuilder().address(17, 5), PacketKind::address, 17, 5, 10},
  };
  for (const Case& c : cases) {
    const Packet packet = parse(c.built.bytes());
    EXPECT_EQ(packet.kind, c.kind) << static_cast<int>(c.kind);
    EXPECT_EQ(packet.index, c.index) << static_cast<int>(c.kind);
    EXPECT_EQ(packet.payload, c.payload) << static_cast<int>(c.kind);
    EXPECT_EQ(packet.size, c.size) << static_cast<int>(c.kind);
    EXPECT_EQ(packet.size, c.built.bytes().size());
  }
}

TEST(Packets, OneThatBreaksOffIsNone) {
  const std::vector<uint8_t> whole[] = {SpeBuilder().timestamp(1).bytes(), SpeBuilder().address(9, 1).bytes(),
                                        SpeBuilder().context(1).bytes(), SpeBuilder().events(1, 2).bytes()};
  for (const auto& bytes : whole) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      Packet packet;
      EXPECT_FALSE(parsePacket({bytes.data(), size}, 0, packet)) << size << " of " << bytes.size();
    }
  }
}

TEST(Packets, ReservedHeadersAreOneBadByte) {
  size_t bad = 0;
  for (unsigned header = 0; header < 256; ++header) {
    std::vector<uint8_t> bytes(16, 0xff);
    bytes[0] = static_cast<uint8_t>(header);
    const Packet packet = parse(bytes);
    if (packet.kind != PacketKind::bad) continue;
    EXPECT_EQ(packet.size, 1u);
    ++bad;
  }
  // Known: padding, end, timestamp, 4 events, 4 sources, 4 contexts, 4 operations, 8 addresses, 8 counters.
  EXPECT_EQ(bad, 256u - 35u);  // an extension byte before 0xff is bad too
}

TEST(Packets, AlignmentFillsUpToAPlaceInTheAuxBuffer) {
  std::vector<uint8_t> bytes = SpeBuilder().alignment(2).pad(14).bytes();  // to a multiple of 8
  EXPECT_EQ(parse(bytes, 0).size, 8u);
  EXPECT_EQ(parse(bytes, 3).size, 5u);
  EXPECT_EQ(parse(bytes, 6).size, 2u);
  EXPECT_EQ(parse(bytes, 7).size, 9u) << "the header itself is two bytes";
  bytes.resize(3);
  EXPECT_EQ(parse(bytes, 0).size, 3u) << "no further than the bytes go";
}

TEST(Records, HoldWhatTheirPacketsSay) {
  const auto bytes = SpeBuilder()
                         .pc(0xffff800010123456, 2)
                         .target(0x412340, 0)
                         .virtualAddress(0x0000aaaabbbb1234, 0x5a)
                         .physicalAddress(0x8123456780)
                         .address(4, 0x8000000000400100)
                         .total(1234)
                         .issue(56)
                         .translation(7)
                         .context(41, 1)
                         .context(42, 2)
                         .store(0x16)
                         .events(kEventRetired | kEventL1dRefill | kEventL2dMiss)
                         .dataSource(0x0b)
                         .timestamp(0x123456789)
                         .bytes();
  const auto records = decode(bytes);
  ASSERT_EQ(records.size(), 1u);
  const SpeRecord& r = records[0];
  EXPECT_EQ(r.pc, 0xffff800010123456u);
  EXPECT_EQ(r.exceptionLevel, 2);
  EXPECT_TRUE(r.nonSecure);
  EXPECT_EQ(r.branchTarget, 0x412340u);
  EXPECT_EQ(r.previousBranchTarget, 0x400100u);
  EXPECT_EQ(r.virtualAddress, 0x0000aaaabbbb1234u);
  EXPECT_EQ(r.physicalAddress, 0x8123456780u);
  EXPECT_EQ(r.totalLatency, 1234);
  EXPECT_EQ(r.issueLatency, 56);
  EXPECT_EQ(r.translationLatency, 7);
  EXPECT_EQ(r.contextEl1, 41u);
  EXPECT_EQ(r.contextEl2, 42u);
  EXPECT_EQ(r.operation.kind, OperationClass::store);
  EXPECT_EQ(r.operation.flags, kAtomic | kAcquireRelease);
  EXPECT_EQ(r.events, kEventRetired | kEventL1dRefill | kEventL2dMiss);
  EXPECT_EQ(r.dataSource, 0x0bu);
  EXPECT_EQ(r.timestamp, 0x123456789u);
  EXPECT_EQ(r.parts, kPartTimestamp * 2 - 1);
}

TEST(Records, KernelAddressesGetTheirHighByteBack) {
  const auto records = decode(SpeBuilder()
                                  .pc(0xffff000008080000, 1)
                                  .virtualAddress(0xffff000012345678, 0x00)
                                  .end()
                                  .pc(0x0000000008080000, 1, false)  // secure world
                                  .virtualAddress(0x00f0000012345678, 0x11)
                                  .end()
                                  .bytes());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].pc, 0xffff000008080000u);
  EXPECT_EQ(records[0].virtualAddress, 0xffff000012345678u);
  EXPECT_EQ(records[1].pc, 0x8080000u);
  EXPECT_FALSE(records[1].nonSecure);
  EXPECT_EQ(records[1].virtualAddress, 0xfff0000012345678u);
}

TEST(Records, EndAtAnEndOrATimestamp) {
  DecodeCounts counts;
  const auto records =
      decode(SpeBuilder().pc(1, 0).end().pad(100).end().pc(2, 0).timestamp(5).pad(3).pc(3, 0).end().bytes(),
             &counts);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_FALSE(records[0].has(kPartTimestamp));
  EXPECT_EQ(records[1].pc, 2u);
  EXPECT_EQ(records[1].timestamp, 5u);
  EXPECT_EQ(records[1].position, 9u + 1 + 100 + 1);
  EXPECT_FALSE(records[2].has(kPartTimestamp)) << "nothing of the record before";
  EXPECT_EQ(counts.records, 3u);
  EXPECT_EQ(counts.packets, 7u);
  EXPECT_EQ(counts.badBytes + counts.droppedRecords + counts.truncatedRecords, 0u);
}

TEST(Records, UnknownIndicesAreSkipped) {
  const auto records =
      decode(SpeBuilder().address(12, 99).counter(7, 99).pc(1, 0).raw({0x66, 1, 0, 0, 0}).end().bytes());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].parts, kPartUnknown | kPartPc);
}

TEST(Records, OperationsOfEveryClass) {
  struct Case {
    unsigned index;
    unsigned payload;
    OperationClass kind;
    unsigned flags, vectorBits;
  };
  const Case cases[] = {
      {1, 0x00, OperationClass::load, kGeneralRegister, 0},
      {1, 0x01, OperationClass::store, kGeneralRegister, 0},
      {1, 0x04, OperationClass::load, kSimdFp, 0},
      {1, 0x10, OperationClass::load, 0, 0},  // unspecified registers
      {1, 0x15, OperationClass::store, kTag, 0},
      {1, 0x30, OperationClass::load, kSystemRegister, 0},
      {1, 0x20, OperationClass::load, kCopy, 0},
      {1, 0x21, OperationClass::store, kCopy, 0},
      {1, 0x25, OperationClass::store, kSet, 0},
      {1, 0x02, OperationClass::load, 0, 0},
      {1, 0x06, OperationClass::load, kAtomic, 0},
      {1, 0x0b, OperationClass::store, kExclusive, 0},
      {1, 0x12, OperationClass::load, kAcquireRelease, 0},
      {1, 0x1f, OperationClass::store, kAtomic | kExclusive | kAcquireRelease, 0},
      {1, 0x28, OperationClass::load, kVector, 128},
      {1, 0xbd, OperationClass::store, kVector | kPredicated | kGatherScatter, 256},
      {1, 0x41, OperationClass::store, kGuardedStack, 0},
      {2, 0x00, OperationClass::branch, 0, 0},
      {2, 0x01, OperationClass::branch, kConditional, 0},
      {2, 0x02, OperationClass::branch, kIndirect, 0},
      {0, 0x00, OperationClass::other, 0, 0},
      {0, 0x01, OperationClass::other, kConditional, 0},
      {0, 0x4c, OperationClass::other, kVector | kPredicated, 512},
      {0, 0x88, OperationClass::other, kVector, 0},
      {3, 0x00, OperationClass::none, 0, 0},
  };
  for (const Case& c : cases) {
    const Operation operation = operationOf(static_cast<uint8_t>(c.index), c.payload);
    EXPECT_EQ(operation.kind, c.kind) << c.index << ": " << std::hex << c.payload;
    EXPECT_EQ(operation.flags, c.flags) << c.index << ": " << std::hex << c.payload;
    EXPECT_EQ(operation.vectorBits, c.vectorBits) << c.index << ": " << std::hex << c.payload;
  }
}

TEST(Damage, ABadByteDropsItsRecordOnly) {
  SpeBuilder b;
  appendRecord(b, 1);
  b.pc(0x400008, 0).raw({0xff}).virtualAddress(0x10080).load().timestamp(2);
  appendRecord(b, 3);
  DecodeCounts counts;
  const auto records = decode(b.bytes(), &counts);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].timestamp, 1u);
  EXPECT_EQ(records[1].timestamp, 3u);
  EXPECT_EQ(records[1].virtualAddress, 0x10000u + 64 * 3);
  EXPECT_EQ(counts.badBytes, 1u);
  EXPECT_EQ(counts.droppedRecords, 2u) << "the piece before the byte, and the one after";
}

TEST(Damage, BadBytesBetweenRecordsDropNone) {
  SpeBuilder b;
  appendRecord(b, 1);
  b.raw({0xff, 0xfe, 0xfd});
  appendRecord(b, 2);
  DecodeCounts counts;
  EXPECT_EQ(decode(b.bytes(), &counts).size(), 2u);
  EXPECT_EQ(counts.badBytes, 3u);
  EXPECT_EQ(counts.droppedRecords, 0u);
  SpeBuffer buffer(b.bytes());
  SpeRecord record;
  EXPECT_EQ(buffer.firstBad(), b.bytes().size());
  while (buffer.next(record)) {
  }
  EXPECT_EQ(buffer.firstBad(), 9u + 9 + 3 + 2 + 9);
}

TEST(Damage, PayloadThatLooksLikePacketsIsNoRecord) {
  // After the bad byte: a load and an END, then an address that swallows the rest of its record. So it lasts
  // into record 2, which then has two addresses.
  SpeBuilder b;
  b.pc(0x400000, 0).raw({0xff, 0x49, 0x00, 0x01, 0xb2}).load().timestamp(1);
  for (uint64_t i = 2; i < 6; ++i) appendRecord(b, i);
  DecodeCounts counts;
  const auto records = decode(b.bytes(), &counts);
  ASSERT_EQ(records.size(), 3u);
  for (const SpeRecord& record : records) {
    EXPECT_EQ(record.pc, 0x400000 + 4 * record.timestamp);
    EXPECT_EQ(record.virtualAddress, 0x10000 + 64 * record.timestamp);
  }
  EXPECT_EQ(records.front().timestamp, 3u);
  EXPECT_EQ(counts.badBytes, 1u);
  EXPECT_EQ(counts.droppedRecords, 3u);
}

TEST(Damage, EveryCutIsSaid) {
  SpeBuilder b;
  for (uint64_t i = 0; i < 3; ++i) appendRecord(b, i);
  const size_t size = b.bytes().size() / 3;
  for (size_t cut = 0; cut <= b.bytes().size(); ++cut) {
    DecodeCounts counts;
    const auto records =
        decode({b.bytes().begin(), b.bytes().begin() + static_cast<ptrdiff_t>(cut)}, &counts);
    EXPECT_EQ(records.size(), cut / size) << cut;
    EXPECT_EQ(counts.truncatedRecords, cut % size != 0 ? 1u : 0u) << cut;
    EXPECT_EQ(counts.truncatedBytes, cut % size) << cut;
    EXPECT_EQ(counts.badBytes, 0u) << cut;
  }
}

/// Every byte of a buffer replaced by every value: later records must come out unharmed.
TEST(Damage, ADamagedByteCostsAtMostItsNeighbours) {
  SpeBuilder b;
  for (uint64_t i = 1; i <= 6; ++i) appendRecord(b, i);
  const size_t size = b.bytes().size() / 6;
  for (size_t at = size; at < 2 * size; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<uint8_t> bytes = b.bytes();
      bytes[at] = static_cast<uint8_t>(value);
      const auto records = decode(bytes);
      ASSERT_GE(records.size(), 4u) << at << " " << value;
      ASSERT_EQ(records.front().timestamp, 1u) << at << " " << value;
      for (size_t i = 0; i < 3; ++i) {
        const SpeRecord& record = records[records.size() - 3 + i];
        ASSERT_EQ(record.timestamp, 4 + i) << at << " " << value;
        ASSERT_EQ(record.pc, 0x400000 + 4 * (4 + i)) << at << " " << value;
        ASSERT_EQ(record.virtualAddress, 0x10000 + 64 * (4 + i)) << at << " " << value;
      }
    }
  }
}

}  // namespace
}  // namespace cacheline::spe::testing
