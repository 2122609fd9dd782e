// The JSON document: parsed again, field by field.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <initializer_list>

#include "analysis/report.h"
#include "base/utf8.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;
using rapidjson::Value;

rapidjson::Document parse(const std::string& json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(json.c_str(), json.size());
  EXPECT_FALSE(document.HasParseError()) << json;
  return document;
}

void expectKeys(const Value& object, std::initializer_list<const char*> names) {
  ASSERT_TRUE(object.IsObject());
  EXPECT_EQ(object.MemberCount(), names.size());
  for (const char* name : names) EXPECT_TRUE(object.HasMember(name)) << name;
}

rapidjson::Document contendedDocument() {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 20; ++i) {
    s.add(100, 100, kData);
    s.load(100, 101, kData + 16);
  }
  return parse(reportJson(s.report()));
}

TEST(ReportJson, HasTheDocumentedFieldsAndNoOthers) {
  const rapidjson::Document document = contendedDocument();
  expectKeys(document, {"schema", "evidence", "collector", "lineSize", "samples", "blind", "unseen", "stats",
                        "shared", "lines", "linesLeftOut", "turns", "findings", "objects", "types",
                        "binaries", "warnings", "seconds", "recording"});
  EXPECT_STREQ(document["schema"].GetString(), "cacheline-report/1");
  expectKeys(document["turns"], {"basis", "samples", "lines", "oneCore", "threads"});
  expectKeys(document["samples"], {"total", "attributed", "contended", "lost", "unattributed"});
  expectKeys(document["samples"]["unattributed"],
             {"kernel", "noInstruction", "noMemoryOperand", "clobbered", "threadLocal", "unmapped"});
  expectKeys(document["stats"],
             {"records",     "locked",       "loads",       "ldUncacheable",  "ldIo",      "ldMiss",
              "ldNoAddress", "ldFillBuffer", "ldL1",        "ldL2",           "ldLlc",     "localHitm",
              "remoteHitm",  "remoteHit",    "localPeer",   "remotePeer",     "localDram", "remoteDram",
              "ldExclusive", "ldShared",     "blockedData", "blockedAddress", "stores",    "stUncacheable",
              "stNoAddress", "stL1Hit",      "stL1Miss",    "stNa",           "noMap",     "noParse"});
  expectKeys(document["shared"], {"lines", "loads", "fillBuffer", "l1", "l2", "llc", "peer", "locked",
                                  "blocked", "stores", "stL1Hit", "stNa", "merged"});
  ASSERT_EQ(document["lines"].Size(), 1u);
  const Value& line = document["lines"][0];
  expectKeys(line, {"address",        "space",        "mapping",   "node",   "paCount", "verdict",
                    "verdictSure",    "falseShare",   "words",     "waits",  "victims", "flags",
                    "contendedShare", "programShare", "contended", "hitm",   "peer",    "records",
                    "loads",          "stores",       "ld",        "locked", "threads", "accesses"});
  expectKeys(line["stores"], {"total", "l1Hit", "l1Miss", "na", "rmw"});
  expectKeys(line["threads"][0], {"pid", "tid", "comm", "loads", "stores", "competes"});
  const Value& access = line["accesses"][0];
  expectKeys(access,
             {"offset",     "width",     "codeAddress", "elfAddress", "symbol",     "object",  "file",
              "line",       "inlined",   "locked",      "records",    "contended",  "loads",   "stores",
              "falseShare", "word",      "hitm",        "peer",       "meanCycles", "cycles",  "cpus",
              "threads",    "processes", "nodes",       "skid",       "watch",      "finding", "data"});
  expectKeys(access["data"], {"object", "offset", "definition", "how", "because", "type", "field", "base",
                              "fieldOffset", "index", "allocation", "stackOwner"});
  expectKeys(document["objects"][0], {"object", "space", "binary", "definition", "base", "allocation",
                                      "lines", "verdict", "verdictSure", "falseShare", "flags", "contended",
                                      "contendedShare", "programShare", "records", "loads", "stores"});
  const Value& finding = document["findings"][0];
  expectKeys(finding, {"id", "kind", "subject", "definition", "allocation", "verdict", "sure", "programShare",
                       "contended", "falseShare", "members", "waits", "flags", "objects", "lineCount",
                       "lines", "advice"});
  expectKeys(finding["subject"], {"type", "object", "members"});
  expectKeys(finding["members"][0], {"name", "contended", "falseShare", "file", "line"});
  expectKeys(finding["waits"][0], {"function", "file", "line", "member", "for", "falsely", "share"});
  expectKeys(document["binaries"][0], {"path", "buildId", "status", "detail"});
  expectKeys(line["falseShare"], {"value", "low", "high"});
  expectKeys(line["words"][0], {"offset", "size", "group"});
  expectKeys(line["waits"][0], {"word", "cause", "share", "falseShare", "sameStep"});
  expectKeys(line["victims"][0], {"words", "threads", "contended", "falseShare", "access", "cause"});
  EXPECT_STREQ(document["recording"]["schema"].GetString(), "cacheline-recording/1");
}

TEST(ReportJson, WhatTheClockCannotSayIsNullAndWhatItCanIsANumber) {
  const rapidjson::Document document = contendedDocument();
  for (const char* name :
       {"ldUncacheable",  "ldIo",          "ldMiss",      "ldNoAddress", "ldFillBuffer", "ldL1",
        "ldL2",           "ldLlc",         "localHitm",   "remoteHitm",  "remoteHit",    "localPeer",
        "remotePeer",     "localDram",     "remoteDram",  "ldExclusive", "ldShared",     "blockedData",
        "blockedAddress", "stUncacheable", "stNoAddress", "stL1Hit",     "stL1Miss",     "noParse"})
    EXPECT_TRUE(document["stats"][name].IsNull()) << name;
  EXPECT_EQ(document["stats"]["records"].GetUint64(), 40u);
  EXPECT_EQ(document["stats"]["locked"].GetUint64(), 20u);
  EXPECT_EQ(document["stats"]["loads"].GetUint64(), 20u);
  EXPECT_EQ(document["stats"]["stores"].GetUint64(), 20u);
  EXPECT_EQ(document["stats"]["noMap"].GetUint64(), 0u);
  for (const char* name : {"fillBuffer", "l1", "l2", "llc", "peer", "blocked", "stL1Hit", "merged"})
    EXPECT_TRUE(document["shared"][name].IsNull()) << name;
  EXPECT_EQ(document["shared"]["lines"].GetUint64(), 1u);
  const Value& line = document["lines"][0];
  for (const char* name : {"hitm", "peer", "ld", "paCount"}) EXPECT_TRUE(line[name].IsNull()) << name;
  EXPECT_STREQ(line["address"].GetString(), "0x404000");
  EXPECT_EQ(line["node"][0].GetUint(), 0u);
  const Value& stores = line["stores"];
  EXPECT_EQ(stores["total"].GetUint64(), stores["na"].GetUint64());
  EXPECT_EQ(stores["rmw"].GetUint64(), 20u);
  EXPECT_TRUE(stores["l1Hit"].IsNull() && stores["l1Miss"].IsNull());
  const Value& access = line["accesses"][0];
  for (const char* name : {"hitm", "peer", "meanCycles", "cycles", "watch"})
    EXPECT_TRUE(access[name].IsNull()) << name;
  EXPECT_EQ(line["records"].GetUint64(), line["loads"].GetUint64() + stores["total"].GetUint64());
}

TEST(ReportJson, CpusAndNodesAreNullWhereTheRecordingDoesNotSay) {
  Scenario s;
  s.features().numaNodes.clear();
  s.start(100);
  s.thread(100, 101);
  for (int i = 0; i < 20; ++i) {
    s.add(100, 100, kData);
    s.load(100, 101, kData + 16);
  }
  Report report = s.report();
  std::vector<Access>& rows = report.lines.at(0).accesses;
  rows.at(1).cpus = 0;         // as without CPU numbers
  rows.push_back(rows.at(1));  // and one that only watchpoints saw
  rows.at(2).threads.clear();
  const rapidjson::Document document = parse(reportJson(report));
  const Value& accesses = document["lines"][0]["accesses"];
  EXPECT_EQ(accesses[0]["cpus"].GetUint(), 1u);
  EXPECT_TRUE(accesses[0]["nodes"].IsNull());
  EXPECT_TRUE(accesses[1]["cpus"].IsNull());
  EXPECT_EQ(accesses[2]["cpus"].GetUint(), 0u);
  EXPECT_EQ(accesses[2]["nodes"].Size(), 0u);
}

TEST(ReportJson, PiecesAreWholeLinesAndMakeUpTheDocument) {
  Report report;
  report.lines.resize(5);
  const std::string whole = reportJson(report);
  for (const size_t bytes : {size_t{1}, whole.size() / 3, whole.size()}) {
    const std::vector<std::string> pieces = reportPieces(report, bytes);
    ASSERT_GE(pieces.size(), 2u);
    EXPECT_EQ(pieces.front().back(), '[');
    EXPECT_EQ(pieces.back().front(), ']');
    std::string joined;
    size_t lines = 0;
    for (size_t i = 0; i < pieces.size(); i++) {
      joined += pieces[i];
      if (i == 0 || i + 1 == pieces.size()) continue;
      EXPECT_EQ(pieces[i].front() == ',', i != 1);
      lines += parse("[" + pieces[i].substr(i == 1 ? 0 : 1) + "]").Size();
    }
    EXPECT_EQ(joined, whole);
    EXPECT_EQ(lines, 5u);
  }
  EXPECT_EQ(reportPieces(report, 1).size(), 7u);
  report.lines.clear();
  EXPECT_EQ(reportPieces(report).size(), 2u);
}

TEST(ReportJson, NamesWithInvalidBytesAreStillValidJson) {
  Report report;
  report.collector = "clock";
  report.warnings = {std::string("bad \xff\xc0\x80 name \"quoted\" \x01")};
  Line line;
  line.space = "pid \xed\xa0\x80";
  line.fileOffset = 0x40;
  line.accesses.push_back({});
  line.accesses[0].data.definition = Place{"a\\b\n", 3};
  report.lines.push_back(line);
  const rapidjson::Document document = parse(reportJson(report));
  EXPECT_STREQ(document["warnings"][0].GetString(),
               "bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd name \"quoted\" \x01");
  EXPECT_STREQ(document["lines"][0]["fileOffset"].GetString(), "0x40");
  EXPECT_TRUE(document["lines"][0]["node"].IsNull());
  EXPECT_STREQ(document["lines"][0]["accesses"][0]["data"]["definition"]["file"].GetString(), "a\\b\n");
  EXPECT_TRUE(document["recording"].IsNull());
}

TEST(ValidUtf8, KeepsValidTextAndReplacesMaximalInvalidSequences) {
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(validUtf8(""), "");
  EXPECT_EQ(validUtf8("plain"), "plain");
  EXPECT_EQ(validUtf8("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(validUtf8("\x80"), bad);
  EXPECT_EQ(validUtf8("\xc3"), bad);
  EXPECT_EQ(validUtf8("\xe2\x82"), bad) << "cut short: one sequence";
  EXPECT_EQ(validUtf8("\xe2\x82!"), bad + "!");
  EXPECT_EQ(validUtf8("\xc0\xaf"), bad + bad) << "overlong";
  EXPECT_EQ(validUtf8("\xf4\x90\x80\x80"), bad + bad + bad + bad) << "above 10FFFF";
  EXPECT_EQ(validUtf8("\xf0\x80\x80\x80"), bad + bad + bad + bad) << "overlong";
}

}  // namespace
}  // namespace cacheline::analysis
