// An open profile: its answers are parts of the report of the samples that its filter chooses.
#include "profile/profile.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "scenario.h"

namespace cacheline::profile {
namespace {

using namespace analysis::test;
using rapidjson::Document;
using rapidjson::Value;

constexpr uint64_t kHeapAt = 0x5000000;

/// Two processes with three threads each, named "main", "writer1" and "reader2", which add to and load words
/// of some lines.
std::string folder() {
  static Scenario scenario;
  static const std::string path = [] {
    for (const uint32_t pid : {100u, 200u}) {
      scenario.start(pid);
      scenario.anonymous(pid, kHeapAt, 0x10000, "[heap]");
      scenario.shared(pid, 0x7000000 + pid * 0x10000, 0x1000, 5, 0);
      scenario.thread(pid, pid + 1);
      scenario.thread(pid, pid + 2);
      scenario.records().thread(pid, pid + 1).comm("writer1").thread(pid, pid + 2).comm("reader2");
    }
    std::mt19937 random(11);
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
    for (int i = 0; i < 3000; ++i) {
      const uint32_t pid = below(2) == 0 ? 100 : 200, tid = pid + below(3);
      const uint64_t address = below(4) == 0 ? 0x7000000 + pid * 0x10000 + 8 * below(2)
                                             : kHeapAt + uint64_t{64} * below(8) + 8 * below(3);
      if (below(2) == 0)
        scenario.add(pid, tid, address, below(4));
      else
        scenario.load(pid, tid, address, below(4));
    }
    return scenario.write();
  }();
  return path;
}

Profile opened(const std::string& filter = {}, const sharing::Options& options = {}) {
  return Profile(folder(), options, filter, {});
}

std::string reportOf(const std::string& filter, const sharing::Options& options = {}) {
  return analysis::reportJson(opened(filter, options).takeReport());
}

Document parsed(const std::string& json) {
  Document document;
  document.Parse(json.data(), json.size());
  EXPECT_FALSE(document.HasParseError()) << json.substr(0, 200);
  return document;
}

std::string textOf(const Value& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

std::vector<std::string> idsIn(const std::string& json) {
  std::vector<std::string> ids;
  const Document answer = parsed(json);
  for (const Value& row : answer["rows"].GetArray()) ids.emplace_back(row["id"].GetString());
  return ids;
}

std::vector<std::string> idsOf(const Profile& profile, const std::string& filter = {}) {
  return idsIn(profile.lines({.filter = filter, .range = {0, 1000}}, {}));
}

TEST(Profile, ItsPartsAreThoseOfTheReport) {
  const Profile profile = opened();
  Document whole = parsed(analysis::reportJson(*profile.report()));
  const Document summary = parsed(profile.summary());
  ASSERT_GT(whole["lines"].Size(), 8u);
  EXPECT_EQ(summary["counts"]["lines"].GetUint64(), whole["lines"].Size());
  EXPECT_EQ(summary["counts"]["selected"].GetUint64(), whole["lines"].Size());
  const auto ids = idsOf(profile);
  ASSERT_EQ(ids.size(), whole["lines"].Size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const Document line = parsed(profile.line(ids[i]));
    bool found = false;
    for (const Value& other : whole["lines"].GetArray()) found |= textOf(line["line"]) == textOf(other);
    EXPECT_TRUE(found) << ids[i];
    EXPECT_STREQ(line["id"].GetString(), ids[i].c_str());
  }
  const Document objects = parsed(profile.objects({0, 1000}));
  EXPECT_EQ(textOf(objects["rows"]), textOf(whole["objects"]));
  whole.EraseMember("lines");
  whole["objects"].Clear();
  EXPECT_EQ(textOf(summary["report"]), textOf(whole));
}

TEST(Profile, ListsAreSortedAndCut) {
  const Profile profile = opened();
  const auto all = idsOf(profile);
  for (const char* sort : {"address", "object", "contended", "records", "writers", "verdict", "hitm.total"}) {
    for (const bool descending : {false, true}) {
      const auto asked = [&](Range range) {
        return idsIn(profile.lines({.sort = sort, .descending = descending, .range = range}, {}));
      };
      const auto sorted = asked({0, 1000});
      ASSERT_EQ(sorted.size(), all.size());
      std::vector<std::string> joined;
      for (size_t at = 0; at < all.size(); at += 3)
        for (const std::string& id : asked({at, 3})) joined.push_back(id);
      EXPECT_EQ(joined, sorted) << sort;
    }
  }
  uint64_t last = ~uint64_t{0};
  const Document rows = parsed(profile.lines({.sort = "records", .range = {0, 100}}, {}));
  for (const Value& row : rows["rows"].GetArray()) {
    EXPECT_LE(row["line"]["records"].GetUint64(), last);
    last = row["line"]["records"].GetUint64();
  }
  EXPECT_EQ(idsIn(profile.lines({.range = {all.size() + 5, 10}}, {})).size(), 0u);
  EXPECT_THROW(profile.lines({.sort = "colour"}, {}), Error);
  const Document bare = parsed(profile.lines({.range = {0, 1}, .accesses = false}, {}));
  EXPECT_FALSE(bare["rows"][0]["line"].HasMember("accesses"));
}

TEST(Profile, AFilterOfSamplesIsAReportOfThose) {
  struct Case {
    const char* filter;
    analysis::Filter same;
  };
  for (const Case& each : {Case{"thread:writer1", {.tids = {101, 201}}},
                           {"thread:writer*", {.tids = {101, 201}}},
                           {"thread:101", {.tids = {101}}},
                           {"thread:writer1 thread:102", {.tids = {101, 201, 102}}},
                           {"-thread:writer1", {.notTids = {101, 201}}},
                           {"process:200", {.pids = {200}}},
                           {"cpu:0,2-3", {.cpus = {0, 2, 3}}},
                           {"-cpu:1", {.cpus = {0, 2, 3}}},
                           {"time:1-2.5s", {.from = 1, .to = 2.5}},
                           {"mode:kernel", {.mode = analysis::Filter::Mode::kernel}},
                           {"thread:nobody", {.none = true}}}) {
    sharing::Options options;
    options.filter = each.same;
    EXPECT_EQ(reportOf(each.filter), reportOf("", options)) << each.filter;
    EXPECT_NE(reportOf(each.filter), reportOf("")) << each.filter;
  }
}

TEST(Profile, SharesOfTimeAreOfTheWholeRecording) {
  const double seconds = opened().report()->seconds;
  sharing::Options options;
  options.filter.from = 0.25 * seconds;
  options.filter.to = 0.5 * seconds;
  EXPECT_EQ(reportOf("time:25%-50%"), reportOf("", options));
  Profile profile = opened("time:0%-10%");
  profile.filter("time:25%-50%", {});
  EXPECT_EQ(analysis::reportJson(*profile.report()), reportOf("", options));
}

TEST(Profile, OptionsAndFilterSelectTogether) {
  sharing::Options both, given;
  both.filter = {.from = 1, .to = 3, .tids = {101}, .cpus = {2}};
  given.filter = {.to = 3, .tids = {101, 102}, .cpus = {1, 2}};
  EXPECT_EQ(reportOf("time:1-9s thread:101 cpu:2-3", given), reportOf("", both));
  given.filter = {.tids = {102}};
  EXPECT_EQ(parsed(reportOf("thread:101", given))["samples"]["filtered"].GetUint64(), 3000u);
}

TEST(Profile, ATermOfLinesSelectsOfWhatWasComputed) {
  Profile profile = opened();
  const auto before = profile.report();
  const auto all = idsOf(profile);
  const auto shared = idsOf(profile, "object:board");
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].rfind("file ", 0), 0u) << shared[0];
  profile.filter("object:board", {});
  EXPECT_EQ(profile.report(), before);  // nothing was read again
  EXPECT_EQ(idsOf(profile), shared);
  EXPECT_EQ(parsed(profile.summary())["counts"]["selected"].GetUint64(), 1u);
  profile.filter("-object:board", {});
  EXPECT_EQ(idsOf(profile).size(), all.size() - 1);
  EXPECT_THROW(profile.lines({.filter = "thread:main"}, {}), Error);
}

/// Of all lines at once and of each alone.
TEST(Profile, TermsChooseTheLinesThatTheySelect) {
  Profile profile = opened();
  const analysis::Report& report = *profile.report();
  std::set<std::string> terms = {"line:0x*0", "verdict:false", "verdict:mixed", "samples>=360",
                                 "loads<180", "threads=3",     "member:*"};
  for (const analysis::Line& line : report.lines)
    for (const analysis::Access& access : line.accesses)
      for (const auto& [key, name] :
           {std::pair("object:", access.data.object), std::pair("type:", access.data.type),
            std::pair("function:", access.code->symbol), std::pair("file:", access.code->file)})
        if (!name.empty()) terms.insert(key + ('"' + name + '"'));
  ASSERT_GT(terms.size(), 9u);
  std::set<size_t> numbers;
  for (const std::string& one : terms)
    for (const std::string& other : terms)
      for (const std::string& text : {one + ' ' + other, '-' + one + ' ' + other, '-' + one + " -" + other}) {
        profile.filter(text, {});
        const Query query = parseQuery(text);
        std::vector<std::string> wanted;
        const LineIds ids(report);
        for (uint32_t i = 0; i < report.lines.size(); ++i)
          if (selects(query.lines, report.lines[i])) wanted.push_back(ids.of(i));
        std::vector<std::string> chosen = idsOf(profile);
        std::sort(wanted.begin(), wanted.end());
        std::sort(chosen.begin(), chosen.end());
        EXPECT_EQ(chosen, wanted) << text;
        numbers.insert(chosen.size());
      }
  EXPECT_GT(numbers.size(), 3u);  // they differ in what they choose
}

TEST(Profile, AFilterThatIsNotUnderstoodChangesNothing) {
  Profile profile = opened("object:board");
  EXPECT_THROW(profile.filter("colour:red", {}), Error);
  EXPECT_THROW(profile.filter("hitm>1", {}), Error);
  EXPECT_THROW(profile.filter("cpu:1", [](double) { return false; }), Error);
  EXPECT_EQ(idsOf(profile).size(), 1u);
}

TEST(Profile, ReportsOfSelectedLinesSayHowManyThereAre) {
  const analysis::Report all = opened().takeReport();
  const analysis::Report report = opened("object:board").takeReport();
  ASSERT_EQ(report.lines.size(), 1u);
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_GT(all.objects.size(), 1u);
  EXPECT_EQ(report.samples, all.samples);
  ASSERT_TRUE(report.selected);
  EXPECT_EQ(report.selected->lines, 1u);
  EXPECT_EQ(report.selected->of, all.lines.size());
  EXPECT_FALSE(all.selected);
}

TEST(Profile, IdsSurviveFiltersAndRestarts) {
  Profile profile = opened();
  const auto all = idsOf(profile);
  profile.filter("thread:writer1", {});
  for (const std::string& id : idsOf(profile)) {
    EXPECT_NE(std::find(all.begin(), all.end(), id), all.end()) << id;
    EXPECT_NO_THROW(profile.line(id));
  }
  EXPECT_EQ(idsOf(opened()), all);
  for (const char* id :
       {"", "pid 100", "pid 100:0x", "pid 100:0x1", "pid 100:0x5000000#2", "pid 100:0x5000000#0"})
    EXPECT_THROW(profile.line(id), Error) << id;
}

TEST(LineIds, OfOneNameAreNumbered) {
  analysis::Report report;
  for (const char* space : {"pid 1", "pid 2", "pid 1", "pid 1"}) {
    report.lines.emplace_back().address = 0x40;
    report.lines.back().space = space;
  }
  const LineIds ids(report);
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < 4; ++i) {
    texts.push_back(ids.of(i));
    EXPECT_EQ(ids.find(texts.back()), i);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"pid 1:0x40", "pid 2:0x40", "pid 1:0x40#2", "pid 1:0x40#3"}));
  EXPECT_FALSE(ids.find("pid 1:0x40#4"));
}

TEST(Profile, FunctionsAndThreadsAddUpToTheLines) {
  const Profile profile = opened("-object:board");
  uint64_t records = 0, sums = 0, loads = 0, uses = 0;
  const Document lines = parsed(profile.lines({.range = {0, 1000}}, {}));
  for (const Value& row : lines["rows"].GetArray()) {
    for (const Value& access : row["line"]["accesses"].GetArray()) records += access["records"].GetUint64();
    for (const Value& use : row["line"]["threads"].GetArray()) loads += use["loads"].GetUint64();
  }
  const Document functions = parsed(profile.functions({0, 1000}));
  for (const Value& row : functions["rows"].GetArray()) sums += row["records"].GetUint64();
  const Document threads = parsed(profile.threads({0, 1000}));
  for (const Value& row : threads["rows"].GetArray()) uses += row["loads"].GetUint64();
  EXPECT_EQ(sums, records);
  EXPECT_EQ(uses, loads);
  EXPECT_EQ(threads["total"].GetUint64(), 6u);
  EXPECT_EQ(parsed(profile.threads({2, 3}))["rows"].Size(), 3u);
}

TEST(Profile, HeatAddsUpWhatStandsOnTheLinesOfAFile) {
  const Profile profile = opened("-object:board");
  const Document lines = parsed(profile.lines({.range = {0, 1000}}, {}));
  std::map<std::pair<std::string, uint64_t>, double> sums;
  for (const Value& row : lines["rows"].GetArray())
    for (const Value& access : row["line"]["accesses"].GetArray()) {
      std::set<std::pair<std::string, uint64_t>> places{
          {access["file"].GetString(), access["line"].GetUint64()}};
      for (const Value& frame : access["inlined"].GetArray())
        places.emplace(frame["file"].GetString(), frame["line"].GetUint64());
      for (const auto& place : places) sums[place] += access["contended"].GetDouble();
    }
  std::set<std::string> files;
  for (const auto& [place, sum] : sums) files.insert(place.first);
  size_t rows = 0;
  for (const std::string& file : files) {
    const Document heat = parsed(profile.heat(file, Measure::contended, {}));
    for (const Value& row : heat["rows"].GetArray()) {
      const auto sum = sums.find({file, row["line"].GetUint64()});
      ASSERT_NE(sum, sums.end());
      EXPECT_EQ(row["amount"].GetDouble(), sum->second);
      EXPECT_GT(row["writers"].GetUint64() + row["readers"].GetUint64(), 1u);
      sums.erase(sum);
      ++rows;
    }
  }
  EXPECT_GT(rows, 0u);
  for (const auto& [place, sum] : sums) EXPECT_EQ(sum, 0) << place.first << ':' << place.second;
  EXPECT_EQ(parsed(profile.heat("/no/such/file.c", Measure::contended, {}))["rows"].Size(), 0u);
}

TEST(Profile, DataAddsUpToTheLinesAndPlacesAreThoseOfTheirCode) {
  const Profile profile = opened();
  const Document lines = parsed(profile.lines({.range = {0, 1000}}, {}));
  double contended = 0, sum = 0;
  std::set<std::pair<std::string, uint64_t>> places;
  for (const Value& row : lines["rows"].GetArray())
    for (const Value& access : row["line"]["accesses"].GetArray()) {
      contended += access["contended"].GetDouble();
      if (access["line"].GetUint64() > 0)
        places.emplace(access["file"].GetString(), access["line"].GetUint64());
      for (const Value& frame : access["inlined"].GetArray())
        places.emplace(frame["file"].GetString(), frame["line"].GetUint64());
    }
  const Document data = parsed(profile.data(Measure::contended, {}));
  for (const Value& row : data["rows"].GetArray()) sum += row["amount"].GetDouble();
  EXPECT_EQ(sum, contended);
  EXPECT_LT(data["rows"].Size(), lines["rows"].Size());
  const Document answer = parsed(profile.places({}));
  ASSERT_GT(places.size(), 0u);
  EXPECT_EQ(answer["rows"].Size(), places.size());
  for (const Value& row : answer["rows"].GetArray()) {
    EXPECT_TRUE(places.contains({row["file"].GetString(), row["line"].GetUint64()}));
    EXPECT_GT(row["binaries"].Size(), 0u);
    EXPECT_GT(row["uses"].Size(), 0u);
  }
}

TEST(Profile, LinesAreChosenByPlaceAndData) {
  const Profile profile = opened();
  const Document all = parsed(profile.lines({.range = {0, 1000}}, {}));
  const auto chosen = [&](const LineChoice& only) {
    return idsIn(profile.lines({.only = only, .range = {0, 1000}}, {}));
  };
  const auto wanted = [&](const auto& fits) {
    std::vector<std::string> ids;
    for (const Value& row : all["rows"].GetArray())
      if (std::ranges::any_of(row["line"]["accesses"].GetArray(), fits))
        ids.emplace_back(row["id"].GetString());
    return ids;
  };
  const Value& first = all["rows"][0]["line"]["accesses"][0];
  const std::string object = first["data"]["object"].GetString(), file = first["file"].GetString();
  const uint32_t line = first["line"].GetUint();
  EXPECT_EQ(chosen({.object = object}),
            wanted([&](const Value& access) { return access["data"]["object"].GetString() == object; }));
  EXPECT_EQ(chosen({.place = analysis::Place{file, line}}), wanted([&](const Value& access) {
              return access["file"].GetString() == file && access["line"].GetUint() == line;
            }));
  EXPECT_EQ(chosen({.types = {"no such type"}}).size(), 0u);
}

TEST(Profile, QuestionsCanBeCancelled) {
  const Profile profile = opened();
  const auto no = [] { return false; };
  EXPECT_THROW(profile.lines({.filter = "verdict:false", .range = {0, 10}}, no), Error);
  EXPECT_THROW(profile.places(no), Error);
  EXPECT_THROW(profile.data(Measure::contended, no), Error);
  EXPECT_THROW(profile.heat("x", Measure::contended, no), Error);
  EXPECT_THROW(Profile(folder(), {}, "", [](double) { return false; }), Error);
}

}  // namespace
}  // namespace cacheline::profile
