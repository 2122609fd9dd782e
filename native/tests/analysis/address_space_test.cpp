// Mappings by address, checked against a model page by page.
#include "analysis/address_space.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cacheline::analysis {
namespace {

Backing named(const char* name) {
  Backing backing;
  backing.name = name;
  return backing;
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

}  // namespace
}  // namespace cacheline::analysis
