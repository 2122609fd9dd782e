// Working sets and miss classes of recordings made by hand, whose footprints are known.
#include "workset/workset.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <random>

#include "profile/profile.h"
#include "scenario.h"

namespace cacheline::workset {
namespace {

using namespace analysis::test;

constexpr uint64_t kHeapAt = 0x5000000;

/// Caches of two CPUs: each has an L1 of 64 sets of 12 ways and an L2 of 2048 lines; both share an L3.
constexpr const char* kMeta =
    R"({"schema":"cacheline-recording/1","collector":"clock","machine":{"lineSize":64},"topology":{
      "cores":[{"id":0,"cpus":[0]},{"id":1,"cpus":[1]}],"caches":[
      {"level":1,"type":"Data","bytes":49152,"lineSize":64,"ways":12,"cpus":[0]},
      {"level":1,"type":"Data","bytes":49152,"lineSize":64,"ways":12,"cpus":[1]},
      {"level":2,"type":"Unified","bytes":131072,"lineSize":64,"ways":16,"cpus":[0]},
      {"level":2,"type":"Unified","bytes":131072,"lineSize":64,"ways":16,"cpus":[1]},
      {"level":3,"type":"Unified","bytes":4194304,"lineSize":64,"ways":16,"cpus":[0,1]}]}})";

/// The report of `samples` loads, each of the line that `choose` gives.
template <typename Choose>
analysis::Report reported(uint32_t samples, Choose choose, const char* meta = kMeta) {
  Scenario scenario;
  scenario.metaJson = meta;
  scenario.start(100);
  scenario.anonymous(100, kHeapAt, 0x4000000, "[heap]");
  scenario.thread(100, 101);
  for (uint32_t i = 0; i < samples; ++i)
    scenario.load(100, i % 4 == 3 ? 101 : 100, kHeapAt + choose(i), i % 4 == 3);
  sharing::Options options;
  options.showAll = true;
  options.heapSites = true;
  options.splits = splitsForSurvey();
  return profile::Profile(scenario.write(), options, {}, {}).takeReport();
}

template <typename Choose>
Survey recorded(uint32_t samples, Choose choose, const char* meta = kMeta) {
  return surveyOf(reported(samples, choose, meta));
}

const MissClass& classOf(const Survey& survey, MissKind kind, std::optional<uint32_t> level = {}) {
  for (const MissClass& each : survey.classes)
    if (each.kind == kind && (!level || each.level == level)) return each;
  throw std::runtime_error("there is no such class");
}

TEST(Workset, ASmallSetFitsAndHasNoConflict) {
  std::mt19937 random(1);
  const Survey survey = recorded(6000, [&](uint32_t) { return 64 * (random() % 100); });
  EXPECT_EQ(survey.all.whole.samples, 6000u);
  EXPECT_EQ(survey.all.whole.lines, 100u);
  EXPECT_EQ(survey.all.atATime, 100u);
  EXPECT_EQ(survey.all.parts.size(), kParts);
  ASSERT_EQ(survey.threads.size(), 2u);
  EXPECT_EQ(survey.threads[0].tid, 100u);
  EXPECT_EQ(survey.threads[0].set.whole.samples, 4500u);
  EXPECT_EQ(survey.threads[1].set.whole.samples, 1500u);
  for (const uint32_t level : {1u, 2u, 3u})
    EXPECT_EQ(classOf(survey, MissKind::capacity, level).knowledge, Knowledge::notSeen) << level;
  EXPECT_EQ(classOf(survey, MissKind::conflict).knowledge, Knowledge::notSeen);
  EXPECT_EQ(classOf(survey, MissKind::falseSharing).knowledge, Knowledge::notSeen);
}

TEST(Workset, ALargeSetExceedsTheCachesBelowIt) {
  // 16384 lines: more than L1 and L2 hold, less than L3.
  std::mt19937 random(2);
  const Survey survey = recorded(12'000, [&](uint32_t) { return 64 * (random() % 16384); });
  ASSERT_TRUE(survey.all.whole.estimate);
  EXPECT_NEAR(static_cast<double>(*survey.all.whole.estimate), 16384, 1200);
  EXPECT_LE(*survey.all.whole.atLeast, 16384u);
  for (const uint32_t level : {1u, 2u}) {
    const MissClass& capacity = classOf(survey, MissKind::capacity, level);
    EXPECT_EQ(capacity.knowledge, Knowledge::possible) << level;
    ASSERT_FALSE(capacity.threads.empty());
    EXPECT_EQ(capacity.threads.front(), 100u);
    EXPECT_GT(*capacity.lines, *capacity.cacheLines);
  }
  EXPECT_EQ(classOf(survey, MissKind::capacity, 3).knowledge, Knowledge::notKnown);
  EXPECT_NE(classOf(survey, MissKind::conflict).knowledge, Knowledge::possible);
}

TEST(Workset, PhasesThatFitAreNoLackOfCapacity) {
  // Twenty sets of 100 lines, one after the other: 2000 lines altogether, which L1 does not hold at once.
  std::mt19937 random(3);
  const Survey survey =
      recorded(20'000, [&](uint32_t i) { return 64 * (100 * (i / 1000) + random() % 100); });
  EXPECT_EQ(survey.all.whole.lines, 2000u);
  EXPECT_LE(survey.all.atATime.value_or(0), 500u);
  EXPECT_EQ(classOf(survey, MissKind::capacity, 1).knowledge, Knowledge::notSeen);
}

TEST(Workset, LinesOfOneSetConflict) {
  std::mt19937 random(4);
  const Survey survey = recorded(6000, [&](uint32_t) { return 4096 * (random() % 64); });
  const MissClass& conflict = classOf(survey, MissKind::conflict);
  EXPECT_EQ(conflict.knowledge, Knowledge::possible);
  EXPECT_EQ(conflict.threads, (std::vector<uint32_t>{100, 101}));
  ASSERT_TRUE(conflict.sets);
  EXPECT_EQ(conflict.sets->oversubscribed, 1u);
  EXPECT_EQ(conflict.sets->mostLines, 64u);
  EXPECT_GT(conflict.share.value_or(0), 0.99);
  EXPECT_EQ(classOf(survey, MissKind::capacity, 1).knowledge, Knowledge::notSeen);
}

TEST(Workset, ConflictsOfFartherCachesAreNotKnown) {
  std::mt19937 random(4);
  const Survey survey = recorded(6000, [&](uint32_t) { return 4096 * (random() % 64); });
  for (const uint32_t level : {2u, 3u}) {
    const MissClass& conflict = classOf(survey, MissKind::conflict, level);
    EXPECT_EQ(conflict.knowledge, Knowledge::notKnown) << level;
    EXPECT_NE(conflict.reason.find("physical address"), std::string::npos) << conflict.reason;
    EXPECT_EQ(conflict.reason.find("hash") != std::string::npos, level == 3) << conflict.reason;
    EXPECT_FALSE(conflict.sets);
    EXPECT_FALSE(conflict.share);
    EXPECT_TRUE(conflict.threads.empty());
  }
}

TEST(Workset, SaysWhatItCannotKnow) {
  const Survey few = recorded(40, [](uint32_t i) { return 64 * i; });
  EXPECT_EQ(few.all.whole.atLeast, std::nullopt);
  EXPECT_EQ(few.all.atATime, std::nullopt);
  EXPECT_EQ(classOf(few, MissKind::capacity, 1).knowledge, Knowledge::notKnown);
  EXPECT_EQ(classOf(few, MissKind::conflict).knowledge, Knowledge::notKnown);
  const Survey bare = recorded(
      1000, [](uint32_t i) { return 64 * (i % 10); },
      R"({"schema":"cacheline-recording/1","collector":"clock","machine":{"lineSize":64}})");
  EXPECT_TRUE(bare.caches.empty());
  for (const MissKind kind : {MissKind::capacity, MissKind::conflict}) {
    EXPECT_EQ(classOf(bare, kind).knowledge, Knowledge::notKnown);
    EXPECT_EQ(classOf(bare, kind).reason, "the recording does not say what caches the machine has");
    EXPECT_EQ(classOf(bare, kind).level, std::nullopt);
  }
}

TEST(Workset, WithoutSamplesNothingIsKnownOfAnyClass) {
  const Survey none = recorded(0, [](uint32_t i) { return 64 * i; });
  EXPECT_EQ(none.caches.size(), 5u);
  ASSERT_EQ(none.classes.size(), 4u);
  for (const MissClass& each : none.classes) {
    EXPECT_EQ(each.knowledge, Knowledge::notKnown) << missKindName(each.kind);
    EXPECT_EQ(each.reason, "there are no samples with an address") << missKindName(each.kind);
  }
}

TEST(Workset, VariablesHaveAnUpperBound) {
  Scenario scenario;
  scenario.metaJson = kMeta;
  scenario.start(100);
  for (uint32_t i = 0; i < 200; ++i) scenario.load(100, 100, kHidden + 4 * (i % 4), 0);
  sharing::Options options;
  options.showAll = true;
  options.splits = splitsForSurvey();
  const analysis::Report report = profile::Profile(scenario.write(), options, {}, {}).takeReport();
  const Survey survey = surveyOf(report);
  ASSERT_EQ(survey.types.size(), 1u);
  EXPECT_EQ(survey.types[0].atMost, 1u) << survey.types[0].atMostReason;
  EXPECT_EQ(survey.types[0].peakBytes, std::nullopt);
}

/// What a memory PMU says of the loads of all threads.
Survey withSources(const analysis::Report& report, const analysis::MemoryCounts& counts) {
  Survey survey = surveyOf(report);
  for (ThreadSet& thread : survey.threads) thread.counts = counts;
  survey.classes = missClassesOf(report, survey);
  return survey;
}

TEST(Workset, DataSourcesMakeALackOfCapacityLikely) {
  std::mt19937 random(6);
  analysis::Report report = reported(12'000, [&](uint32_t) { return 64 * (random() % 16384); });
  report.splits->memory = true;
  const Survey far = withSources(report, {.l1 = 500, .llc = 500});
  for (const uint32_t level : {1u, 2u}) {
    EXPECT_EQ(classOf(far, MissKind::capacity, level).knowledge, Knowledge::likely) << level;
    EXPECT_EQ(classOf(far, MissKind::capacity, level).share, 0.5) << level;
  }
  const Survey second = withSources(report, {.l1 = 800, .l2 = 200});
  EXPECT_EQ(classOf(second, MissKind::capacity, 1).knowledge, Knowledge::likely);
  EXPECT_EQ(classOf(second, MissKind::capacity, 2).knowledge, Knowledge::possible);
  EXPECT_EQ(classOf(second, MissKind::capacity, 2).share, 0);
  // What other cores' caches answer is sharing.
  const Survey sharing = withSources(report, {.localHitm = 900, .l1 = 900});
  EXPECT_EQ(classOf(sharing, MissKind::capacity, 1).knowledge, Knowledge::possible);
  const Survey scarce = withSources(report, {.llc = 10});
  EXPECT_EQ(classOf(scarce, MissKind::capacity, 1).knowledge, Knowledge::possible);
  EXPECT_EQ(classOf(scarce, MissKind::capacity, 1).share, std::nullopt);
}

TEST(Workset, MissesMakeAConflictLikely) {
  std::mt19937 random(7);
  analysis::Report report = reported(6000, [&](uint32_t) { return 4096 * (random() % 64); });
  report.splits->memory = true;
  EXPECT_EQ(classOf(surveyOf(report), MissKind::conflict).knowledge, Knowledge::possible);
  for (analysis::Line& line : report.lines)
    for (analysis::Access& access : line.accesses)
      for (analysis::AccessSplit& split : access.splits) split.misses = split.samples;
  EXPECT_EQ(classOf(surveyOf(report), MissKind::conflict).knowledge, Knowledge::likely);
}

TEST(Workset, IsJson) {
  std::mt19937 random(5);
  Scenario scenario;
  scenario.metaJson = kMeta;
  scenario.start(100);
  scenario.anonymous(100, kHeapAt, 0x100000, "[heap]");
  for (uint32_t i = 0; i < 500; ++i) scenario.load(100, 100, kHeapAt + 64 * (random() % 50), 0);
  sharing::Options options;
  options.showAll = true;
  options.splits = splitsForSurvey();
  const analysis::Report report = profile::Profile(scenario.write(), options, {}, {}).takeReport();
  rapidjson::Document document;
  document.Parse(surveyJson(report, surveyOf(report)).c_str());
  ASSERT_FALSE(document.HasParseError());
  EXPECT_STREQ(document["schema"].GetString(), "cacheline-workset/1");
  EXPECT_EQ(document["all"]["lines"].GetUint64(), 50u);
  EXPECT_EQ(document["caches"].Size(), 5u);
  EXPECT_EQ(document["missClasses"].Size(), 8u);
}

}  // namespace
}  // namespace cacheline::workset
