// The grammar of filters: what each term means, and what is refused.
#include "profile/query.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cacheline::profile {
namespace {

TEST(Pattern, FitsWholeWords) {
  struct Case {
    const char* pattern;
    const char* name;
    bool fits;
  };
  for (const Case& each : {Case{"Queue", "Queue", true},
                           {"Queue", "ns::Queue<int>", true},
                           {"Queue", "QueueItem", false},
                           {"Queue", "MyQueue", false},
                           {"push*", "std::vector::push_back(int)", true},
                           {"push*", "unpush", false},
                           {"*push", "unpush", true},
                           {"pool.cpp", "/src/pool.cpp", true},
                           {"pool.cpp", "/src/mypool.cpp", false},
                           {"head", "list.head", true},
                           {"h?ad", "head", true},
                           {"h?ad", "hd", false},
                           {"*", "x", true},
                           {"*", "", false},
                           {"operator<", "A::operator<(A)", true},
                           {"a*b*c", "axxbyyc", true},
                           {"a*b*c", "axxbyy", false},
                           {"Gr\xc3\xb6", "Gr\xc3\xb6\xc3\x9f", false}})
    EXPECT_EQ(Pattern(each.pattern).fits(each.name), each.fits) << each.pattern << " in " << each.name;
}

TEST(Query, ReadsTheTermsOfTheContract) {
  const Query query = parseQuery(
      "verdict:false type:Queue member:head object:q function:push* file:pool.cpp thread:writer* cpu:0-3 "
      "time:1.2-3s hitm>100 -type:Log");
  EXPECT_EQ(query.samples.filter.from, 1.2);
  EXPECT_EQ(query.samples.filter.to, 3);
  EXPECT_FALSE(query.samples.shares);
  EXPECT_EQ(query.samples.filter.cpus, (std::vector<uint32_t>{0, 1, 2, 3}));
  ASSERT_EQ(query.samples.tasks.size(), 1u);
  EXPECT_FALSE(query.samples.tasks[0].process);
  EXPECT_FALSE(query.samples.tasks[0].id);
  EXPECT_TRUE(query.samples.tasks[0].name.fits("writer3"));
  EXPECT_EQ(query.samples.text, "thread:writer* cpu:0-3 time:1.2-3s ");
  ASSERT_EQ(query.lines.size(), 8u);
  EXPECT_EQ(query.lines[0].verdict, analysis::Verdict::falseSharing);
  EXPECT_EQ(query.lines[6].number, "hitm.total");
  EXPECT_EQ(query.lines[6].compare, Compare::more);
  EXPECT_EQ(query.lines[6].value, 100);
  EXPECT_TRUE(query.lines[7].negated);
}

TEST(Query, ReadsTimesAndLists) {
  EXPECT_EQ(parseQuery("time:2-").samples.filter.from, 2);
  EXPECT_EQ(parseQuery("time:-0.5s").samples.filter.to, 0.5);
  const SampleTerms shares = parseQuery("time:10%-25%").samples;
  EXPECT_TRUE(shares.shares);
  EXPECT_EQ(shares.filter.from, 0.1);
  EXPECT_EQ(shares.filter.to, 0.25);
  EXPECT_EQ(parseQuery("time:10-25%").samples.filter.to, 0.25);
  EXPECT_EQ(parseQuery("time:10%-").samples.filter.from, 0.1);
  EXPECT_EQ(parseQuery("-cpu:1,4-5").samples.filter.notCpus, (std::vector<uint32_t>{1, 4, 5}));
  EXPECT_EQ(parseQuery("-mode:user").samples.filter.mode, analysis::Filter::Mode::kernel);
  EXPECT_EQ(parseQuery("thread:4711").samples.tasks[0].id, 4711u);
  EXPECT_TRUE(parseQuery("-process:java").samples.tasks[0].negated);
  EXPECT_TRUE(parseQuery("  ").lines.empty());
  EXPECT_TRUE(parseQuery("type:\"unsigned long\"").lines[0].pattern.fits("unsigned long"));
}

TEST(Query, SaysWhichTermIsWrong) {
  struct Case {
    const char* text;
    const char* said;
  };
  for (const Case& each :
       {Case{"Queue", "'Queue' is not a filter term"},
        {"colour:red", "'colour:red' is not a filter term"},
        {"type:", "the term 'type:' has no value"},
        {"verdict:bad", "'verdict:bad' is not a verdict"},
        {"hitm:5", "'hitm:5' compares nothing"},
        {"hitm>many", "'hitm>many' compares nothing"},
        {"hitm>-1", "'hitm>-1' compares nothing"},
        {"type>5", "'type>5' compares something that is not a number"},
        {"cpu:3-1", "'cpu:3-1' is not a list of CPUs"},
        {"cpu:0-65534", "'cpu:0-65534' is not a list of CPUs"},
        {"cpu:1,,2", "'cpu:1,,2' is not a list of CPUs"},
        {"time:5", "'time:5' is not a time window"},
        {"time:1%-2s", "'time:1%-2s' is not a time window"},
        {"time:1%-2", "'time:1%-2' is not a time window"},
        {"time:1s-2%", "'time:1s-2%' is not a time window"},
        {"time:1-101%", "'time:1-101%' is not a time window"},
        {"time:-", "'time:-' is not a time window"},
        {"time:3-1s", "the time window ends before it begins: 'time:3-1s'"},
        {"time:1-2 time:3-4", "the filter has two time windows"},
        {"-time:1-2", "a time window cannot be negated: '-time:1-2'"},
        {"mode:guest", "'mode:guest' is not a mode"},
        {"mode:user mode:kernel", "the filter asks for both user and kernel mode, so no sample is left"},
        {"type:\"a", "the filter has a quotation mark that is never closed: type:\"a"}}) {
    try {
      parseQuery(each.text);
      ADD_FAILURE() << each.text << " is taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_STREQ(error.what(), each.said);
    }
  }
  EXPECT_THROW(parseQuery(std::string(5000, 'x')), Error);
  EXPECT_THROW(parseQuery("type:" + std::string(300, 'x')), Error);
}

/// A line with one access to a member of an object of a type, by a function of a file.
analysis::Line lineOf(const char* object, const char* type, const char* member, const char* function,
                      const char* file) {
  analysis::Line line;
  line.address = 0x1040;
  line.verdict = analysis::Verdict::falseSharing;
  line.contended = 50;
  analysis::Access access;
  access.data.object = object;
  access.data.type = type;
  access.data.field = member;
  const auto code = std::make_shared<analysis::CodeName>();
  code->symbol = "outer";
  code->inlined = {{function, file, 3}};
  access.code = code;
  line.accesses.push_back(access);
  return line;
}

TEST(Query, SelectsLinesByTheirNames) {
  const analysis::Line line = lineOf("queue", "ns::Queue<int>", "list.head", "push_back", "/src/pool.cpp");
  struct Case {
    const char* text;
    bool selected;
  };
  for (const Case& each : {Case{"", true},
                           {"type:Queue", true},
                           {"type:Log", false},
                           {"type:Log type:Queue", true},
                           {"-type:Log", true},
                           {"-type:Queue", false},
                           {"type:Queue -member:head", false},
                           {"object:queue member:head function:push* file:pool.cpp", true},
                           {"function:outer", true},
                           {"function:pop", false},
                           {"verdict:false", true},
                           {"verdict:true", false},
                           {"verdict:true verdict:false", true},
                           {"line:0x1040", true},
                           {"line:0x1000", false},
                           {"contended>=50", true},
                           {"contended>50", false},
                           {"contended>10 contended<40", false},
                           {"-contended>50", true}})
    EXPECT_EQ(selects(parseQuery(each.text).lines, line), each.selected) << each.text;
}

TEST(Query, RefusesToCountWhatTheEvidenceDoesNotTell) {
  analysis::Report report;
  EXPECT_THROW(checkEvidence(parseQuery("hitm>1").lines, report), Error);
  EXPECT_THROW(checkEvidence(parseQuery("peer>1").lines, report), Error);
  report.hitmKnown = true;
  EXPECT_NO_THROW(checkEvidence(parseQuery("hitm>1").lines, report));
}

}  // namespace
}  // namespace cacheline::profile
