// One judgement for each subject: which subject an access counts for, what it waits for, and which advice
// speaks of it.
#include "analysis/findings.h"

#include <gtest/gtest.h>

#include "advice/advice.h"
#include "report_builder.h"

namespace cacheline::advice {

namespace {

using analysis::Finding;
using analysis::Verdict;

std::vector<Finding> findingsOf(ReportBuilder& builder, const std::vector<Doing>& doings) {
  builder.build(doings);
  analysis::addFindings(builder.report);
  return builder.report.findings;
}

std::vector<std::string> namesOf(const std::vector<Finding>& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings)
    names.push_back(finding.type.empty() ? finding.object : finding.type);
  return names;
}

std::vector<std::string> membersOf(const Finding& finding) {
  std::vector<std::string> names;
  for (const analysis::FindingMember& member : finding.members) names.push_back(member.name);
  return names;
}

/// A member that is a structure, or an array of them.
void nest(analysis::TypeHeat& type, size_t member, const analysis::TypeHeat& inner, uint64_t elements = 0) {
  layouts::LayoutMember& own = type.own[member];
  own.structure = inner.name;
  own.type = elements == 0 ? inner.name : inner.name + "[" + std::to_string(elements) + "]";
  own.size = inner.layout.size * std::max<uint64_t>(elements, 1);
  for (size_t next = member + 1; next < type.own.size(); ++next)
    type.own[next].offset = type.own[next - 1].offset + type.own[next - 1].size;
  type.layout.size = type.own.back().offset + type.own.back().size;
}

}  // namespace

TEST(Findings, EachContendedSampleCountsForOne) {
  ReportBuilder builder;
  builder.type("worker", {"ticks", "done"});
  builder.object("first", kBase, 16, "worker");
  builder.object("hits", kBase + 64, 8, "");
  builder.object("misses", kBase + 72, 8, "");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase, .writes = true, .count = 300},
                           {.thread = 1, .address = kBase + 8, .writes = true, .count = 300},
                           {.thread = 0, .address = kBase + 64, .writes = true},
                           {.thread = 1, .address = kBase + 72, .writes = true}});
  EXPECT_EQ(namesOf(findings), (std::vector<std::string>{"worker", "hits", "misses"}));
  uint64_t sum = 0;
  for (const Finding& finding : findings) {
    sum += finding.contended;
    EXPECT_EQ(finding.verdict, Verdict::falseSharing);
    EXPECT_EQ(finding.lineCount, 1u);
  }
  EXPECT_EQ(sum, builder.report.contended);
  for (const analysis::Line& line : builder.report.lines)
    for (const analysis::Access& access : line.accesses) EXPECT_TRUE(access.finding) << access.offset;
}

TEST(Findings, VariablesThatShareALineHaveOneAdvice) {
  ReportBuilder builder;
  builder.object("hits", kBase, 8, "");
  builder.object("misses", kBase + 8, 8, "");
  builder.type("queue", {"head", "tail"});
  builder.object("queue", kBase + 64, 16, "queue");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase, .writes = true},
                           {.thread = 1, .address = kBase + 8, .writes = true},
                           {.thread = 0, .address = kBase + 64, .writes = true, .count = 400},
                           {.thread = 1, .address = kBase + 72, .writes = true, .count = 400}});
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].advice, 0u);
  EXPECT_EQ(findings[1].advice, 1u);
  EXPECT_EQ(findings[2].advice, 1u);
  const AdviceList list = advise(builder.report);
  ASSERT_EQ(list.advice.size(), 2u);
  for (const Finding& finding : findings) {
    EXPECT_EQ(list.advice[*finding.advice].verdict, finding.verdict);
    EXPECT_EQ(list.advice[*finding.advice].type, finding.type.empty() ? "" : "queue");
  }
}

TEST(Findings, AnElementIsToldOfRatherThanWhatHoldsIt) {
  ReportBuilder builder;
  analysis::TypeHeat slot = typeOf("slot", {"used", "owner"});
  analysis::TypeHeat& pool = builder.type("pool", {"slots", "size"});
  nest(pool, 0, slot, 4);
  slot.nested = true;
  builder.report.types.push_back(slot);
  builder.object("pool", kBase, 72, "pool");
  const auto findings = findingsOf(builder, {{.thread = 0, .address = kBase, .writes = true},
                                             {.thread = 1, .address = kBase + 16, .writes = true}});
  EXPECT_EQ(namesOf(findings), std::vector<std::string>{"slot"});
  EXPECT_EQ(findings[0].objects, 2u);
}

/// All types without a name are called alike. They are told apart by the members that accesses name.
TEST(Findings, TypesWithoutANameAreNotTakenForOneAnother) {
  const std::string unnamed = "struct {...}";
  const auto found = [&](const std::vector<std::string>& others) {
    ReportBuilder builder;
    builder.type(unnamed, {"reads", "writes"});
    builder.type(unnamed, others);
    analysis::TypeHeat& whole = builder.type("whole", {"mask", "stats"});
    nest(whole, 1, typeOf(unnamed, {"hits", "misses"}), 2);
    builder.object("slots", kBase, 16, unnamed);
    builder.object("ends", kBase + 64, 8 * others.size(), unnamed);
    builder.object("whole", kBase + 128, 40, "whole");
    std::vector<Doing> doings;
    for (const uint64_t line : {0, 64, 128}) {
      const auto count = static_cast<uint32_t>(300 - line);
      doings.push_back({.thread = 0, .address = kBase + line + 8, .writes = true, .count = count});
      doings.push_back({.thread = 1, .address = kBase + line, .writes = true, .count = count});
    }
    builder.build(doings);
    for (analysis::Line& line : builder.report.lines) {
      const bool first = line.address == kBase;
      for (analysis::Access& access : line.accesses)
        if (line.address != kBase + 128)
          access.data.field = first ? (access.offset == 0 ? "reads" : "writes") : others[access.offset / 8];
    }
    analysis::addFindings(builder.report);
    return builder.report.findings;
  };
  const auto findings = found({"in", "out", "pad"});
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].object, "slots");
  EXPECT_EQ(membersOf(findings[0]), (std::vector<std::string>{"reads", "writes"}));
  EXPECT_EQ(findings[1].object, "ends");
  EXPECT_EQ(membersOf(findings[1]), (std::vector<std::string>{"in", "out"}));
  EXPECT_EQ(findings[2].type, "whole");
  // Nothing tells which of two alike it is: the variables are known.
  const auto alike = found({"reads", "writes"});
  ASSERT_EQ(alike.size(), 3u);
  EXPECT_EQ(alike[0].object, "slots");
  EXPECT_EQ(alike[0].kind, Finding::Kind::variable);
  EXPECT_EQ(alike[1].object, "ends");
}

/// One word that all write: no layout is at issue, so it is the object that people know.
TEST(Findings, AWordThatIsSharedCountsForTheOutermostObject) {
  ReportBuilder builder;
  analysis::TypeHeat counter = typeOf("counter", {"value"});
  analysis::TypeHeat& server = builder.type("server", {"name", "requests"});
  nest(server, 1, counter);
  counter.nested = true;
  builder.report.types.push_back(counter);
  builder.object("server", kBase, 16, "server");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase + 8, .writes = true, .locked = true},
                           {.thread = 1, .address = kBase + 8, .writes = true, .locked = true}});
  EXPECT_EQ(namesOf(findings), std::vector<std::string>{"server"});
  EXPECT_EQ(findings[0].verdict, Verdict::trueSharing);
}

/// A union of a structure and the bytes that pad it is no object of its own.
TEST(Findings, WhatOnlyWrapsAnotherStructureIsPassedOver) {
  ReportBuilder builder;
  const analysis::TypeHeat lock = typeOf("lock", {"state", "waiters"});
  analysis::TypeHeat& padded = builder.type("padded_lock", {"lock", "pad"});
  nest(padded, 0, lock);
  padded.own[1].type = "char[16]";
  padded.own[1].offset = 0;
  padded.own[1].size = padded.layout.size = 16;
  analysis::TypeHeat inner = lock;
  inner.nested = true;
  builder.report.types.push_back(inner);
  builder.object("locks", kBase, 16, "padded_lock");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase, .writes = true, .locked = true},
                           {.thread = 1, .address = kBase, .writes = true, .locked = true}});
  EXPECT_EQ(namesOf(findings), std::vector<std::string>{"lock"});
}

/// Code that has a pointer to the lock alone names the lock; around it descriptors lie in steps of one
/// length.
TEST(Findings, APartThatCodeNamesByItselfIsItsHolders) {
  const auto judged = [](bool aligned) {
    ReportBuilder builder;
    analysis::TypeHeat lock = typeOf("lock", {"state", "waiters"});
    analysis::TypeHeat& descriptor = builder.type("descriptor", {"tag", "lock"});
    nest(descriptor, 1, lock);
    builder.report.types.push_back(lock);
    for (const uint64_t at : {0, 64, 192}) builder.heapObject(kBase + at, 24, "descriptor");
    builder.heapObject(kBase + 128 + (aligned ? 8 : 16), 16, "lock");
    std::vector<Doing> doings;
    for (const uint64_t at : {0, 64, 128, 192})
      for (const uint32_t thread : {0u, 1u})
        doings.push_back(
            {.thread = thread, .address = kBase + at + (aligned || at != 128 ? 8 : 16), .writes = true});
    return namesOf(findingsOf(builder, doings));
  };
  EXPECT_EQ(judged(true), std::vector<std::string>{"descriptor"});
  EXPECT_EQ(judged(false), (std::vector<std::string>{"descriptor", "lock"}))
      << "no descriptor has its lock there";
}

TEST(Findings, SayWhoWaitsForWhom) {
  ReportBuilder builder;
  builder.type("queue", {"limit", "produced"});
  builder.object("queue", kBase, 16, "queue");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase + 8, .writes = true, .count = 400, .function = 1},
                           {.thread = 1, .address = kBase, .count = 100, .function = 2}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(membersOf(findings[0]), (std::vector<std::string>{"produced", "limit"}));
  ASSERT_FALSE(findings[0].waits.empty());
  for (const analysis::FindingWait& wait : findings[0].waits) {
    EXPECT_TRUE(wait.falsely);
    EXPECT_NE(wait.member, wait.causeMember);
  }
}

/// Few samples leave all open; then no change is advised.
TEST(Findings, TellWhereSamplesAreTooFew) {
  ReportBuilder builder;
  builder.type("queue", {"head", "tail"});
  builder.object("queue", kBase, 16, "queue");
  const auto findings =
      findingsOf(builder, {{.thread = 0, .address = kBase, .writes = true, .count = 4},
                           {.thread = 1, .address = kBase, .writes = true, .count = 3},
                           {.thread = 1, .address = kBase + 8, .writes = true, .count = 3}});
  ASSERT_EQ(findings.size(), 1u);
  ASSERT_TRUE(findings[0].falseShare);
  EXPECT_TRUE(analysis::cannotTell(findings[0]))
      << findings[0].falseShare->low << ' ' << findings[0].falseShare->high;
  const AdviceList list = advise(builder.report);
  ASSERT_EQ(list.advice.size(), 1u);
  EXPECT_EQ(list.advice[0].way, Way::none);
  EXPECT_EQ(list.advice[0].why, Why::notKnown);
}

}  // namespace cacheline::advice
