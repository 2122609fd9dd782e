// The tables of text: stored texts at three widths, and what holds at every width.
#include "c2c/tables.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "table_reports.h"
#include "text/terminal_text.h"

namespace cacheline::c2c::test {

namespace {

using analysis::Report;

TableOptions wide(uint32_t width, bool fullSymbols = false) {
  TableOptions options;
  options.width = width;
  options.folder = "/home/ada/demo";
  options.fullSymbols = fullSymbols;
  return options;
}
TableOptions withNodes(uint32_t nodeInfo, TableOptions options) {
  options.nodeInfo = nodeInfo;
  return options;
}
TableOptions withCallers(TableOptions options) {
  options.callers = true;
  return options;
}

std::string textOf(const Report& report, const TableOptions& options) {
  std::string text;
  for (const std::string& piece : tablesText(report, options)) text += piece;
  return text;
}

std::vector<std::string> rowsOf(const std::string& text) {
  std::vector<std::string> rows;
  std::istringstream stream(text);
  for (std::string row; std::getline(stream, row);) rows.push_back(row);
  return rows;
}

std::string withoutBlanks(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s"), "");
}

/// UPDATE_GOLDENS=1 rewrites what is stored, to be read in the diff.
void expectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(CACHELINE_GOLDENS) + "/tables-" + name + ".txt";
  if (std::getenv("UPDATE_GOLDENS") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream stored;
  stored << file.rdbuf();
  EXPECT_EQ(text, stored.str()) << path << " differs; UPDATE_GOLDENS=1 accepts the new text";
}

const std::vector<std::pair<std::string, Report>>& reports() {
  static const std::vector<std::pair<std::string, Report>> list{
      {"intel", intelReport()}, {"arm", armReport()}, {"hostile", hostileReport()}};
  return list;
}

TEST(Tables, AreTheStoredOnes) {
  for (const auto& [name, report] : reports())
    for (const uint32_t width : {80, 120, 200})
      expectGolden(name + "-" + std::to_string(width), textOf(report, wide(width)));
}

TEST(Tables, ShowNodesAndTellRowsApartAsAsked) {
  Report report = intelReport();
  report.c2c->coalesce = {"tid", "pid", "dso"};
  TableOptions coalesced = withNodes(1, wide(100));
  coalesced.source = false;
  expectGolden("intel-coalesced", textOf(report, coalesced));
  expectGolden("hostile-full", textOf(hostileReport(), withNodes(2, wide(100, true))));
}

TEST(Tables, AreNeverWiderThanTheTerminalNorHoldControls) {
  for (const auto& [name, report] : reports()) {
    for (uint32_t width = 40; width <= 320; width += 7) {
      for (const uint32_t nodeInfo : {0, 1, 2}) {
        for (const std::string& row :
             rowsOf(textOf(report, withNodes(nodeInfo, wide(width, nodeInfo == 2))))) {
          EXPECT_LE(text::displayWidth(row), width) << name << ": " << row;
          EXPECT_EQ(text::printable(row), row);
          EXPECT_FALSE(row.ends_with(' ')) << row;
        }
      }
    }
  }
}

TEST(Tables, NeverCutANumber) {
  for (const auto& each : reports()) {
    const auto& name = each.first;
    const auto& report = each.second;
    for (uint32_t width = 40; width <= 320; width += 13) {
      std::set<std::string> words;
      std::istringstream stream(textOf(report, wide(width)));
      for (std::string word; stream >> word;) words.insert(word);
      const auto expectWord = [&](uint64_t number, bool hex) {
        std::ostringstream word;
        word << (hex ? std::hex : std::dec) << std::showbase << number;
        EXPECT_TRUE(words.contains(number == 0 && hex ? "0x0" : word.str()))
            << name << " at " << width << ": " << word.str();
      };
      for (const analysis::Line& line : report.lines) {
        expectWord(line.address, true);
        for (const uint64_t number : {line.records, line.stores, line.memory->storeL1Hit})
          expectWord(number, false);
        for (const analysis::Access& access : line.accesses) {
          expectWord(access.codeAddress, true);
          for (const uint64_t number :
               {access.records, uint64_t{access.cpus}, access.memory->physicalChanges.value_or(0),
                access.memory->cycles ? access.memory->cycles->max : 0})
            expectWord(number, false);
        }
      }
    }
  }
}

TEST(Tables, KeepAllOfASymbolOnlyWhereAsked) {
  const std::string symbol = withoutBlanks(hostileReport().lines.front().accesses.at(1).code->symbol);
  for (const uint32_t width : {80, 200, 1000})
    EXPECT_NE(withoutBlanks(textOf(hostileReport(), wide(width, true))).find(symbol), std::string::npos);
  EXPECT_EQ(withoutBlanks(textOf(hostileReport(), wide(200))).find(symbol), std::string::npos);
}

TEST(Tables, ChangeNothingButColoursByColours) {
  for (const auto& [name, report] : reports()) {
    for (const uint32_t width : {60, 80, 200}) {
      TableOptions options = wide(width);
      options.coloured = true;
      const std::string coloured = textOf(report, options);
      EXPECT_NE(coloured.find("\x1b[1m"), std::string::npos);
      EXPECT_EQ(std::regex_replace(coloured, std::regex("\x1b\\[[0-9]+m"), ""), textOf(report, wide(width)))
          << name;
    }
  }
}

TEST(Tables, NameTheCallersOfACodeAddressOnceOrSayThatThereAreNone) {
  Report report = intelReport();
  report.lines[1].accesses.push_back(report.lines[0].accesses[0]);
  const std::string text = textOf(report, withCallers(wide(100)));
  EXPECT_NE(text.find("\n  74.97% from Worker::run() at 0x401311 (src/server.cpp:52) < main at 0x401400 "
                      "(src/server.cpp:80)\n"),
            std::string::npos);
  const std::string title = "\nWorker::count(unsigned long) at 0x40116d:\n";
  ASSERT_NE(text.find(title), std::string::npos);
  EXPECT_EQ(text.find(title), text.rfind(title));
  EXPECT_NE(textOf(armReport(), withCallers(wide(80))).find("No callers: the rows have no call chains"),
            std::string::npos);
  EXPECT_EQ(textOf(armReport(), wide(80)).find("allers"), std::string::npos);
}

TEST(Tables, NeverSayHitmOfAMachineThatCannotTell) {
  EXPECT_FALSE(std::regex_search(textOf(armReport(), wide(200)), std::regex("hitm", std::regex::icase)));
}

TEST(Tables, OfNoLinesAreNone) {
  Report report = intelReport();
  report.lines.clear();
  EXPECT_TRUE(tablesText(report, wide(80)).empty());
  EXPECT_EQ(textOf(report, withCallers(wide(80))).find("No callers"), 0u);
}

TEST(Tables, AreTheSameOfAnyNumberOfThreads) {
  for (const analysis::Report& few : {test::intelReport(), test::hostileReport()}) {
    analysis::Report report = few;
    while (report.lines.size() < 2000)
      for (const analysis::Line& line : few.lines) report.lines.push_back(line);
    analysis::CodeName widest;
    widest.symbol = std::string(90, 'x');
    report.lines[3].accesses.front().code =
        std::make_shared<const analysis::CodeName>(widest);  // in one part
    for (const uint32_t width : {80u, 300u}) {
      TableOptions options = wide(width);
      options.threads = 1;
      const std::string alone = textOf(report, options);
      for (const unsigned threads : {2u, 5u}) {
        options.threads = threads;
        EXPECT_TRUE(textOf(report, options) == alone) << width << " with " << threads << " threads";
      }
    }
  }
}

TEST(Tables, ComeInPiecesCutBetweenRows) {
  Report report = intelReport();
  const analysis::Line line = report.lines.front();
  for (int i = 0; i < 5000; ++i) report.lines.push_back(line);
  const std::vector<std::string> pieces = tablesText(report, wide(80));
  ASSERT_GT(pieces.size(), 2u);
  for (const std::string& piece : pieces) EXPECT_TRUE(piece.ends_with('\n') && piece.size() < (2u << 20));
}

}  // namespace

}  // namespace cacheline::c2c::test
