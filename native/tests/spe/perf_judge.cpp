// The installed perf as judge: its text of every packet, and the memory samples it synthesises. perf 6.1 is
// the one whose mapping of data sources is ours; the differences are in spe/data_source.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <random>
#include <sstream>
#include <tuple>

#include "perfdata/test_support.h"
#include "spe_recording.h"

namespace cacheline::spe::testing {
namespace {

using perfdata::testing::runShell;
using perfdata::testing::TempFolder;

constexpr uint64_t kEventsOf61 = 0xfff | kEventPartialPredicate | kEventEmptyPredicate;

/// Standard output of perf.
std::string perf(const std::string& arguments) {
  const auto [output, status] = runShell("perf " + arguments + " 2>/dev/null");
  EXPECT_EQ(status, 0) << "perf " << arguments << "\n" << output;
  return output;
}

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

std::string describeOperation(const Packet& packet) {
  const Operation operation = operationOf(packet.index, packet.payload);
  std::string text;
  const auto say = [&](OperationFlag flag, const char* word) {
    if ((operation.flags & flag) != 0) text += word;
  };
  switch (operation.kind) {
    case OperationClass::none:
      return "OP-TYPE 0x" + hex(packet.payload) + " (" + std::to_string(packet.index) + ")";
    case OperationClass::branch:
      text = "B";
      say(kConditional, " COND");
      say(kIndirect, " IND");
      return text;
    case OperationClass::other:
      if ((operation.flags & kVector) == 0)
        return (operation.flags & kConditional) != 0 ? "OTHER COND-SELECT" : "OTHER INSN-OTHER";
      text = "SVE-OTHER EVLEN " + std::to_string(operation.vectorBits);
      if ((packet.payload & 2) != 0) text += " FP";
      say(kPredicated, " PRED");
      return text;
    case OperationClass::load:
      text = "LD";
      break;
    case OperationClass::store:
      text = "ST";
      break;
  }
  say(kAtomic, " AT");
  say(kExclusive, " EXCL");
  say(kAcquireRelease, " AR");
  say(kSimdFp, " SIMD-FP");
  say(kGeneralRegister, " GP-REG");
  say(kSystemRegister, " NV-SYSREG");
  if (operation.vectorBits != 0) text += " EVLEN " + std::to_string(operation.vectorBits);
  say(kPredicated, " PRED");
  say(kGatherScatter, " SG");
  return text;
}

std::string describeEvents(uint64_t events) {
  constexpr std::pair<uint64_t, const char*> kNames[] = {{kEventException, "EXCEPTION-GEN"},
                                                         {kEventRetired, "RETIRED"},
                                                         {kEventL1dAccess, "L1D-ACCESS"},
                                                         {kEventL1dRefill, "L1D-REFILL"},
                                                         {kEventTlbAccess, "TLB-ACCESS"},
                                                         {kEventTlbWalk, "TLB-REFILL"},
                                                         {kEventNotTaken, "NOT-TAKEN"},
                                                         {kEventMispredicted, "MISPRED"},
                                                         {kEventLlcAccess, "LLC-ACCESS"},
                                                         {kEventLlcMiss, "LLC-REFILL"},
                                                         {kEventRemoteAccess, "REMOTE-ACCESS"},
                                                         {kEventMisaligned, "ALIGNMENT"},
                                                         {kEventPartialPredicate, "SVE-PARTIAL-PRED"},
                                                         {kEventEmptyPredicate, "SVE-EMPTY-PRED"}};
  std::string text = "EV";
  for (const auto& [bit, name] : kNames)
    if ((events & bit) != 0) text += std::string(" ") + name;
  return text;
}

std::string describeAddress(const Packet& packet) {
  constexpr const char* kNames[] = {"PC", "TGT"};
  const uint64_t low = packet.payload & ((uint64_t{1} << 56) - 1);
  const std::string nonSecure = std::to_string(packet.payload >> 63);
  switch (packet.index) {
    case kAddressVirtual:
      return "VA 0x" + hex(packet.payload);
    case kAddressPhysical:
      return "PA 0x" + hex(low) + " ns=" + nonSecure + " ch=" + std::to_string((packet.payload >> 62) & 1) +
             " pat=" + hex((packet.payload >> 56) & 0xf);
    case kAddressPc:
    case kAddressBranchTarget:
      return std::string(kNames[packet.index]) + " 0x" + hex(low) + " el" +
             std::to_string((packet.payload >> 61) & 3) + " ns=" + nonSecure;
    default:
      return "ADDR 0x" + hex(packet.payload) + " (" + std::to_string(packet.index) + ")";
  }
}

/// A packet in the words of perf 6.1.
std::string describe(const Packet& packet) {
  constexpr const char* kCounters[] = {"TOT", "ISSUE", "XLAT"};
  switch (packet.kind) {
    case PacketKind::bad:
      return "Bad packet!";
    case PacketKind::padding:
    case PacketKind::alignment:
      return "PAD";
    case PacketKind::end:
      return "END";
    case PacketKind::timestamp:
      return "TS " + std::to_string(packet.payload);
    case PacketKind::address:
      return describeAddress(packet);
    case PacketKind::counter:
      return "LAT " + std::to_string(packet.payload) + " " +
             (packet.index < 3 ? kCounters[packet.index] : "");
    case PacketKind::context:
      return "CONTEXT 0x" + hex(packet.payload) + " el" + std::to_string(packet.index + 1);
    case PacketKind::operation:
      return describeOperation(packet);
    case PacketKind::events:
      return describeEvents(packet.payload);
    case PacketKind::dataSource:
      return "DATA-SOURCE " + std::to_string(packet.payload);
  }
  return {};
}

/// What a sample says, in a form both sides can print: thread, CPU, ns, IP, address, physical address,
/// weight, data source.
using Row = std::tuple<int, int, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;

constexpr uint64_t kWithoutLevelNumber = ~(uint64_t{0xf} << PERF_MEM_LVLNUM_SHIFT);

class SpeJudge : public ::testing::Test {
 protected:
  void SetUp() override {
    CACHELINE_NEEDS_PERF();
    const std::string version = perf("--version");
    if (version.find("perf version 6.1.") == std::string::npos)
      GTEST_SKIP() << "this test knows the words and the data sources of perf 6.1; installed is " << version;
    if (perf("version --build-options").find("[ on  ]  # HAVE_AUXTRACE_SUPPORT") == std::string::npos)
      GTEST_SKIP() << "the installed perf is built without AUX area tracing";
  }

  std::vector<Row> samplesOfPerf(const SpeRecording& recording, uint64_t sourceMask = ~uint64_t{0}) const {
    const std::string path = folder_ / "perf.data";
    recording.write(path);
    std::istringstream text(perf("script -i " + path +
                                 " --itrace=M --ns -F tid,cpu,time,event,ip,addr,data_src,weight,phys_addr"));
    std::vector<Row> rows;
    for (std::string line; std::getline(text, line);) {
      std::istringstream words(line);
      std::vector<std::string> all;
      for (std::string word; words >> word;) all.push_back(word);
      if (all.size() < 8 || all[3] != "memory:") {
        ADD_FAILURE() << "perf printed: " << line;
        continue;
      }
      const auto number = [](const std::string& digits, int base) {
        return std::stoull(digits, nullptr, base);
      };
      const std::string seconds = all[2].substr(0, all[2].find('.')),
                        fraction = all[2].substr(all[2].find('.') + 1, 9);
      const size_t n = all.size();
      rows.emplace_back(std::stoi(all[0]), std::stoi(all[1].substr(1)),
                        number(seconds, 10) * 1'000'000'000 + number(fraction, 10), number(all[n - 2], 16),
                        number(all[4], 16), number(all[n - 1], 16), number(all[n - 3], 10),
                        number(all[5], 16) & sourceMask);
    }
    std::ranges::sort(rows);
    return rows;
  }

  static std::vector<Row> samplesOfSession(const SpeRecording& recording,
                                           uint64_t sourceMask = ~uint64_t{0}) {
    SpeSession session = recording.session();
    std::vector<Row> rows;
    SpeSample s;
    while (session.next(s))
      rows.emplace_back(s.tid, s.cpu, s.time, s.ip, s.address, s.physicalAddress, s.weight,
                        s.dataSource & sourceMask);
    EXPECT_EQ(session.counts().outOfOrder, 0u);
    EXPECT_EQ(session.counts().decode.badBytes, 0u);
    std::ranges::sort(rows);
    return rows;
  }

  TempFolder folder_;
};

/// Addresses, latencies, operations, events and sources at random, in four CPUs' buffers of several pieces.
SpeRecording randomRecording(unsigned seed, bool contexts) {
  constexpr uint8_t kSources[] = {kArmL1d,         kArmL2,          kArmPeerCore, kArmLocalCluster,
                                  kArmSystemCache, kArmPeerCluster, kArmRemote,   kArmDram};
  constexpr uint8_t kLoads[] = {0x00, 0x04, 0x10, 0x02, 0x06, 0x16, 0x0a, 0x28, 0xac, 0x30};
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t limit) { return random() % limit; };
  SpeRecording recording;
  recording.threads = {{100, 100}, {100, 101}, {200, 200}, {200, 201}};
  uint64_t ticks = 50'000;
  for (unsigned piece = 0; piece < 12; ++piece) {
    SpeBuilder b;
    for (unsigned i = 0; i < 40; ++i) {
      ticks += 1 + below(100);
      const bool kernel = below(4) == 0;
      b.pc(kernel ? 0xffff800010000000 + 4 * below(1 << 20) : 0x400000 + 4 * below(1 << 16), kernel ? 2 : 0);
      if (below(10) != 0)
        b.virtualAddress(0xaaaa00000000 + 8 * below(1 << 20), static_cast<uint8_t>(below(256)));
      if (below(3) != 0) b.physicalAddress(0x80000000 + 8 * below(1 << 20));
      b.total(static_cast<uint16_t>(below(4096))).issue(static_cast<uint16_t>(below(100)));
      if (contexts) b.context(recording.threads[below(4)].second, kernel ? 2 : 1);
      const uint64_t operation = below(10);
      if (operation < 6) {
        b.load(kLoads[below(std::size(kLoads))]).dataSource(kSources[below(std::size(kSources))]);
      } else if (operation < 8) {
        b.store(kLoads[below(std::size(kLoads))]);
      } else {
        below(2) == 0 ? b.branch(3) : b.other();
      }
      b.events(random() & kEventsOf61).timestamp(ticks);
      if (below(4) == 0) b.pad(below(20));
    }
    b.pad(8 - b.bytes().size() % 8);
    ticks += 100;
    recording.pieces.push_back({piece % 4, recording.conversion.time(ticks), b.bytes()});
  }
  return recording;
}

TEST_F(SpeJudge, NamesEveryPacketAsPerfDoes) {
  SpeBuilder b;
  for (unsigned index = 0; index < 8; ++index) b.address(index, 0xe123456789abcdef);
  for (unsigned index = 0; index < 4; ++index) b.address(index, 0x0000aaaabbbbcccc, true);
  b.address(21, 77);
  for (unsigned index = 0; index < 3; ++index) b.counter(index, 0xffff).counter(index, 3, true);
  b.context(0xffffffff, 1).context(1, 2).timestamp(0x7fffffffffffffff).end().pad(5).raw({0xff, 0x02, 0x80});
  for (const unsigned width : {1u, 2u, 4u, 8u}) b.dataSource(0x7b, width).events(kEventsOf61, width);
  for (unsigned bit = 0; bit < 32; ++bit)
    if (((kEventsOf61 >> bit) & 1) != 0) b.events(uint64_t{1} << bit);
  for (const int payload :
       {0x00, 0x01, 0x04, 0x05, 0x30, 0x31, 0x02, 0x06, 0x0b, 0x12, 0x1f, 0x08, 0x28, 0x5c, 0xbd})
    b.operation(1, static_cast<uint8_t>(payload));
  for (const int payload : {0x00, 0x01, 0x08, 0x0c, 0x4e}) b.operation(0, static_cast<uint8_t>(payload));
  for (const int payload : {0x00, 0x01, 0x02, 0x03}) b.operation(2, static_cast<uint8_t>(payload));
  b.operation(3, 0x12).end();
  while (b.bytes().size() % 8 != 0) b.end();

  SpeRecording recording;
  recording.pieces = {{0, 2'000'000, b.bytes()}};
  recording.write(folder_ / "perf.data");
  std::istringstream text(perf("report -D -i " + (folder_ / "perf.data")));

  const std::vector<uint8_t>& bytes = b.bytes();
  size_t at = 0, compared = 0;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(".  ") || line.size() < 13 || line[11] != ':')
      continue;  // ".  0000001e:  99 0a ..."
    ASSERT_LT(at, bytes.size()) << line;
    EXPECT_EQ(line.substr(3, 8),
              (std::ostringstream() << std::hex << std::setw(8) << std::setfill('0') << at).str());
    Packet packet;
    ASSERT_TRUE(parsePacket({bytes.data() + at, bytes.size() - at}, at, packet)) << line;
    while (packet.kind == PacketKind::padding && bytes[at + packet.size] == 0)
      ++packet.size;  // one line for all
    const size_t textAt = 13 + 16 * 3 + 1;
    ASSERT_GE(line.size(), textAt) << line;
    EXPECT_EQ(line.substr(textAt), describe(packet)) << line;
    at += packet.size;
    ++compared;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_GT(compared, 70u);
}

TEST_F(SpeJudge, SamplesOfANeoverseEqualPerfs) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    SpeRecording recording = randomRecording(seed, true);
    recording.midr = seed == 1 ? 0x410fd0c1 : seed == 2 ? 0x411fd401 : 0x410fd490;  // N1, V1, N2
    const auto expected = samplesOfPerf(recording);
    EXPECT_GT(expected.size(), 300u);
    EXPECT_EQ(samplesOfSession(recording), expected) << "seed " << seed;
  }
}

TEST_F(SpeJudge, SamplesOfOtherCpusEqualPerfs) {
  SpeRecording recording = randomRecording(4, true);
  recording.midr = 0x410fd0b0;  // Cortex-A76
  const auto expected = samplesOfPerf(recording, kWithoutLevelNumber);
  EXPECT_GT(expected.size(), 300u);
  EXPECT_EQ(samplesOfSession(recording, kWithoutLevelNumber), expected);
}

TEST_F(SpeJudge, TheShortCounterIsConvertedAsPerfDoes) {
  SpeRecording recording = randomRecording(5, true);
  recording.conversion.shortCounter = true;
  recording.conversion.cycles = 0x100003000;
  recording.conversion.mask = 0xffffffff;
  for (AuxPiece& piece : recording.pieces) piece.time = recording.conversion.time(100'000'000);
  EXPECT_EQ(samplesOfSession(recording), samplesOfPerf(recording));
}

TEST_F(SpeJudge, SwitchesNameTheThreadsAsInPerf) {
  SpeRecording recording = randomRecording(6, false);
  for (int32_t cpu = 0; cpu < 4; ++cpu) {
    recording.switches.push_back(
        {.time = recording.conversion.time(100) + 1, .cpu = cpu, .pid = 100, .tid = 100});
    for (uint64_t ticks = 50'000; ticks < 80'000; ticks += 900 + 50 * static_cast<uint64_t>(cpu)) {
      const auto& [pid, tid] = recording.threads[(ticks / 50 + static_cast<uint64_t>(cpu)) % 4];
      recording.switches.push_back({.time = recording.conversion.time(ticks) + 1,
                                    .cpu = cpu,
                                    .pid = static_cast<int32_t>(pid),
                                    .tid = static_cast<int32_t>(tid)});
    }
  }
  const auto expected = samplesOfPerf(recording);
  EXPECT_GT(expected.size(), 300u);
  EXPECT_EQ(samplesOfSession(recording), expected);
}

}  // namespace
}  // namespace cacheline::spe::testing
