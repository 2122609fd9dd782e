// The table against maps that count naively, with one thread and with two.
#include "sharing/access_table.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

namespace cacheline::sharing {
namespace {

constexpr uint32_t kLineSize = 64;
/// Two processes see the first space at different addresses.
const std::vector<Placement> kPlacements{
    {0, 0, -0x7f0000001000ull}, {0, 1, -0x7f0000000000ull}, {1, 2, 0}, {2, 3, 0}};
const MemoryNodes kMemoryNodes({{.node = 1, .ranges = {{0x1000, 0x2000}}}});

uint64_t word(uint64_t op, uint64_t level, uint64_t snoop) {
  perf_mem_data_src source{};
  source.mem_op = op & 0x1f;
  source.mem_lvl = level & 0x3fff;
  source.mem_snoop = snoop & 0x1f;
  return source.val;
}

struct Naive {
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint64_t> samples, hitms,
      cycles;  // space, offset, group
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, std::set<uint32_t>> threads, cpus;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> physicalChanges, physical;  // of lines
};

class Table : public ::testing::Test {
 protected:
  std::vector<MemoryAccess> accesses(size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<MemoryAccess> list;
    for (size_t i = 0; i < count; ++i) {
      MemoryAccess access{};
      access.placement = static_cast<uint32_t>(random() % kPlacements.size());
      access.offset = random() % (40 * kLineSize);
      access.time = 1000 * (i / 3);  // some at a time
      access.order = static_cast<uint32_t>(i);
      access.physical = 0x1000 + random() % 2 * 8;
      access.cycles = random() % 500;
      access.group = access.location = static_cast<uint32_t>(random() % 5);
      access.actor = static_cast<uint32_t>(random() % 70);
      access.cpu = static_cast<uint16_t>(random() % 100);
      access.node = access.cpu % 3 & MemoryAccess::kNoNode;
      access.source = &classes_[random() % classes_.size()];
      list.push_back(access);
    }
    return list;
  }

  /// Some at a time, dealt out to two lists in a random order.
  static void add(AccessTable& table, std::span<const MemoryAccess> accesses) {
    std::mt19937_64 random(accesses.size());
    while (!accesses.empty()) {
      const size_t count = std::min<size_t>(accesses.size(), 1 + random() % 9000);
      std::vector<const MemoryAccess*> some;
      for (const MemoryAccess& access : accesses.first(count)) some.push_back(&access);
      std::shuffle(some.begin(), some.end(), random);
      std::array<AccessLists, 2> lists{AccessLists(kLineSize), AccessLists(kLineSize)};
      for (const MemoryAccess* access : some)
        lists[random() % 2].next(access->offset, kPlacements[access->placement].space) = *access;
      table.add(std::array<const AccessLists*, 2>{&lists[0], &lists[1]});
      accesses = accesses.subspan(count);
    }
  }

  static Naive count(const std::vector<MemoryAccess>& list) {
    Naive naive;
    for (const MemoryAccess& access : list) {
      const uint32_t space = kPlacements[access.placement].space;
      const std::tuple row(space, access.offset, access.group);
      ++naive.samples[row];
      naive.hitms[row] += access.source->at(Counter::localHitm);
      naive.cycles[row] += access.source->load ? access.cycles : 0;
      naive.threads[row].insert(access.actor);
      naive.cpus[row].insert(access.cpu);
      const std::pair line(space, access.offset / kLineSize * kLineSize);
      uint64_t& last = naive.physical[line];
      naive.physicalChanges[line] += last != access.physical;
      last = access.physical;
    }
    return naive;
  }

  static void expectEqual(AccessTable& table, const Naive& naive) {
    size_t lines = 0, rows = 0;
    table.eachLine([&](const Line& line) {
      ++lines;
      ASSERT_EQ(&table.line(table.find(line.space, line.offset)), &line);
      uint64_t hitmsBefore = 0;
      for (uint32_t at = line.firstRow; at != kNone; at = table.row(at).next)
        hitmsBefore += table.tally(table.row(at)).hitm();
      EXPECT_EQ(hitmsBefore, line.tally.hitm());
      table.settle(line);
      EXPECT_EQ(line.physical.changes, naive.physicalChanges.at({line.space, line.offset}));
      std::vector<uint32_t> threadOf(line.actors);
      for (uint32_t actor = line.firstActor; actor != kNone; actor = table.actor(actor).next)
        threadOf[table.actor(actor).ordinal] = table.actor(actor).actor;
      uint64_t hitms = 0;
      for (uint32_t at = line.firstRow; at != kNone; at = table.row(at).next, ++rows) {
        const Row& row = table.row(at);
        const std::tuple key(row.space, row.offset, row.group);
        const RowSums& sums = table.sums(row);
        EXPECT_EQ(sums.samples, naive.samples.at(key));
        RowTally tally;
        table.eachNode(row, [&](uint16_t, const NodeCounts& cell) { tally.add(cell.counts); });
        const uint64_t cycles = std::accumulate(sums.cycles.begin(), sums.cycles.end(), uint64_t{0});
        EXPECT_EQ(tally.hitm(), naive.hitms.at(key));
        EXPECT_EQ(cycles, naive.cycles.at(key));
        hitms += tally.hitm();
        std::set<uint32_t> threads;
        for (const BitSet* set : {&row.loaders, &row.storers})
          for (const uint32_t ordinal : set->list()) threads.insert(threadOf.at(ordinal));
        EXPECT_EQ(threads, naive.threads.at(key));
        const std::vector<uint32_t> cpus = row.cpus.list();
        EXPECT_EQ(std::set<uint32_t>(cpus.begin(), cpus.end()), naive.cpus.at(key));
      }
      EXPECT_EQ(hitms, line.tally.hitm());
    });
    EXPECT_EQ(lines, table.lines());
    EXPECT_EQ(rows, naive.samples.size());
  }

  std::vector<SourceClass> classes_ = {
      classify(word(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3, PERF_MEM_SNOOP_HITM), true, true),
      classify(word(PERF_MEM_OP_LOAD, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, PERF_MEM_SNOOP_NONE), true, true),
      classify(word(PERF_MEM_OP_STORE, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1, PERF_MEM_SNOOP_NONE), true, true)};
};

TEST_F(Table, CountsWhatWasAdded) {
  const std::vector<MemoryAccess> list = accesses(50000, 7);
  AccessTable table(kLineSize, kPlacements, kMemoryNodes);
  add(table, list);
  table.finish();
  expectEqual(table, count(list));
}

TEST_F(Table, IsTheSameWithTwoThreads) {
  const std::vector<MemoryAccess> list = accesses(200000, 8);
  AccessTable table(kLineSize, kPlacements, kMemoryNodes, 2);
  add(table, list);
  table.finish();
  expectEqual(table, count(list));
}

TEST_F(Table, BareRowsHaveTheSumsOfFullOnes) {
  std::vector<MemoryAccess> list = accesses(100000, 10);
  AccessTable full(kLineSize, kPlacements, kMemoryNodes, 2), table(kLineSize, kPlacements, kMemoryNodes, 2);
  add(full, list);
  // Of every third line none, of the next one all, of the one behind that by turns.
  for (size_t i = 0; i < list.size(); ++i)
    list[i].aggregateOnly = list[i].offset / kLineSize % 3 == 0   ? 0
                            : list[i].offset / kLineSize % 3 == 1 ? 1
                                                                  : i % 2;
  add(table, list);
  full.finish();
  table.finish();
  size_t rows = 0, aggregateOnlyRows = 0;
  const auto sumsOf = [](const AccessTable& of, const Line& line) {
    std::map<std::pair<uint64_t, uint32_t>, AggregateSums> sums;
    for (uint32_t at = line.firstRow; at != kNone; at = of.row(at).next)
      sums[{of.row(at).offset, of.row(at).group}] = of.aggregateSums(of.row(at));
    return sums;
  };
  table.eachLine([&](const Line& line) {
    const Line& same = full.line(full.find(line.space, line.offset));
    EXPECT_EQ(line.aggregateOnly, line.offset / kLineSize % 3 != 0);
    EXPECT_EQ(line.tally.counts(), same.tally.counts());
    EXPECT_EQ(std::tie(line.loads, line.locked, line.blocked),
              std::tie(same.loads, same.locked, same.blocked));
    const auto sums = sumsOf(table, line), expected = sumsOf(full, same);
    ASSERT_EQ(sums.size(), expected.size());
    for (const auto& [key, row] : expected) {
      EXPECT_EQ(sums.at(key).counts, row.counts);
      EXPECT_EQ(sums.at(key).cycles, row.cycles);
      EXPECT_GT(row.counts[static_cast<size_t>(SumCounter::samples)], 0u);
    }
    for (uint32_t at = line.firstRow; at != kNone; at = table.row(at).next, ++rows)
      aggregateOnlyRows += table.row(at).aggregateOnly ? 1 : 0;
  });
  EXPECT_GT(aggregateOnlyRows, rows / 3);
  EXPECT_LT(aggregateOnlyRows, rows);
}

TEST_F(Table, CanBeGivenUpWhileItIsFilled) {
  const std::vector<MemoryAccess> list = accesses(100000, 9);
  AccessTable table(kLineSize, kPlacements, kMemoryNodes, 2);
  add(table, list);
}

TEST_F(Table, KeepsCyclesThatTakeMoreThan32Bits) {
  AccessTable table(kLineSize, kPlacements, kMemoryNodes);
  MemoryAccess access{};
  access.source = &classes_[0];
  uint64_t sum = 0;
  for (const uint64_t cycles : {5ull, 7ull << 40, 6ull}) {
    access.cycles = cycles;
    sum += cycles;
    ++access.order;
    add(table, {&access, 1});
  }
  table.finish();
  table.settle(table.line(table.find(0, 0)));
  const Row& row = table.row(table.line(table.find(0, 0)).firstRow);
  EXPECT_EQ(table.sums(row).samples, 3u);
  EXPECT_EQ(table.sums(row).cycles[static_cast<size_t>(CycleKind::localHitm)], sum);
}

TEST_F(Table, ALineKeepsTheAddressItWasSeenAtFirst) {
  AccessTable table(kLineSize, kPlacements, kMemoryNodes);
  for (const uint32_t placement : {0, 1}) {
    MemoryAccess access{};
    access.offset = 0x48;
    access.placement = placement;
    access.source = &classes_[0];
    add(table, {&access, 1});
  }
  table.finish();
  ASSERT_EQ(table.lines(), 1u);
  const Line& line = table.line(table.find(0, 0x40));
  EXPECT_EQ(line.address, 0x7f0000001040u);
  EXPECT_EQ(line.offset, 0x40u);
}

TEST(AccessOrder, IsThatOfTimeHoweverTimesAreSpread) {
  std::mt19937_64 random(5);
  for (const uint64_t spread : {uint64_t{1}, uint64_t{50}, uint64_t{1} << 20, ~uint64_t{0}}) {
    for (const size_t count : {0, 1, 2, 17, 1000}) {
      std::vector<MemoryAccess> list(count);
      for (size_t i = 0; i < count; ++i) {
        list[i].time = i % 7 == 0 ? 3 : random() % spread;  // and many at one time
        list[i].order = static_cast<uint32_t>(random());
      }
      AccessOrder order;
      order.add(list);
      std::vector<std::pair<uint64_t, uint64_t>> expected, got;
      for (const MemoryAccess& access : list) expected.emplace_back(access.time, access.order);
      for (const MemoryAccess* access : order.sorted()) got.emplace_back(access->time, access->order);
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(got, expected);
    }
  }
}

/// Two actors in turn, two samples each.
TEST_F(Table, AnotherActorEndsTheRun) {
  AccessTable table(kLineSize, kPlacements, kMemoryNodes);
  AccessLists lists(kLineSize);
  for (uint32_t i = 0; i < 40; ++i) {
    MemoryAccess access = accesses(1, 1).front();
    access.placement = 2;
    access.offset = 0x40 + i % 2 * 8;
    access.actor = i / 2 % 2;
    access.time = access.order = i;
    lists.next(access.offset, 1) = access;
  }
  const AccessLists* const one = &lists;
  table.add({&one, 1});
  table.finish();
  const Line& line = table.line(table.find(1, 0x40));
  EXPECT_EQ(line.actors, 2u);
  const std::vector<analysis::Run> runs = table.actor(line.firstActor).runs.runs();
  EXPECT_EQ(runs.size(), 1u) << "pauses of one length are all kept or all given up";
  EXPECT_EQ(runs[0].count, 20u);
}

TEST_F(Table, LogsFromTheStartWhereAskedTo) {
  for (const bool fromStart : {false, true}) {
    AccessTable table(kLineSize, kPlacements, kMemoryNodes, 1, {.most = 8, .fromStart = fromStart});
    AccessLists lists(kLineSize);
    for (uint32_t i = 0; i < 6; ++i) {
      MemoryAccess access = accesses(1, 1).front();
      access.placement = 2;
      access.offset = 0;
      access.actor = i < 4 ? 1 : 2;
      access.time = access.order = i;
      lists.next(access.offset, 1) = access;
    }
    const AccessLists* const one = &lists;
    table.add({&one, 1});
    table.finish();
    const SampleLog& log = *table.line(table.find(1, 0)).log;
    EXPECT_EQ(log.answered().samples().size() + log.others().samples().size(), fromStart ? 6u : 2u);
  }
}

}  // namespace
}  // namespace cacheline::sharing
