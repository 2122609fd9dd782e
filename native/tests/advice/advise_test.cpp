// Advice on made reports: which way, what it leaves, what it costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {
namespace {

std::vector<std::string> orderOf(const Advice& advice) {
  std::vector<std::string> names;
  for (const PlacedMember& placed : std::get<ChangeMembers>(advice.change).layout.order)
    names.push_back((placed.startsLine ? "|" : "") + advice.described->own[placed.member].name);
  return names;
}

TEST(Advise, TwoOwnersOfOneObjectGetLinesOfTheirOwn) {
  ReportBuilder builder;
  builder.type("queue", {"head", "tail"});
  builder.object("queue", kBase, 16, "queue");
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                            {.thread = 1, .address = kBase + 8, .writes = true, .function = 2}}));
  ASSERT_EQ(list.advice.size(), 1u);
  const Advice& advice = list.advice.front();
  EXPECT_EQ(advice.way, Way::pad);
  EXPECT_EQ(advice.why, Why::unrelatedOwners);
  EXPECT_EQ(advice.verdict, analysis::Verdict::falseSharing);
  EXPECT_EQ(orderOf(advice), (std::vector<std::string>{"head", "|tail"}));
  EXPECT_DOUBLE_EQ(advice.contendedLeft, 0);
  EXPECT_EQ(advice.bytesPerInstance, 112u);
  EXPECT_EQ(advice.readerLinesBefore, 1u);
  EXPECT_EQ(advice.readerLinesAfter, 2u);
  EXPECT_EQ(advice.basis, "clock, not calibrated");
  EXPECT_FALSE(advice.speedup);
}

TEST(Advise, SaysHowMuchOfWhatRemainsIsTrueSharing) {
  ReportBuilder builder;
  builder.type("queue", {"head", "tail", "count"});
  builder.object("queue", kBase, 24, "queue");
  std::vector<Doing> doings{{.thread = 0, .address = kBase, .writes = true},
                            {.thread = 1, .address = kBase + 8, .writes = true, .function = 2}};
  EXPECT_DOUBLE_EQ(advise(ReportBuilder(builder).build(doings)).advice.at(0).trulyLeft, 0);
  for (const uint32_t thread : {0u, 1u})
    doings.push_back({.thread = thread, .address = kBase + 16, .writes = true, .function = 3});
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::pad);
  EXPECT_GT(list.advice[0].trulyLeft, 0.3);
  EXPECT_DOUBLE_EQ(list.advice[0].trulyLeft, list.advice[0].contendedLeft) << "all that remains";
}

TEST(Advise, TypesThatHeadersOfLibrariesDefineAreTheirInterface) {
  struct Case {
    const char* binary;
    const char* file;
    bool isAbi;
  };
  for (const Case& each :
       {Case{"libmade.so.2", "/src/made.h", true}, Case{"libmade.so", "/src/made.hpp", true},
        Case{"libmade.so.2", "/src/made.c", false}, Case{"made", "/src/made.h", false}}) {
    ReportBuilder builder;
    analysis::TypeHeat& type = builder.type("queue", {"head", "tail"});
    type.object = each.binary;
    type.layout.file = each.file;
    builder.object("queue", kBase, 16, "queue");
    const AdviceList list =
        advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                              {.thread = 1, .address = kBase + 8, .writes = true, .function = 2}}));
    ASSERT_EQ(list.advice.size(), 1u) << each.binary << " " << each.file;
    EXPECT_EQ(list.advice.front().abi, each.isAbi) << each.binary << " " << each.file;
  }
}

TEST(Advise, WhatIsWrittenBesideWhatOthersOnlyReadIsMixedUse) {
  for (const bool readerWritesToo : {false, true}) {
    ReportBuilder builder;
    builder.type("entry", {"key", "hits", "own"});
    builder.object("entry", kBase, 24, "entry");
    std::vector<Doing> doings{
        {.thread = 0, .address = kBase, .writes = false, .count = 300},
        {.thread = 1, .address = kBase + 8, .writes = true, .count = 300, .function = 2}};
    if (readerWritesToo) doings.push_back({.thread = 0, .address = kBase + 16, .writes = true, .count = 300});
    const AdviceList list = advise(builder.build(doings));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].why, readerWritesToo ? Why::unrelatedOwners : Why::mixedUse);
  }
}

TEST(Advise, MembersThatAreUsedInTurnsAreReordered) {
  ReportBuilder builder;
  builder.type("mix", {"a", "x", "b", "y", "cold"});
  builder.object("mix", kBase, 40, "mix");
  std::vector<Doing> doings;
  for (uint32_t i = 0; i < 4; ++i)
    doings.push_back({.thread = i % 2, .address = kBase + 8 * i, .writes = true, .function = 1 + i % 2});
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::reorder);
  const std::vector<std::string> order = orderOf(list.advice[0]);
  const auto at = [&](const std::string& name) {
    return std::find_if(order.begin(), order.end(),
                        [&](const std::string& each) { return each.ends_with(name); }) -
           order.begin();
  };
  EXPECT_EQ(std::abs(at("a") - at("b")), 1);
  EXPECT_EQ(std::abs(at("x") - at("y")), 1);
  EXPECT_EQ(std::ranges::count_if(order, [](const std::string& each) { return each.starts_with("|"); }), 1);
  EXPECT_EQ(at("cold") - at("y"), 1) << "nobody waits for it";
  EXPECT_DOUBLE_EQ(list.advice[0].contendedLeft, 0);
}

/// Two samples at a member may be of the one side as well as of the other: it stays where it is declared.
TEST(Advise, MembersOfFewSamplesStayWithTheirNeighbours) {
  for (const uint32_t count : {2u, 100u}) {
    ReportBuilder builder;
    builder.type("channel", {"put", "took_seen", "taken", "put_seen"});
    builder.object("channel", kBase, 32, "channel");
    const AdviceList list = advise(builder.build(
        {{.thread = 0, .address = kBase, .writes = true, .locked = true, .count = 300},
         {.thread = 1, .address = kBase + 16, .writes = true, .locked = true, .count = 300, .function = 2},
         {.thread = 0, .address = kBase + 16, .count = 20, .function = 3, .step = 15'000},
         {.thread = 1, .address = kBase, .count = 20, .function = 4, .step = 15'000},
         {.thread = 1, .address = kBase + 8, .count = count, .function = 5, .step = 300'000 / count}}));
    ASSERT_EQ(list.advice.size(), 1u);
    ASSERT_TRUE(std::holds_alternative<ChangeMembers>(list.advice[0].change)) << count;
    EXPECT_EQ(orderOf(list.advice[0]),
              count == 2 ? (std::vector<std::string>{"put", "took_seen", "|taken", "put_seen"})
                         : (std::vector<std::string>{"put", "|took_seen", "|taken", "put_seen"}));
  }
}

TEST(Advise, TheOrderStaysWhereAnotherOneSavesNothing) {
  analysis::TypeHeat type = typeOf("queue", {"put", "took_seen", "taken", "put_seen", "slots"});
  type.own[4].alignment = type.own[4].offset = type.own[4].size = 64;
  MemberGroups groups;
  groups.groups = {{.members = {0, 4}, .contended = 2, .written = true},
                   {.members = {2}, .contended = 1, .written = true}};
  const MemberLayout layout = layOut(type, groups, 64);
  EXPECT_FALSE(layout.reordered) << "the slots begin a line whatever is before them";
  EXPECT_EQ(layout.size, 192u);
  std::vector<uint64_t> offsets;
  for (const PlacedMember& member : layout.order) offsets.push_back(member.offset);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 8, 64, 72, 128}))
      << "what was not seen stays behind its neighbour";
}

TEST(Advise, OneSharedWordIsLeftAlone) {
  ReportBuilder builder;
  builder.type("counter", {"value", "limit"});
  builder.object("counter", kBase, 16, "counter");
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase, .writes = true, .locked = true},
                            {.thread = 1, .address = kBase, .writes = true, .locked = true}}));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::none);
  EXPECT_EQ(list.advice[0].why, Why::trueSharing);
  EXPECT_DOUBLE_EQ(list.advice[0].contendedLeft, 1);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(list.advice[0].change));
}

TEST(Advise, ASumOfManyThreadsGetsACopyForEach) {
  for (const bool isLookedAt : {false, true}) {
    ReportBuilder builder;
    builder.type("counter", {"value", "limit"});
    builder.object("counter", kBase, 16, "counter");
    std::vector<Doing> doings;
    for (uint32_t thread = 0; thread < 3; ++thread)
      doings.push_back({.thread = thread, .address = kBase, .writes = true, .locked = true, .adds = true});
    if (isLookedAt) doings.push_back({.thread = 3, .address = kBase, .writes = false, .function = 2});
    const AdviceList list = advise(builder.build(doings));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].why, Why::trueSharing);
    EXPECT_EQ(list.advice[0].way, isLookedAt ? Way::none : Way::perThread);
    EXPECT_DOUBLE_EQ(list.advice[0].trulyLeft, 0) << "copies end it";
    EXPECT_FALSE(list.advice[0].speedup);
    if (isLookedAt) continue;
    EXPECT_DOUBLE_EQ(list.advice[0].contendedLeft, 0);
    EXPECT_EQ(list.advice[0].bytesPerInstance, 3 * 64u);
    EXPECT_EQ(list.advice[0].readerLinesAfter, 3u);
  }
}

TEST(Advise, ObjectsOfOneTypeGetAnAlignedType) {
  ReportBuilder builder;
  builder.type("worker", {"done", "failed"}).instances = 4;
  builder.object("workers", kBase, 64, "worker[4]");
  std::vector<Doing> doings;
  for (uint32_t i = 0; i < 4; ++i) {
    doings.push_back({.thread = i, .address = kBase + 16 * i, .writes = true});
    doings.push_back({.thread = i, .address = kBase + 16 * i + 8, .writes = true});
  }
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::align);
  EXPECT_TRUE(std::holds_alternative<AlignType>(list.advice[0].change));
  EXPECT_EQ(list.advice[0].object, "workers");
  EXPECT_EQ(list.advice[0].bytesPerInstance, 48u);
  EXPECT_EQ(list.advice[0].bytesTotal, 192u);
  EXPECT_EQ(list.advice[0].readerLinesBefore, 1u);
  EXPECT_EQ(list.advice[0].readerLinesAfter, 4u);
}

TEST(Advise, ObjectsOnTheHeapOfACProgramNeedAnAllocator) {
  ReportBuilder builder;
  builder.type("session", {"requests", "bytes"}).instances = 2;
  builder.heapObject(kBase, 16, "session");
  builder.heapObject(kBase + 32, 16, "session");
  const AdviceList list = advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                                                {.thread = 1, .address = kBase + 32, .writes = true}}));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::allocate);
  const auto& change = std::get<Allocate>(list.advice[0].change);
  EXPECT_FALSE(change.call) << "no heap blocks were recorded";
  EXPECT_EQ(change.type, "session");
  EXPECT_EQ(change.files, std::vector<std::string>{"/src/made.c"}) << "where the call is looked for";
}

TEST(Advise, VariablesThatLieBesideEachOtherAreOneAdvice) {
  ReportBuilder builder;
  builder.object("hits", kBase, 8, "long int");
  builder.object("misses", kBase + 8, 8, "long int");
  const AdviceList list = advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                                                {.thread = 1, .address = kBase + 8, .writes = true}}));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::align);
  const auto& variables = std::get<AlignVariables>(list.advice[0].change).variables;
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(list.advice[0].contendedLeft, 0);
}

/// Go aligns nothing: what its padding takes is said, not what an alignment would.
TEST(Advise, PaddingOfGoIsCountedAsItIsWritten) {
  const auto adviceOn = [](symbols::Language language, bool isMembers) {
    ReportBuilder builder;
    analysis::TypeHeat& type = builder.type("main.shard", {"hits", "misses", "total", "limit"});
    type.instances = 2;
    type.language = language;
    builder.object("main.shards", kBase, 64, "main.shard[2]");
    const AdviceList list =
        advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                              {.thread = 1, .address = kBase + (isMembers ? 8 : 32), .writes = true}}));
    EXPECT_EQ(list.advice.size(), 1u);
    return list.advice.front();
  };
  using symbols::Language;
  for (const Language other : {Language::c, Language::cxx, Language::rust, Language::unknown})
    EXPECT_EQ(adviceOn(other, false).bytesPerInstance, 32u);
  const Advice aligned = adviceOn(Language::go, false);
  EXPECT_EQ(aligned.language, Language::go);
  EXPECT_TRUE(std::holds_alternative<AlignType>(aligned.change));
  EXPECT_EQ(aligned.bytesPerInstance, 128u) << "a pad on both sides";
  EXPECT_EQ(aligned.bytesTotal, 256u);
  const Advice members = adviceOn(Language::go, true);
  const auto& order = std::get<ChangeMembers>(members.change).layout.order;
  const auto starts =
      std::count_if(order.begin() + 1, order.end(), [](const auto& each) { return each.startsLine; });
  EXPECT_GT(starts, 0);
  EXPECT_EQ(members.bytesPerInstance, 64u * static_cast<uint64_t>(starts)) << "a pad between groups";
}

TEST(Advise, SpeaksTheLanguageOfTheTypeElseOfItsFileElseOfTheCode) {
  const auto languageOf = [](symbols::Language ofType, const std::string& file) {
    ReportBuilder builder;
    analysis::TypeHeat& type = builder.type("pair", {"a", "b"});
    type.language = ofType;
    type.layout.file = file;
    builder.object("pair", kBase, 16, "pair");
    const AdviceList list = advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                                                  {.thread = 1, .address = kBase + 8, .writes = true}}));
    EXPECT_EQ(list.advice.size(), 1u);
    return list.advice.front().language;
  };
  using symbols::Language;
  EXPECT_EQ(languageOf(Language::rust, ""), Language::rust);
  EXPECT_EQ(languageOf(Language::cxx, "/src/shared.h"), Language::cxx);
  EXPECT_EQ(languageOf(Language::unknown, "/src/main.go"), Language::go);
  EXPECT_EQ(languageOf(Language::unknown, "/src/shared.h"), Language::c) << "the code is in /src/made.c";
}

TEST(Advise, AnArrayOfNumbersNeedsAStride) {
  ReportBuilder builder;
  builder.object("counters", kBase, 32, "long int[4]");
  std::vector<Doing> doings;
  for (uint32_t i = 0; i < 4; ++i) doings.push_back({.thread = i, .address = kBase + 8 * i, .writes = true});
  const AdviceList list = advise(builder.build(doings));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::stride);
  EXPECT_EQ(list.advice[0].bytesTotal, 4u * 56);
}

/// Who stores all the time loses the line as often as the reader looks, and the reader seldom does.
TEST(Advise, ARareReaderGainsHardlyAnything) {
  for (const uint32_t looks : {3u, 5u}) {
    ReportBuilder builder;
    builder.type("worker", {"done", "limit"});
    builder.object("worker", kBase, 16, "worker");
    const AdviceList list = advise(builder.build(
        {{.thread = 0, .address = kBase, .reads = false, .writes = true, .count = 4000},
         {.thread = 1, .address = kBase + 8, .count = looks, .function = 2, .step = 4'000'000 / looks}}));
    for (const Advice& advice : list.advice) EXPECT_LT(advice.mostSpeedup, 1.05) << looks;
  }
}

/// A reader waits all its time, but the thread that the program waits for has hardly anything to gain.
TEST(Advise, AVictimWhoseProgramHardlyGainsIsTold) {
  for (const bool isBusy : {true, false}) {
    ReportBuilder builder;
    builder.type("worker", {"done", "limit"});
    builder.object("worker", kBase, 16, "worker");
    builder.object("own", kBase + 64, 8, "");
    std::vector<Doing> doings{
        {.thread = 0, .address = kBase, .writes = true, .locked = true, .count = 150, .step = 10'000},
        {.thread = 1, .address = kBase + 8, .count = 1500, .function = 2}};
    if (isBusy) doings.push_back({.thread = 0, .address = kBase + 64, .count = 9850, .step = 150});
    const AdviceList list = advise(builder.build(doings));
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_EQ(list.advice[0].way, Way::pad);
    EXPECT_EQ(list.advice[0].threadsOnly, isBusy);
    EXPECT_EQ(list.advice[0].mostSpeedup < 1.05, isBusy) << list.advice[0].mostSpeedup;
  }
}

TEST(Advise, WhatOnlyMayBeWaitingIsNoPromise) {
  for (const uint64_t mayWait : {0u, 5000u}) {
    ReportBuilder builder;
    builder.type("worker", {"done", "limit"});
    builder.object("worker", kBase, 16, "worker");
    builder.object("own", kBase + 64, 8, "");
    analysis::Report report =
        builder.build({{.thread = 0, .address = kBase, .writes = true, .count = 150, .step = 10'000},
                       {.thread = 1, .address = kBase + 8, .count = 1500, .function = 2},
                       {.thread = 0, .address = kBase + 64, .count = 9850, .step = 150}});
    report.threads[0].mayWait[{0, 1}] = mayWait;
    const AdviceList list = advise(report);
    ASSERT_EQ(list.advice.size(), 1u);
    EXPECT_TRUE(list.advice[0].threadsOnly);
    EXPECT_LT(list.advice[0].mostSpeedup, 1.05);
  }
}

/// Whatever order members have, and whoever owns them: no two owners share a line of the new layout, each
/// member is placed once, and none overlaps another one.
TEST(Advise, AnyMixOfOwnersIsTakenApart) {
  std::mt19937 generator(20261125);
  const auto random = [&](uint32_t below) { return static_cast<uint32_t>(generator() % below); };
  for (int round = 0; round < 60; ++round) {
    ReportBuilder builder;
    const uint32_t members = 2 + random(7), owners = 2 + random(2);
    std::vector<std::string> names;
    for (uint32_t i = 0; i < members; ++i) names.push_back("m" + std::to_string(i));
    builder.type("mixed", names);
    builder.object("mixed", kBase, 8 * members, "mixed");
    std::vector<uint32_t> ownerOf(members);
    std::vector<Doing> doings;
    for (uint32_t i = 0; i < members; ++i) {
      ownerOf[i] = i < owners ? i : random(owners);
      doings.push_back(
          {.thread = ownerOf[i], .address = kBase + 8 * i, .writes = true, .function = ownerOf[i]});
    }
    const analysis::Report& report = builder.build(doings);
    const AdviceList list = advise(report);
    ASSERT_EQ(list.advice.size(), 1u) << round;
    const Advice& advice = list.advice[0];
    ASSERT_TRUE(std::holds_alternative<ChangeMembers>(advice.change)) << round;
    const MemberLayout& layout = std::get<ChangeMembers>(advice.change).layout;
    ASSERT_EQ(layout.order.size(), members);
    std::vector<bool> placed(members);
    for (const PlacedMember& a : layout.order) {
      EXPECT_FALSE(placed[a.member]);
      placed[a.member] = true;
      EXPECT_EQ(layout.movedTo(*advice.described, 8 * a.member), a.offset);
      EXPECT_LE(a.offset + 8, layout.size);
      for (const PlacedMember& b : layout.order) {
        if (a.member == b.member) continue;
        EXPECT_TRUE(a.offset + 8 <= b.offset || b.offset + 8 <= a.offset) << round;
        EXPECT_TRUE(ownerOf[a.member] == ownerOf[b.member] || a.offset / 64 != b.offset / 64) << round;
      }
    }
    EXPECT_EQ(layout.size % 64, 0u);
    EXPECT_DOUBLE_EQ(advice.contendedLeft, 0) << round;
  }
}

TEST(Latent, MembersThatAreQuietOnlyByTheirPlace) {
  ReportBuilder builder;
  builder.type("clock", {"now", "pad0", "pad1", "pad2", "limit", "pad3"});
  builder.heapObject(kBase + 32, 48, "clock");  // `limit` begins the next line
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase + 32, .writes = true},
                            {.thread = 1, .address = kBase + 64, .function = 2, .from = 5}}));
  EXPECT_TRUE(list.advice.empty());
  ASSERT_EQ(list.latent.size(), 1u);
  EXPECT_EQ(list.latent[0].type, "clock");
  EXPECT_EQ(list.latent[0].members, (std::vector<std::string>{"limit", "now"}));
  std::vector<uint32_t> offsets;
  for (const LatentPlacement& placement : list.latent[0].placements)
    if (placement.lineSize == 64) offsets.push_back(placement.baseOffset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 16}));
}

/// Contended as it lies: its advice says that it is luck, and the list of quiet objects does not have it.
TEST(Latent, WaitingThatIsLuckIsToldByItsAdvice) {
  ReportBuilder builder;
  builder.type("clock", {"now", "pad0", "pad1", "pad2", "limit", "pad3"});
  builder.heapObject(kBase + 16, 48, "clock");
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase + 16, .writes = true},
                            {.thread = 1, .address = kBase + 48, .function = 2, .from = 5}}));
  EXPECT_TRUE(list.latent.empty());
  ASSERT_EQ(list.advice.size(), 1u);
  std::vector<uint32_t> offsets;
  for (const LatentPlacement& placement : list.advice[0].placements) {
    EXPECT_EQ(placement.lineSize, 64u) << "of pairs of lines no sample tells";
    EXPECT_EQ(placement.pairs, (std::vector<std::pair<std::string, std::string>>{{"limit", "now"}}));
    offsets.push_back(placement.baseOffset);
  }
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 16}));
}

/// Two objects share a line. That members of one of them would with another placement is not why.
TEST(Latent, WaitingForOtherObjectsIsNoLuckOfMembers) {
  ReportBuilder builder;
  builder.type("clock", {"now", "pad0", "pad1", "pad2", "limit", "pad3"});
  builder.heapObject(kBase, 48, "clock");
  builder.heapObject(kBase + 48, 48, "clock");  // `limit` is on the next line
  const AdviceList list =
      advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                            {.thread = 1, .address = kBase + 48, .writes = true, .function = 2},
                            {.thread = 0, .address = kBase + 80, .writes = true, .function = 3, .from = 5}}));
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_TRUE(list.advice[0].placements.empty());
}

TEST(Latent, WhatIsAlikeEverywhereIsNoLuck) {
  ReportBuilder builder;
  builder.type("pair", {"a", "b"}).layout.align = 64;
  builder.object("pair", kBase, 16, "pair");
  const AdviceList list = advise(builder.build({{.thread = 0, .address = kBase, .writes = true},
                                                {.thread = 1, .address = kBase + 8, .writes = true}}));
  EXPECT_TRUE(list.latent.empty());
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_TRUE(list.advice[0].placements.empty());
}

TEST(Advise, WarnsOfWhatTheReportWarnsOfAndThenOfItsOwn) {
  ReportBuilder builder;
  builder.report.warnings = {"Threads took turns.", "Records were lost."};
  builder.report.metaJson = R"({"calibration":{}})";
  const AdviceList list = advise(builder.build({}));
  ASSERT_EQ(list.warnings.size(), 3u);
  EXPECT_EQ(list.warnings[0], "Threads took turns.");
  EXPECT_EQ(list.warnings[1], "Records were lost.");
  EXPECT_TRUE(list.warnings[2].starts_with("What contention costs on that machine is not known"));
}

TEST(Advise, SaysWhatTheRecordingCouldNotSee) {
  ReportBuilder builder;
  builder.report.metaJson = R"({"target":{"kind":"system"}})";
  builder.report.blind = analysis::Blind{0.5, {{analysis::UnseenReason::lost, "samples", 0.5}}};
  const analysis::Report& report = builder.build({});
  EXPECT_EQ(adviceJson(report, advise(report)),
            R"({"schema":"cacheline-advice/1","evidence":["clock"],)"
            R"("blind":{"share":0.5,"reasons":[{"reason":"lost","what":"samples","share":0.5}]},)"
            R"("advice":[],"latent":[],"warnings":[],"recording":{"target":{"kind":"system"}}})");
}

TEST(Advise, IsADocument) {
  ReportBuilder builder;
  builder.type("qu\"eue", {"head", "tail"});
  builder.object("queue", kBase, 16, "qu\"eue");
  const analysis::Report& report = builder.build(
      {{.thread = 0, .address = kBase, .writes = true}, {.thread = 1, .address = kBase + 8, .writes = true}});
  const std::string json = adviceJson(report, advise(report));
  EXPECT_TRUE(json.starts_with(
      R"({"schema":"cacheline-advice/1","evidence":["clock"],"blind":null,"advice":[{"subject":{"type":"qu\"eue")"))
      << json;
}

}  // namespace
}  // namespace cacheline::advice
