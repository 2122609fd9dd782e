// Paths of made lives: runs, equal paths, crossings, truncation, words that were watched apart.
#include "traces/paths.h"

#include <gtest/gtest.h>

namespace cacheline::traces {
namespace {

ObjectAccess access(const char* function, StepKind kind, uint32_t word, uint32_t cpu, uint64_t ns) {
  return {function, kind, {{uint64_t{word} * 8, "m" + std::to_string(word)}}, word, cpu, ns};
}

/// Allocated by `make` on CPU 3, changed on CPU 5, freed by `drop` on CPU 3.
TracedLife queued(std::vector<uint32_t> words, uint64_t delay = 0) {
  TracedLife life;
  life.allocatedIn = "make";
  life.cpu = 3;
  life.words = std::move(words);
  for (const uint32_t word : life.words)
    life.accesses.push_back(access("make", StepKind::write, word, 3, 10 + word));
  for (const uint32_t word : life.words)
    if (word % 2 == 0)
      life.accesses.push_back(access("change", StepKind::readWrite, word, 5, 1000 + delay + word));
  for (const uint32_t word : life.words)
    if (word == 1) life.accesses.push_back(access("check", StepKind::read, word, 5, 2000 + delay));
  life.freed = {"drop", 3, 3000 + delay};
  return life;
}

std::string textOf(const Path& path) {
  std::string text = path.allocatedIn.value_or("-");
  for (const PathStep& step : path.steps) {
    text += std::string(step.cpuChanged ? " | " : " ") + step.function + ":" + stepKindName(step.kind);
    for (const TracedMember& member : step.members) text += "," + member.name;
  }
  if (path.freed) text += std::string(path.freed->cpuChanged ? " | " : " ") + path.freed->function;
  return text;
}

TEST(Paths, RunsOfOneFunctionCpuAndKindAreOneStep) {
  const std::vector<Path> paths = pathsOf({queued({0, 1})});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(textOf(paths[0]), "make make:write,m0,m1 | change:read-write,m0 check:read,m1 | drop");
  EXPECT_EQ(paths[0].steps[0].sinceAllocNs, 10u);  // its first access
  EXPECT_EQ(paths[0].steps[1].place, 1u);
  EXPECT_EQ(paths[0].freed->place, 0u);
  EXPECT_EQ(paths[0].freed->sinceAllocNs, 3000u);
}

TEST(Paths, EqualOnesAreCountedAndTheirTimesAveraged) {
  TracedLife other = queued({0, 1}, 100);
  other.accesses.erase(other.accesses.begin() + 2);  // it was not changed
  const std::vector<Path> paths = pathsOf({queued({0, 1}), other, queued({0, 1}, 200)});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].count, 2u);
  EXPECT_EQ(paths[0].steps[1].sinceAllocNs, 1100u);
  EXPECT_EQ(paths[1].count, 1u);
  EXPECT_EQ(textOf(paths[1]), "make make:write,m0,m1 | check:read,m1 | drop");
}

TEST(Paths, WhichCpusItWasDoesNotMatterButHowTheyChange) {
  TracedLife elsewhere = queued({0, 1});
  elsewhere.cpu = 7;
  for (ObjectAccess& one : elsewhere.accesses) one.cpu = one.cpu == 3 ? 7 : 0;
  elsewhere.freed->cpu = 7;
  TracedLife third = queued({0, 1});
  third.freed->cpu = 9;
  const std::vector<Path> paths = pathsOf({queued({0, 1}), elsewhere, third});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[0].count, 2u);
  EXPECT_EQ(paths[1].freed->place, 2u);
}

TEST(Paths, WordsThatWereWatchedApartAreOnePathInTheOrderOfTime) {
  // Every two words are watched together: their order is known.
  const std::vector<Path> paths =
      pathsOf({queued({0, 1}), queued({1, 2}), queued({0, 2}), queued({0, 1}, 50)});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].count, 4u);
  EXPECT_EQ(textOf(paths[0]), "make make:write,m0,m1,m2 | change:read-write,m0,m2 check:read,m1 | drop");
}

TEST(Paths, OtherFreesAreOtherPathsThoughOtherWordsWereWatched) {
  TracedLife dropped = queued({2, 3});
  dropped.freed->function = "give_up";
  EXPECT_EQ(pathsOf({queued({0, 1}), dropped}).size(), 2u);
}

TEST(Paths, ContradictingStepsAtSharedWordsAreNotJoined) {
  TracedLife other = queued({1, 2});
  std::erase_if(other.accesses, [](const ObjectAccess& one) { return one.function == "check"; });
  EXPECT_EQ(pathsOf({queued({0, 1}), other}).size(), 2u);
}

TEST(Paths, TruncatedOnesStayApart) {
  TracedLife cut = queued({0, 1});
  cut.truncated = true;
  cut.freed.reset();
  const std::vector<Path> paths = pathsOf({queued({0, 1}), cut, queued({0, 1})});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_FALSE(paths[0].truncated);
  EXPECT_TRUE(paths[1].truncated);
  EXPECT_FALSE(paths[1].freed.has_value());
}

TEST(Paths, WhatComesAgainAndAgainIsToldOnce) {
  TracedLife life = queued({0});
  life.accesses.clear();
  for (uint32_t i = 0; i < 301; ++i)
    life.accesses.push_back(access(i % 2 == 0 ? "ping" : "pong", StepKind::write, 0, i % 2 == 0 ? 3 : 5, i));
  TracedLife shorter = life;
  shorter.accesses.erase(shorter.accesses.begin() + 5, shorter.accesses.end());
  const std::vector<Path> paths = pathsOf({life, shorter});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(textOf(paths[0]), "make ping:write,m0 | pong:write,m0 | ping:write,m0 drop");
  EXPECT_TRUE(paths[0].steps[0].repeated && paths[0].steps[1].repeated && !paths[0].steps[2].repeated);
}

TEST(Paths, LongOnesAreCutAndSaySo) {
  TracedLife life = queued({0});
  life.accesses.clear();
  for (uint32_t i = 0; i < 300; ++i)
    life.accesses.push_back(access(("f" + std::to_string(i)).c_str(), StepKind::write, 0, 3, i));
  const std::vector<Path> paths = pathsOf({life});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].steps.size(), kMostSteps);
  EXPECT_EQ(paths[0].moreSteps, 300 - kMostSteps);  // that many accesses of one word are told apart
  EXPECT_TRUE(paths[0].freed.has_value());
}

TEST(Paths, TheOrderIsThatOfMostObjects) {
  // Word 0 is changed before word 2 is; the waiting before differs so much that means say otherwise.
  TracedLife early = queued({0, 2});
  early.accesses[2].function = "first";
  early.accesses[3].function = "second";
  TracedLife apart = queued({0, 1}, 1'000'000);
  apart.accesses[2].function = "first";
  TracedLife other = queued({1, 2});
  other.accesses[2].function = "second";
  const std::vector<Path> paths = pathsOf({early, apart, other});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(textOf(paths[0]),
            "make make:write,m0,m1,m2 | first:read-write,m0 second:read-write,m2 check:read,m1 | drop");
  EXPECT_LE(paths[0].steps[1].sinceAllocNs, paths[0].steps[2].sinceAllocNs);
}

TEST(Paths, VariablesAreNeitherAllocatedNorFreed) {
  TracedLife life = queued({0});
  life.variable = true;
  life.freed.reset();
  const std::vector<Path> paths = pathsOf({life});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_FALSE(paths[0].allocatedIn.has_value());
  EXPECT_FALSE(paths[0].steps[0].cpuChanged);
}

TEST(Paths, WindowsOfOneVariableShareAPathWhereverTheyBegin) {
  TracedLife life = queued({0});
  life.variable = true;
  life.freed.reset();
  life.accesses.clear();
  for (uint32_t i = 0; i < 5; ++i)
    life.accesses.push_back(
        access(i % 2 == 0 ? "ping" : "pong", StepKind::write, 0, i % 2 == 0 ? 3 : 5, 10 * i));
  TracedLife later = life;
  later.accesses.erase(later.accesses.begin());
  const std::vector<Path> paths = pathsOf({life, life, later});
  ASSERT_EQ(paths.size(), 1u);
  EXPECT_EQ(paths[0].count, 3u);
  EXPECT_EQ(textOf(paths[0]), "- ping:write,m0 | pong:write,m0");
  EXPECT_TRUE(paths[0].steps[0].repeated);
}

TEST(Paths, NoLivesHaveNone) {
  EXPECT_TRUE(pathsOf({}).empty());
}

}  // namespace
}  // namespace cacheline::traces
