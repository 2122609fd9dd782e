// What a report says it could not see: by reason, by kind of code, and by place.
#include "analysis/blindness.h"

#include <gtest/gtest.h>

#include "analysis/code_runtime.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kGenerated = 0x7f0000000000;

std::vector<std::pair<std::string, std::string>> reasonsOf(const Report& report) {
  std::vector<std::pair<std::string, std::string>> list;
  if (!report.blind) return list;
  for (const BlindReason& item : report.blind->reasons)
    list.emplace_back(unseenReasonName(item.reason), item.what);
  return list;
}
using Reasons = std::vector<std::pair<std::string, std::string>>;

void samplesAt(Scenario& s, uint32_t pid, uint64_t ip, int count, uint64_t rdi = kData) {
  for (int i = 0; i < count; ++i) s.sample(pid, pid, ip, {{kRegDi, rdi}});
}

/// Maps a file into process 100 that is not here.
void mapMissing(Scenario& s, uint64_t address, const char* path) {
  s.records().thread(100, 100).mmap2({.address = address, .length = 0x1000, .file = path});
}

TEST(Blindness, CodeOfAJitIsNamedByItsRuntime) {
  Scenario s;
  s.start(100);
  mapMissing(s, 0x10000000, "/usr/lib/jvm/libjvm.so");
  s.anonymous(100, kGenerated, 0x10000);
  samplesAt(s, 100, kGenerated + 0x10, 99);
  s.add(100, 100, kData);
  const Report report = s.report();
  expectTotals(report);
  ASSERT_TRUE(report.blind);
  EXPECT_DOUBLE_EQ(report.blind->share, 0.99);
  EXPECT_EQ(reasonsOf(report), (Reasons{{"noInstruction", "code that no file backs (JIT: Java)"}}));
  ASSERT_EQ(report.unseen->size(), 1u);
  EXPECT_EQ(report.unseen->front().samples, 99u);
  EXPECT_EQ(report.unseen->front().code->why, Unnamed::generated);
}

TEST(Blindness, TheRuntimeGoesOnInAForkAndEndsWithExec) {
  Scenario s;
  s.start(100);
  mapMissing(s, 0x10000000, "/usr/bin/node");
  s.anonymous(100, kGenerated, 0x10000);
  s.process(100, 200);
  samplesAt(s, 200, kGenerated + 0x10, 10);
  s.start(200);
  s.anonymous(200, kGenerated, 0x10000);
  samplesAt(s, 200, kGenerated + 0x10, 5);
  EXPECT_EQ(reasonsOf(s.report()),
            (Reasons{{"noInstruction", "code that no file backs (JIT: Node.js)"},
                     {"noInstruction", "code that no file backs (generated at run time)"}}));
}

TEST(Blindness, RuntimesAreToldByTheNamesOfTheirFiles) {
  EXPECT_STREQ(codeRuntime("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so"), "Java");
  EXPECT_STREQ(codeRuntime("/usr/bin/node"), "Node.js");
  EXPECT_STREQ(codeRuntime("/usr/lib/x86_64-linux-gnu/libnode.so.108"), "Node.js");
  EXPECT_STREQ(codeRuntime("/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.0/libcoreclr.so"), ".NET");
  EXPECT_STREQ(codeRuntime("/usr/bin/luajit-2.1.0-beta3"), "LuaJIT");
  EXPECT_STREQ(codeRuntime("/usr/lib/libpypy3.9-c.so"), "PyPy");
  EXPECT_EQ(codeRuntime("/home/a/node/server"), nullptr);
  EXPECT_EQ(codeRuntime("/home/a/nodes"), nullptr);
  EXPECT_EQ(codeRuntime(""), nullptr);
}

TEST(Blindness, EachKindOfCodeThatCannotBeReadIsOneReason) {
  Scenario s;
  s.start(100);
  mapMissing(s, 0x10000000, "/nonexistent/plugin.so");
  mapMissing(s, 0x11000000, "/nonexistent/other.so");
  s.anonymous(100, kGenerated, 0x1000, "[vdso]");
  samplesAt(s, 100, 0x10000010, 5);
  samplesAt(s, 100, 0x10000020, 5);
  samplesAt(s, 100, 0x11000010, 1);
  samplesAt(s, 100, kGenerated, 9);
  samplesAt(s, 100, 0x12345678, 8);
  samplesAt(s, 100, kAdd + 1, 7);
  const Report report = s.report();
  EXPECT_EQ(reasonsOf(report),
            (Reasons{{"noInstruction", "code of plugin.so (missing) and 1 other binary that cannot be read"},
                     {"noInstruction", "the kernel's vdso"},
                     {"noInstruction", "code in no known mapping"},
                     {"noInstruction", "code that cannot be decoded"}}));
  ASSERT_FALSE(report.unseen->empty());
  EXPECT_EQ(report.unseen->front().code->object, "plugin.so");
  EXPECT_EQ(report.unseen->front().samples, 10u) << "of a binary that cannot be read there is one place";
}

TEST(Blindness, TheKernelCountsWhereItWasSampled) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 3; ++i) s.sample(100, 100, 0xffffffff81000000, {}, 0, PERF_RECORD_MISC_KERNEL);
  s.add(100, 100, kData);
  const Report report = s.report();
  ASSERT_TRUE(report.blind);
  EXPECT_DOUBLE_EQ(report.blind->share, 0.75);
  EXPECT_STREQ(unseenReasonName(report.blind->reasons.front().reason), "kernel");
}

TEST(Blindness, AProgramThatComputesIsNotBlind) {
  Scenario s;
  s.start(100);
  samplesAt(s, 100, kNoOperand, 500);
  samplesAt(s, 100, kTls, 400);
  s.add(100, 100, kData);
  const Report report = s.report();
  expectTotals(report);
  EXPECT_EQ(report.unattributed.noMemoryOperand, 500u);
  EXPECT_FALSE(report.blind);
  EXPECT_TRUE(report.unseen->empty());
}

TEST(Blindness, BelowATenthNothingIsSaid) {
  for (const int seen : {90, 91}) {
    Scenario s;
    s.start(100);
    samplesAt(s, 100, kClobbered, 10);
    for (int i = 0; i < seen; ++i) s.add(100, 100, kData);
    EXPECT_EQ(s.report().blind.has_value(), seen == 90);
  }
}

TEST(Blindness, LostSamplesCountWhereTheyAreKnownToBeSamples) {
  Scenario s;
  s.start(100);
  for (int i = 0; i < 40; ++i) s.add(100, 100, kData);
  s.records().lost(1000);
  EXPECT_FALSE(s.report().blind) << "records of any kind";
  s.records().lostSamples(60);
  const Report report = s.report();
  EXPECT_EQ(report.lost, 1060u);
  ASSERT_TRUE(report.blind);
  EXPECT_DOUBLE_EQ(report.blind->share, 0.6);
  EXPECT_EQ(reasonsOf(report), (Reasons{{"lost", "samples that were lost while recording"}}));
}

TEST(Blindness, PlacesHaveTheirFunctionAndLine) {
  Scenario s;
  s.startFile(100, program(Link::fixed));
  samplesAt(s, 100, kClobbered, 6);
  samplesAt(s, 100, kAdd, 3, 0x10);
  samplesAt(s, 100, kAfterAdd, 2, 0x10);
  s.add(100, 100, kData);
  const Report report = s.report();
  ASSERT_TRUE(report.unseen);
  const std::vector<UnseenPlace>& unseen = *report.unseen;
  ASSERT_EQ(unseen.size(), 2u);
  EXPECT_EQ(unseen[0].reason, UnseenReason::clobbered);
  EXPECT_EQ(unseen[0].samples, 6u);
  EXPECT_DOUBLE_EQ(unseen[0].share, 0.5);
  EXPECT_EQ(unseen[0].codeAddress, kClobbered - 3) << "the access whose samples are lost";
  EXPECT_FALSE(unseen[0].code->symbol.empty());
  EXPECT_EQ(unseen[1].reason, UnseenReason::unmapped);
  EXPECT_EQ(unseen[1].codeAddress, kAdd);
  EXPECT_EQ(unseen[1].samples, 5u) << "whichever instruction was sampled";
}

TEST(Blindness, TheDocumentHasIt) {
  Scenario s;
  s.start(100);
  s.add(100, 100, kData);
  EXPECT_NE(reportJson(s.report()).find(R"("blind":null,"unseen":[])"), std::string::npos);
  samplesAt(s, 100, kClobbered, 3);
  const std::string document = reportJson(s.report());
  EXPECT_NE(document.find(R"("blind":{"share":0.75,"reasons":[{"reason":"clobbered","what":"code after)"),
            std::string::npos)
      << document;
  EXPECT_NE(document.find(R"("unseen":[{"reason":"clobbered","codeAddress":"0x401180")"), std::string::npos);
}

}  // namespace
}  // namespace cacheline::analysis
