// Tables by every key add up to the report, and say of each thread, CPU and time what a recording of it alone
// would say.
#include "tables/table.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"
#include "scenario.h"
#include "tables/key_texts.h"

namespace cacheline::tables {
namespace {

using namespace analysis::test;

constexpr uint64_t kHeapAt = 0x5000000;
constexpr uint32_t kBins = 7;

/// Three threads of two processes, on four CPUs: two add to words of the same lines, all load others, and
/// some samples have no place.
std::string folder() {
  static Scenario scenario;
  static const std::string path = [] {
    scenario.features().numaNodes = {{0, 0, 0, "0-1"}, {1, 0, 0, "2-3"}};
    for (const uint32_t pid : {100u, 200u}) {
      scenario.start(pid);
      scenario.anonymous(pid, kHeapAt, 0x10000, "[heap]");
      scenario.thread(pid, pid + 1);
      scenario.thread(pid, pid + 2);
      scenario.records().thread(pid, pid + 1).comm("writer1").thread(pid, pid + 2).comm("reader2");
    }
    std::mt19937 random(5);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    for (int i = 0; i < 2000; ++i) {
      const uint32_t pid = below(3) == 0 ? 100 : 200, tid = pid + below(3), cpu = below(4);
      const uint64_t address = kHeapAt + uint64_t{64} * below(6) + 8 * below(3);
      switch (below(8)) {
        case 0:
          scenario.sample(pid, tid, kNoOperand, {}, cpu);
          break;
        case 1:
          scenario.sample(pid, tid, kTls, {}, cpu);
          break;
        case 2:
          scenario.sample(pid, tid, kAdd, {}, cpu, PERF_RECORD_MISC_KERNEL);
          break;
        case 3:
          scenario.store(pid, tid, address, cpu);
          break;
        case 4:
        case 5:
          scenario.add(pid, tid, address, cpu);
          break;
        default:
          scenario.load(pid, tid, address + 256, cpu);
      }
    }
    return scenario.write();
  }();
  return path;
}

analysis::Report reportFor(const std::vector<Key>& by, const std::string& filter = {},
                           analysis::Filter samples = {}) {
  sharing::Options options;
  options.showAll = true;
  options.splits = splitsFor(by, kBins);
  options.filter = std::move(samples);
  return profile::Profile(folder(), options, filter, {}).takeReport();
}

/// Made once for each keys and filter.
const Table& tableBy(const std::vector<Key>& by, const std::string& filter = {}) {
  static std::map<std::pair<std::vector<Key>, std::string>, Table> tables;
  const auto [place, isNew] = tables.try_emplace({by, filter});
  if (isNew) place->second = tableOf(reportFor(by, filter), by);
  return place->second;
}

uint64_t sumOf(const Table& table, uint64_t Row::*column) {
  return std::accumulate(table.rows.begin(), table.rows.end(), uint64_t{0},
                         [&](uint64_t sum, const Row& row) { return sum + row.*column; });
}

std::vector<std::vector<Key>> allKeys() {
  std::vector<std::vector<Key>> all;
  for (const Key key : kKeys) {
    all.push_back({key});
    for (const Key other : kKeys)
      if (other != key) all.push_back({key, other});
  }
  return all;
}

std::string nameOf(const std::vector<Key>& by) {
  std::string name;
  for (const Key key : by) name += std::string(name.empty() ? "" : ",") + keyName(key);
  return name;
}

TEST(Table, EveryOneAddsUpToTheReport) {
  sharing::Options options;
  options.showAll = true;
  const analysis::Report plain = profile::Profile(folder(), options, {}, {}).takeReport();
  ASSERT_GT(plain.contended, 100u);
  ASSERT_GT(plain.unattributed.kernel, 100u);
  uint64_t loads = 0, stores = 0;
  for (const analysis::Line& line : plain.lines) {
    loads += line.loads;
    stores += line.stores;
  }
  for (const std::vector<Key>& by : allKeys()) {
    const Table& table = tableBy(by);
    SCOPED_TRACE(nameOf(by));
    EXPECT_EQ(table.samples, plain.samples);
    EXPECT_EQ(table.contended, plain.contended);
    EXPECT_EQ(sumOf(table, &Row::samples), plain.samples);
    EXPECT_EQ(sumOf(table, &Row::contended), plain.contended);
    EXPECT_EQ(sumOf(table, &Row::reads), loads);
    EXPECT_EQ(sumOf(table, &Row::writes), stores);
    std::vector<std::vector<std::string>> keys;
    for (const Row& row : table.rows) keys.push_back(row.key);
    std::ranges::sort(keys);
    EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end()) << "a key has two rows";
  }
}

TEST(Table, ThreeKeysArePartsOfTwo) {
  const Table all = tableBy({Key::object, Key::function, Key::thread});
  std::map<std::vector<std::string>, std::pair<uint64_t, uint64_t>> sums, expected;
  for (const Row& row : all.rows) {
    ASSERT_EQ(row.key.size(), 3u);
    auto& [samples, contended] = sums[{row.key[0], row.key[2]}];
    samples += row.samples;
    contended += row.contended;
  }
  for (const Row& row : tableBy({Key::object, Key::thread}).rows)
    expected[row.key] = {row.samples, row.contended};
  EXPECT_EQ(sums, expected);
}

/// The innermost function of the program's own, wherever it was inlined; the binary's is another key.
TEST(Table, FunctionsAreOwnInlinedOnes) {
  analysis::CodeName code;
  code.symbol = "run";
  code.object = "program";
  EXPECT_EQ(functionText(code), "run");
  code.inlined = {{.function = "fetch_add", .file = "/usr/include/c++/12/atomic", .line = 3},
                  {.function = "bump", .file = "/src/a.cpp", .line = 2},
                  {.function = "run", .file = "/src/a.cpp", .line = 1}};
  EXPECT_EQ(functionText(code), "bump");
  EXPECT_EQ(sourceText(code), "/src/a.cpp:2");
  EXPECT_EQ(symbolText(code), "run");
}

/// What the rows of a table by two keys add up to, by one of them, is the table by that one.
TEST(Table, TwoKeysArePartsOfOne) {
  for (const std::vector<Key>& by : allKeys()) {
    if (by.size() != 2) continue;
    SCOPED_TRACE(nameOf(by));
    // Members are called without their types beside these.
    if (by[0] == Key::member && by[1] == Key::type) continue;
    if (by[1] == Key::member && by[0] == Key::type) continue;
    const Table& both = tableBy(by);
    for (const size_t which : {size_t{0}, size_t{1}}) {
      std::map<std::string, std::pair<uint64_t, uint64_t>> sums, expected;
      for (const Row& row : both.rows) {
        sums[row.key[which]].first += row.samples;
        sums[row.key[which]].second += row.contended;
      }
      for (const Row& row : tableBy({by[which]}).rows)
        if (row.samples > 0) expected[row.key[0]] = {row.samples, row.contended};
      EXPECT_EQ(sums, expected);
    }
  }
}

TEST(Table, AThreadHasTheSamplesOfARecordingOfItAlone) {
  const Table table = tableBy({Key::thread});
  ASSERT_EQ(table.rows.size(), 6u);
  for (const Row& row : table.rows) {
    analysis::Filter only;
    only.tids = {static_cast<uint32_t>(std::stoul(row.key[0]))};
    const analysis::Report own = reportFor({Key::thread}, {}, only);
    EXPECT_EQ(row.samples, own.samples) << row.key[0];
    EXPECT_EQ(row.threads, 1u);
  }
  const auto named = [&](const char* name) {
    return std::ranges::count_if(table.rows, [&](const Row& row) { return row.key[0].ends_with(name); });
  };
  EXPECT_EQ(named(" writer1"), 2);
  EXPECT_EQ(named(" reader2"), 2);
}

TEST(Table, CpusAndNodesAreThoseOfTheSamples) {
  const Table cpus = tableBy({Key::cpu}), nodes = tableBy({Key::node});
  ASSERT_EQ(cpus.rows.size(), 4u);
  ASSERT_EQ(nodes.rows.size(), 2u);
  std::map<std::string, uint64_t> byNode;
  for (const Row& row : cpus.rows) {
    analysis::Filter only;
    only.cpus = {static_cast<uint32_t>(std::stoul(row.key[0]))};
    EXPECT_EQ(row.samples, reportFor({Key::cpu}, {}, only).samples);
    byNode[row.key[0] < "2" ? "0" : "1"] += row.samples;
  }
  for (const Row& row : nodes.rows) EXPECT_EQ(row.samples, byNode[row.key[0]]) << row.key[0];
}

TEST(Table, TimesAreEqualPartsInTheirOrder) {
  const Table table = tableBy({Key::time});
  ASSERT_EQ(table.rows.size(), kBins);
  ASSERT_TRUE(table.bins);
  const double width = (table.bins->secondsAt(kBins) - table.bins->secondsAt(0)) / kBins;
  for (uint32_t bin = 0; bin < kBins; ++bin) {
    const std::string& key = table.rows[bin].key[0];
    EXPECT_NEAR(std::stod(key), bin * width, width / 10) << key;
    EXPECT_EQ(key.back(), 's');
    // One sample each 2 ms.
    EXPECT_NEAR(static_cast<double>(table.rows[bin].samples), width / 0.002, 2);
    // The key is a window of the filter.
    const analysis::Report window = reportFor({Key::time}, "time:" + key);
    EXPECT_NEAR(static_cast<double>(window.samples), static_cast<double>(table.rows[bin].samples), 3);
  }
}

TEST(Table, ContendedTimeIsSamplesTimesTheirPeriod) {
  const Table table = tableBy({Key::thread});
  for (const Row& row : table.rows) {
    ASSERT_TRUE(row.contendedNs);
    // Of a recording whose samples carry no period the event says it.
    EXPECT_EQ(*row.contendedNs % std::max<uint64_t>(row.contended, 1), 0u);
    EXPECT_EQ(*row.contendedNs > 0, row.contended > 0);
  }
}

TEST(Table, SamplesWithoutAPlaceAreNamedByTheirReason) {
  const analysis::Report report = reportFor({Key::line});
  const Table lines = tableOf(report, {Key::line});
  const auto samplesOf = [&](const Table& table, const std::string& key) {
    const auto found = std::ranges::find_if(table.rows, [&](const Row& row) { return row.key[0] == key; });
    return found == table.rows.end() ? 0 : found->samples;
  };
  EXPECT_EQ(samplesOf(lines, "[not attributed: kernel]"), report.unattributed.kernel);
  EXPECT_EQ(samplesOf(lines, "[not attributed: noMemoryOperand]"), report.unattributed.noMemoryOperand);
  EXPECT_EQ(samplesOf(lines, "[not attributed: threadLocal]"), report.unattributed.threadLocal);
  for (const Row& row : lines.rows) {
    EXPECT_EQ(row.verdict.has_value(), row.lines > 0) << row.key[0];
    EXPECT_EQ(row.reads + row.writes, row.lines > 0 ? row.samples : 0);
  }
  // Their code is known.
  const Table functions = tableBy({Key::function});
  EXPECT_EQ(samplesOf(functions, "[not attributed: noMemoryOperand]"), 0u);
  EXPECT_EQ(samplesOf(functions, "[not attributed: kernel]"), report.unattributed.kernel);
}

TEST(Table, LinesAreThoseOfTheReport) {
  const analysis::Report report = reportFor({Key::line});
  const Table table = tableOf(report, {Key::line});
  for (const analysis::Line& line : report.lines) {
    const auto row = std::ranges::find_if(table.rows, [&](const Row& each) {
      char key[64];
      std::snprintf(key, sizeof key, "%s:0x%llx", line.space.c_str(),
                    static_cast<unsigned long long>(line.address));
      return each.key[0] == key;
    });
    ASSERT_NE(row, table.rows.end()) << line.address;
    EXPECT_EQ(row->samples, line.records);
    EXPECT_EQ(row->contended, line.contended);
    EXPECT_EQ(row->reads, line.loads);
    EXPECT_EQ(row->writes, line.stores);
    EXPECT_EQ(row->verdict, line.verdict);
    EXPECT_EQ(row->threads, line.threads.size());
    EXPECT_EQ(row->lines, 1u);
    if (line.falseShare && line.falseShare->value) {
      EXPECT_NEAR(*row->falseShare->value, *line.falseShare->value, 0.02);
    }
  }
}

TEST(Table, AFilterOfLinesLeavesTheirSamples) {
  const Table all = tableBy({Key::line});
  const auto first = std::ranges::find_if(all.rows, [](const Row& row) { return row.lines > 0; });
  const Table one = tableBy({Key::line}, "line:" + first->key[0].substr(first->key[0].find("0x")));
  for (const Row& row : one.rows) EXPECT_TRUE(row.key[0].ends_with(first->key[0].substr(8)));
  EXPECT_LT(one.samples, all.samples);
  ASSERT_TRUE(one.selected);
  EXPECT_EQ(one.selected->lines, one.rows.size());
  EXPECT_EQ(one.programSamples, all.programSamples);
}

TEST(Table, AFunctionWaitsForThoseThatUseItsLines) {
  const Table table = tableBy({Key::function});
  size_t waiting = 0;
  for (const Row& row : table.rows) {
    double sum = 0;
    for (const WaitsFor& pair : row.waitsFor) {
      sum += pair.share;
      double lines = 0;
      for (const WaitingLines& each : pair.lines) lines += each.share;
      EXPECT_NEAR(lines, pair.share, 1e-9);
      EXPECT_GE(pair.falseShare, 0);
      EXPECT_LE(pair.falseShare, 1 + 1e-9);
    }
    waiting += row.waitsFor.size();
    if (row.contended > 0) {
      EXPECT_NEAR(sum, 1, 0.02) << row.key[0];
    } else {
      EXPECT_TRUE(row.waitsFor.empty());
    }
  }
  EXPECT_GT(waiting, 2u);
}

TEST(Table, PiecesAreOneDocument) {
  const Table table = tableBy({Key::thread, Key::line});
  const auto parsed = [&](size_t pieceBytes) {
    std::string text;
    for (const std::string& piece : tablePieces(table, pieceBytes)) text += piece;
    rapidjson::Document document;
    document.Parse(text.data(), text.size());
    EXPECT_FALSE(document.HasParseError());
    return document["rows"].Size();
  };
  EXPECT_EQ(parsed(analysis::kReportPieceBytes), table.rows.size());
  EXPECT_EQ(parsed(1), table.rows.size());
  EXPECT_EQ(tablePieces(table, 1).size(), table.rows.size() + 2);
}

TEST(Splits, WholeNumbersAreSharedOut) {
  EXPECT_EQ(analysis::shareOut(10, {1, 1, 2}), (std::vector<uint64_t>{3, 2, 5}));
  EXPECT_EQ(analysis::shareOut(3, {0, 0}), (std::vector<uint64_t>{2, 1}));
  EXPECT_EQ(analysis::shareOut(0, {}), std::vector<uint64_t>{});
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    std::vector<uint64_t> weights(1 + random() % 9);
    for (uint64_t& weight : weights) weight = random() % 1000;
    const uint64_t total = random() % 100'000;
    const std::vector<uint64_t> shares = analysis::shareOut(total, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}), total);
  }
}

TEST(Splits, ATimeIsInOnePart) {
  const analysis::TimeBins bins{.origin = 1'000, .first = 2'000, .last = 2'999, .count = 4};
  EXPECT_EQ(bins.of(2'000), 0u);
  EXPECT_EQ(bins.of(2'249), 0u);
  EXPECT_EQ(bins.of(2'250), 1u);
  EXPECT_EQ(bins.of(2'999), 3u);
  EXPECT_EQ(bins.of(1'999), analysis::kNoSplit);
  EXPECT_EQ(bins.of(3'000), analysis::kNoSplit);
  EXPECT_EQ(bins.of(0), analysis::kNoSplit);
  EXPECT_NEAR(bins.secondsAt(0), 1e-6, 1e-12);
  const analysis::TimeBins whole{.origin = 0, .first = 1, .last = ~uint64_t{0} - 1, .count = 10'000};
  EXPECT_EQ(whole.of(~uint64_t{0} - 1), 9'999u);
}

}  // namespace
}  // namespace cacheline::tables
