// Mappings over time, checked against a byte-by-byte model.
#include "analysis/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <random>

namespace cacheline::analysis {
namespace {

perfdata::Mmap mapping(uint32_t pid, uint64_t address, uint64_t length, const char* file,
                       uint64_t pageOffset = 0, uint32_t flags = MAP_PRIVATE) {
  perfdata::Mmap record;
  record.pid = record.tid = pid;
  record.address = address;
  record.length = length;
  record.pageOffset = pageOffset;
  record.flags = flags;
  record.file = file;
  return record;
}
perfdata::Task task(uint32_t pid, uint32_t parentPid, uint32_t tid) {
  perfdata::Task record;
  record.pid = pid;
  record.parentPid = parentPid;
  record.tid = tid;
  record.parentTid = parentPid;
  return record;
}
perfdata::Comm exec(uint32_t pid) {
  perfdata::Comm record;
  record.pid = record.tid = pid;
  record.exec = true;
  record.name = "new";
  return record;
}

Backing named(const char* name) {
  Backing backing;
  backing.name = name;
  return backing;
}

std::string nameAt(AddressSpaces& spaces, uint32_t pid, uint64_t address) {
  const Mapping* found = spaces.of(pid).mappings->find(address);
  return found == nullptr ? "" : spaces.backing(found->backing).name;
}

TEST(MappingSet, FindsAndSplits) {
  MappingSet set;
  EXPECT_EQ(set.find(0), nullptr);
  set.insert({0x1000, 0x5000, 0x1000, 0x100, 1});
  set.insert({0x2000, 0x3000, 0x2000, 0, 2});
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.find(0xfff), nullptr);
  EXPECT_EQ(set.find(0x1fff)->backing, 1u);
  EXPECT_EQ(set.find(0x2000)->backing, 2u);
  EXPECT_EQ(set.find(0x3000)->backing, 1u);
  EXPECT_EQ(set.find(0x3000)->fileOffset(0x3008), 0x2108u) << "the piece keeps the origin of its mmap";
  EXPECT_EQ(set.find(0x5000), nullptr);
  EXPECT_EQ(set.before(0x2000)->end, 0x2000u);
  EXPECT_EQ(set.before(0x1000), nullptr);
  EXPECT_EQ(set.before(0x9000)->start, 0x3000u);
  set.insert({0x5000, 0x5000, 0, 0, 3});
  EXPECT_EQ(set.size(), 3u) << "an empty mapping is none";
}

TEST(MappingSet, AgreesWithAPageModelUnderRandomInsertions) {
  std::mt19937_64 random(1);
  MappingSet set;
  std::map<uint64_t, uint32_t> model;
  MappingSet copy;
  std::map<uint64_t, uint32_t> modelOfCopy;
  for (uint32_t i = 0; i < 3000; ++i) {
    const uint64_t start = random() % 4000, length = i % 100 == 0 ? random() % 3000 : 1 + random() % 4;
    set.insert({start, start + length, start, 0, i});
    for (uint64_t page = start; page < start + length; ++page) model[page] = i;
    if (i == 1500) {
      copy = set;
      modelOfCopy = model;
    }
  }
  const auto check = [](const MappingSet& actual, const std::map<uint64_t, uint32_t>& expected) {
    uint64_t pages = 0;
    for (uint64_t page = 0; page < 8000; ++page) {
      const Mapping* found = actual.find(page);
      const auto it = expected.find(page);
      ASSERT_EQ(found != nullptr, it != expected.end()) << page;
      if (found == nullptr) continue;
      ASSERT_EQ(found->backing, it->second) << page;
      ASSERT_TRUE(found->contains(page));
      ++pages;
      const Mapping* below = actual.before(page);
      ASSERT_TRUE(below == nullptr || below->end <= found->start);
    }
    ASSERT_EQ(pages, expected.size());
  };
  check(set, model);
  check(copy, modelOfCopy);
}

TEST(MappingSet, AnonymousPiecesSurviveTheMergedAreaTheKernelReports) {
  MappingSet set;
  set.insertAnonymous({0x10000, 0x20000, 0x10000, 0, 7});
  set.insertAnonymous({0x8000, 0x20000, 0x8000, 0, 7});  // a new mmap below it, merged
  EXPECT_EQ(set.find(0x12000)->origin, 0x10000u);
  EXPECT_EQ(set.find(0x9000)->origin, 0x8000u);
  EXPECT_EQ(set.find(0x9000)->end, 0x10000u);
  set.insertAnonymous({0x8000, 0x10000, 0x8000, 0, 7});
  EXPECT_EQ(set.size(), 2u) << "the same range again replaces";
}

TEST(MappingSet, AnonymousPiecesAreCodeWhereTheMergedAreaIs) {
  MappingSet set;
  set.insertAnonymous({0x10000, 0x20000, 0x10000, 0, 7, false});
  set.insertAnonymous({0x8000, 0x20000, 0x8000, 0, 7, true});
  ASSERT_EQ(set.size(), 2u);
  for (const uint64_t address : {0x8000, 0x10000}) EXPECT_TRUE(set.find(address)->code) << address;
}

TEST(MappingSet, ManySwallowedPiecesBecomeOne) {
  MappingSet set;
  for (uint64_t i = 0; i < 100; ++i) set.insertAnonymous({i * 0x2000, i * 0x2000 + 0x1000, i * 0x2000, 0, 7});
  set.insertAnonymous({0, 0x1000000, 0, 0, 7});
  EXPECT_EQ(set.size(), 1u);
}

TEST(Backing, KnowsWhatOnlyLooksLikeAPath) {
  for (const char* name : {"/bin/a", "/opt/lib.so (deleted)", "/dev/shm/board", "/memory"})
    EXPECT_TRUE(named(name).namesFile()) << name;
  for (const char* name :
       {"", "//anon", "[heap]", "[vdso]", "/memfd:x (deleted)", "/SYSV00000000 (deleted)",
        "/dev/zero (deleted)", "/dev/dri/card0", "/anon_hugepage (deleted)", "anon_inode:[perf_event]"})
    EXPECT_FALSE(named(name).namesFile()) << name;
}

TEST(AddressSpaces, AForkHasItsParentsMapsAndThenItsOwn) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/a"));
  spaces.onFork(task(2, 1, 2));
  EXPECT_EQ(spaces.of(1).mappings, spaces.of(2).mappings) << "copied by reference";
  EXPECT_NE(spaces.of(1).id, spaces.of(2).id);
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/b"));
  spaces.onMmap(mapping(2, 0x5000, 0x1000, "/bin/c"));
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "/bin/b");
  EXPECT_EQ(nameAt(spaces, 2, 0x1000), "/bin/a");
  EXPECT_EQ(nameAt(spaces, 1, 0x5000), "");
  EXPECT_EQ(nameAt(spaces, 2, 0x5000), "/bin/c");
}

TEST(AddressSpaces, AThreadSharesThem) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/a"));
  const uint32_t id = spaces.of(1).id;
  spaces.onFork(task(1, 1, 9));
  EXPECT_EQ(spaces.of(1).id, id);
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "/bin/a");
}

TEST(AddressSpaces, ExecClearsTheMapsAndIsANewSpace) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/a"));
  const uint32_t id = spaces.of(1).id;
  const uint64_t version = spaces.version();
  spaces.onComm(exec(1));
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "");
  EXPECT_NE(spaces.of(1).id, id);
  EXPECT_NE(spaces.version(), version);
  EXPECT_EQ(spaces.pidOf(spaces.of(1).id), 1u);
  perfdata::Comm rename = exec(1);
  rename.exec = false;
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/b"));
  spaces.onComm(rename);
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "/bin/b") << "a new name alone is no exec";
}

TEST(AddressSpaces, TheMapsGoWithTheLastThread) {
  AddressSpaces spaces;
  spaces.onComm(exec(1));
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/a"));
  spaces.onFork(task(1, 1, 2));
  spaces.onExit(task(1, 1, 1));
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "/bin/a") << "the main thread may end first";
  spaces.onExit(task(1, 1, 2));
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "");
}

TEST(AddressSpaces, WithoutItsBeginningAProcessKeepsItsMaps) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/a"));  // running before the recording, threads unknown
  spaces.onExit(task(1, 1, 5));
  EXPECT_EQ(nameAt(spaces, 1, 0x1000), "/bin/a");
}

TEST(AddressSpaces, AReusedPidIsANewSpace) {
  AddressSpaces spaces;
  spaces.onFork(task(2, 1, 2));
  const uint32_t first = spaces.of(2).id;
  spaces.onFork(task(2, 1, 2));
  EXPECT_NE(spaces.of(2).id, first);
}

TEST(AddressSpaces, HintsFollowChanges) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, 0x1000, 0x3000, "/bin/a"));
  spaces.onFork(task(2, 1, 2));
  AddressSpace& parent = spaces.of(1);
  AddressSpace& child = spaces.of(2);
  EXPECT_EQ(spaces.backing(parent.find(0x1000, parent.dataHint)->backing).name, "/bin/a");
  EXPECT_EQ(spaces.backing(child.find(0x1000, child.dataHint)->backing).name, "/bin/a");
  spaces.onMmap(mapping(1, 0x1000, 0x1000, "/bin/b"));
  EXPECT_EQ(spaces.backing(parent.find(0x1000, parent.dataHint)->backing).name, "/bin/b");
  EXPECT_EQ(spaces.backing(child.find(0x1000, child.dataHint)->backing).name, "/bin/a");
  EXPECT_EQ(parent.find(0x9000, parent.dataHint), nullptr);
}

TEST(AddressSpaces, RefusesMappingsThatWrapAround) {
  AddressSpaces spaces;
  spaces.onMmap(mapping(1, ~uint64_t{0} - 10, 100, "/bin/a"));
  spaces.onMmap(mapping(1, 0x1000, ~uint64_t{0}, "/bin/a"));
  EXPECT_TRUE(spaces.of(1).mappings->empty());
}

TEST(AddressSpaces, ManyForksOfALargeProcessAreCheap) {
  AddressSpaces spaces;
  for (uint64_t i = 0; i < 20000; ++i) spaces.onMmap(mapping(1, 0x10000 + i * 0x2000, 0x1000, "/bin/a"));
  for (uint32_t child = 2; child < 20002; ++child) {
    spaces.onFork(task(child, 1, child));
    spaces.onMmap(mapping(1, 0x10000 + (child % 20000) * uint64_t{0x2000}, 0x1000, "/bin/b"));
    spaces.onExit(task(child, 1, child));
  }
  EXPECT_EQ(nameAt(spaces, 1, 0x10000), "/bin/b");
}

}  // namespace
}  // namespace cacheline::analysis
