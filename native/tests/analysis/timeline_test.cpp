// Processes, threads and mappings at any moment, asked for in any order.
#include "analysis/timeline.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <random>

#include "analysis/thread_table.h"

namespace cacheline::analysis {
namespace {

using perfdata::Moment;

/// Makes records, each later than the one before.
class Recorder {
 public:
  Moment mmap(uint32_t pid, uint64_t address, uint64_t length, const char* file,
              uint32_t flags = MAP_PRIVATE) {
    perfdata::Mmap record;
    record.pid = record.tid = pid;
    record.address = address;
    record.length = length;
    record.flags = flags;
    record.file = file;
    record.moment = next();
    timeline.onMmap(record);
    return now;
  }
  Moment fork(uint32_t pid, uint32_t parentPid, uint32_t tid) {
    timeline.onFork(task(pid, parentPid, tid));
    return now;
  }
  Moment exit(uint32_t pid, uint32_t tid) {
    timeline.onExit(task(pid, pid, tid));
    return now;
  }
  Moment comm(uint32_t pid, uint32_t tid, const char* name, bool exec = false) {
    perfdata::Comm record;
    record.pid = pid;
    record.tid = tid;
    record.name = name;
    record.exec = exec;
    record.moment = next();
    timeline.onComm(record);
    return now;
  }
  const AddressSpace& at(uint32_t pid, const Moment& moment) { return spaces.at(pid, moment); }
  const AddressSpace& of(uint32_t pid) { return at(pid, now); }
  std::string nameAt(uint32_t pid, uint64_t address, const Moment& moment) {
    const Mapping* found = at(pid, moment).mappings->find(address);
    return found == nullptr ? "" : timeline.backing(found->backing).name;
  }
  std::string nameAt(uint32_t pid, uint64_t address) { return nameAt(pid, address, now); }

  Timeline timeline;
  AddressSpaces spaces{timeline};
  Moment now;

 private:
  const Moment& next() {
    now = {now.time + 10, now.position + 100};
    return now;
  }
  perfdata::Task task(uint32_t pid, uint32_t parentPid, uint32_t tid) {
    perfdata::Task record;
    record.pid = pid;
    record.parentPid = record.parentTid = parentPid;
    record.tid = tid;
    record.moment = next();
    record.time = now.time;
    return record;
  }
};

/// The timeline is complete before it is asked.
TEST(Timeline, AForkHasItsParentsMapsAndThenItsOwn) {
  Recorder r;
  const Moment mapped = r.mmap(1, 0x1000, 0x1000, "/bin/a");
  const Moment forked = r.fork(2, 1, 2);
  r.mmap(1, 0x1000, 0x1000, "/bin/b");
  r.mmap(2, 0x5000, 0x1000, "/bin/c");
  EXPECT_NE(r.of(1).id, r.of(2).id);
  EXPECT_EQ(r.nameAt(1, 0x1000), "/bin/b");
  EXPECT_EQ(r.nameAt(2, 0x1000), "/bin/a");
  EXPECT_EQ(r.nameAt(1, 0x5000), "");
  EXPECT_EQ(r.nameAt(2, 0x5000), "/bin/c");
  EXPECT_EQ(r.nameAt(1, 0x1000, forked), "/bin/a");
  EXPECT_EQ(r.nameAt(2, 0x5000, forked), "");
  EXPECT_EQ(r.nameAt(2, 0x1000, mapped), "") << "it is not there yet";
}

TEST(Timeline, RecordsOfOneTimeHoldInTheOrderOfTheFile) {
  Recorder r;
  const Moment first = r.mmap(1, 0x1000, 0x1000, "/bin/a");
  EXPECT_EQ(r.nameAt(1, 0x1000, {first.time, first.position - 1}), "");
  EXPECT_EQ(r.nameAt(1, 0x1000, first), "/bin/a");
  EXPECT_EQ(r.nameAt(1, 0x1000, {first.time, Moment::kNowhere}), "/bin/a");
  EXPECT_EQ(r.nameAt(1, 0x1000, {first.time - 1, Moment::kNowhere}), "");
}

TEST(Timeline, AThreadSharesItsProcesssMaps) {
  Recorder r;
  r.mmap(1, 0x1000, 0x1000, "/bin/a");
  const uint32_t id = r.of(1).id;
  r.fork(1, 1, 9);
  EXPECT_EQ(r.of(1).id, id);
  EXPECT_EQ(r.nameAt(1, 0x1000), "/bin/a");
}

TEST(Timeline, ExecClearsTheMapsAndIsANewSpace) {
  Recorder r;
  const Moment before = r.mmap(1, 0x1000, 0x1000, "/bin/a");
  const Moment exec = r.comm(1, 1, "new", true);
  r.mmap(1, 0x1000, 0x1000, "/bin/b");
  r.comm(1, 1, "newer");
  EXPECT_EQ(r.nameAt(1, 0x1000, exec), "");
  EXPECT_EQ(r.at(1, exec).incarnation, 1u);
  const uint32_t id = r.of(1).id;
  EXPECT_NE(r.at(1, before).id, id);
  EXPECT_EQ(r.nameAt(1, 0x1000), "/bin/b") << "a new name alone is no exec";
}

TEST(Timeline, TheMapsGoWithTheLastThread) {
  Recorder r;
  r.comm(1, 1, "new", true);
  r.mmap(1, 0x1000, 0x1000, "/bin/a");
  r.fork(1, 1, 2);
  const Moment mainEnded = r.exit(1, 1);
  r.exit(1, 2);
  EXPECT_EQ(r.nameAt(1, 0x1000, mainEnded), "/bin/a") << "the main thread may end first";
  EXPECT_EQ(r.nameAt(1, 0x1000), "");
}

TEST(Timeline, WithoutItsBeginningAProcessKeepsItsMaps) {
  Recorder r;
  r.mmap(1, 0x1000, 0x1000, "/bin/a");  // running before the recording, threads unknown
  r.exit(1, 5);
  EXPECT_EQ(r.nameAt(1, 0x1000), "/bin/a");
}

TEST(Timeline, WhereRecordsWereLostNothingIsDropped) {
  Recorder r;
  r.comm(1, 1, "new", true);
  r.mmap(1, 0x1000, 0x1000, "/bin/a");
  r.timeline.onLost({3, 0, true});
  r.exit(1, 1);
  EXPECT_EQ(r.nameAt(1, 0x1000), "/bin/a");
  EXPECT_EQ(r.timeline.lost, 3u);
  EXPECT_EQ(r.timeline.lostSamples, 3u);
}

TEST(Timeline, AReusedPidIsANewSpace) {
  Recorder r;
  const Moment first = r.fork(2, 1, 2), second = r.fork(2, 1, 2);
  EXPECT_NE(AddressSpaces(r.timeline).at(2, first).id, r.at(2, second).id);
}

TEST(Timeline, AProcessOfWhichNothingIsKnownIsEmpty) {
  Recorder r;
  r.fork(2, 1, 2);
  EXPECT_TRUE(r.at(77, r.now).mappings->empty());
  const uint32_t id = r.at(77, r.now).id;
  EXPECT_NE(r.at(78, r.now).id, id);
  const uint32_t before = r.at(2, {}).id;
  EXPECT_NE(r.of(2).id, before) << "before its beginning";
}

TEST(Timeline, HintsFollowChanges) {
  Recorder r;
  const Moment before = r.mmap(1, 0x1000, 0x3000, "/bin/a");
  r.mmap(1, 0x1000, 0x1000, "/bin/b");
  for (const auto& [moment, name] : {std::pair(before, "/bin/a"), std::pair(r.now, "/bin/b")}) {
    const AddressSpace& space = r.at(1, moment);
    EXPECT_EQ(r.timeline.backing(space.find(0x1000, space.dataHint)->backing).name, name);
  }
  EXPECT_EQ(r.of(1).find(0x9000, r.of(1).dataHint), nullptr);
}

TEST(Timeline, RefusesMappingsThatWrapAround) {
  Recorder r;
  r.mmap(1, ~uint64_t{0} - 10, 100, "/bin/a");
  r.mmap(1, 0x1000, ~uint64_t{0}, "/bin/a");
  EXPECT_TRUE(r.of(1).mappings->empty());
}

TEST(Timeline, ManyForksOfALargeProcessAreCheap) {
  Recorder r;
  for (uint64_t i = 0; i < 20000; ++i) r.mmap(1, 0x10000 + i * 0x2000, 0x1000, "/bin/a");
  for (uint32_t child = 2; child < 20002; ++child) {
    r.fork(child, 1, child);
    r.mmap(child, 0x10000 + (child % 20000) * uint64_t{0x2000}, 0x1000, "/bin/b");
    r.exit(child, child);
  }
  EXPECT_EQ(r.nameAt(1, 0x10000), "/bin/a");
  EXPECT_EQ(r.nameAt(2, 0x10000 + 2 * 0x2000), "");
}

/// As if nothing but the present were kept: by pid, what is mapped at each page.
using Model = std::map<uint32_t, std::map<uint64_t, std::string>>;

TEST(Timeline, AnyMomentInAnyOrderIsAsItWasThen) {
  constexpr uint64_t kPages = 40;
  const char* const files[] = {"/bin/a", "/bin/b", "/bin/c", "/bin/d"};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    Recorder r;
    Model model;
    std::vector<std::pair<Moment, Model>> truth;
    for (int i = 0; i < 1200; ++i) {
      const auto pid = static_cast<uint32_t>(1 + random() % 3);
      switch (random() % 20) {
        case 0: {
          const auto child = static_cast<uint32_t>(1 + random() % 3);
          if (child == pid) break;
          r.fork(child, pid, child);
          model[child] = model[pid];
          break;
        }
        case 1:
          r.comm(pid, pid, "again", true);
          model[pid].clear();
          break;
        default: {
          const uint64_t page = random() % kPages, pages = 1 + random() % 4;
          const char* const file = files[random() % 4];
          r.mmap(pid, page * 0x1000, pages * 0x1000, file);
          for (uint64_t at = page; at < page + pages; ++at) model[pid][at] = file;
        }
      }
      truth.emplace_back(r.now, model);
    }
    for (int i = 0; i < 3000; ++i) {
      const auto& [moment, then] = truth[random() % truth.size()];
      const auto pid = static_cast<uint32_t>(1 + random() % 3);
      const uint64_t page = random() % kPages;
      const auto process = then.find(pid);
      std::string expected;
      if (process != then.end())
        if (const auto it = process->second.find(page); it != process->second.end()) expected = it->second;
      ASSERT_EQ(r.nameAt(pid, page * 0x1000, moment), expected)
          << "seed " << seed << ", pid " << pid << ", page " << page << ", time " << moment.time;
    }
  }
}

TEST(Timeline, EqualSpacesHaveEqualNumbersAndOthersDoNot) {
  Recorder r;
  const Moment first = r.mmap(1, 0x1000, 0x1000, "/bin/a"), second = r.mmap(1, 0x2000, 0x1000, "/bin/a");
  const auto numbers = [&](const Moment& moment) {
    const AddressSpace& space = r.at(1, moment);
    return std::pair(space.id, space.generation);
  };
  const auto before = numbers(first);
  EXPECT_EQ(numbers({first.time + 1, 0}), before);
  EXPECT_NE(numbers(second), before);
  EXPECT_EQ(numbers(first), before);
}

TEST(Timeline, NamesOfThreadsFollowForksAndRenames) {
  Recorder r;
  r.comm(1, 1, "parent");
  r.fork(1, 1, 2);
  r.fork(1, 1, 3);
  r.comm(1, 2, "worker");
  ThreadTable table(r.timeline);
  const uint32_t worker = table.index(1, 2);
  EXPECT_EQ(table[worker].comm, "worker");
  EXPECT_EQ(table.index(1, 2), worker);
  EXPECT_EQ(table[table.index(1, 3)].comm, "parent");
  EXPECT_EQ(table[table.index(1, 9)].comm, "");
  EXPECT_EQ(table[table.index(0, 2)].comm, "worker") << "the kernel's work for it";
}

TEST(Timeline, LivesOfWorkersAreThoseOfThreadsThatStartNoOthers) {
  Recorder r;
  const Moment begin = r.fork(1, 1, 2), end = r.exit(1, 2);
  r.exit(1, 3);
  const auto lives = r.timeline.workerLives({{1, 1}, {1, 2}, {1, 4}});
  ASSERT_EQ(lives.size(), 2u) << "the main thread starts threads, and nobody asked for thread 3";
  EXPECT_EQ(lives[0].from, begin.time);
  EXPECT_EQ(lives[0].until, end.time);
  EXPECT_EQ(lives[1].from, 0u) << "of thread 4 no record tells";
  EXPECT_EQ(lives[1].until, ~uint64_t{0});
}

TEST(Timeline, ThreadsHaveLives) {
  Recorder r;
  const Moment begin = r.fork(1, 1, 2), end = r.exit(1, 2), again = r.fork(1, 1, 2);
  EXPECT_EQ(r.timeline.threadLife(1, 2, begin).until, end);
  EXPECT_EQ(r.timeline.threadLife(1, 2, begin).endBefore, 0u);
  EXPECT_EQ(r.timeline.threadLife(1, 2, again).from, again);
  EXPECT_EQ(r.timeline.threadLife(1, 2, again).endBefore, end.time);
}

}  // namespace
}  // namespace cacheline::analysis
