// How a table folds: rows of numbers, texts beside, behind and below them. The tables of native/c2c are
// stored whole.
#include "text/grouped_table.h"

#include <gtest/gtest.h>

namespace cacheline::text {

namespace {

Entry entryOf(const std::vector<std::string>& cells, const std::vector<std::string>& texts) {
  Entry entry;
  for (const std::string& cell : cells) entry.cell(cell);
  for (const std::string& text : texts) entry.text(text);
  return entry;
}

/// Two groups and two texts, of which the second one may be left out.
std::string tableOf(size_t width, const std::vector<Entry>& entries) {
  GroupedTable table({{"Loads", {"hit", "miss"}}, {"", {"records"}}},
                     {{"Symbol", Shorten::middle}, {"Verdict", std::nullopt, true}}, width);
  for (const Entry& entry : entries) table.measure(entry);
  table.layOut();
  RowSink out(false);
  table.writeHeader(out);
  for (const Entry& entry : entries) table.write(entry, out);
  std::string text = "\n";
  for (const std::string& piece : out.take()) text += piece;
  return text;
}

const std::vector<Entry> kEntries{entryOf({"1", "20", "300"}, {"Worker::add(long)", "mixed"}),
                                  entryOf({"12345", "2", "3"}, {"計算", "private"})};

TEST(GroupedTable, HasOneRowAnEntryWhereAllFits) {
  EXPECT_EQ(tableOf(60, kEntries), R"(
# - Loads --
#   hit miss  records  Symbol             Verdict
      1   20      300  Worker::add(long)  mixed
  12345    2        3  計算               private
)");
}

TEST(GroupedTable, ShortensThenLeavesOutThenMovesTexts) {
  EXPECT_EQ(tableOf(47, kEntries), R"(
# - Loads --
#   hit miss  records  Symbol           Verdict
      1   20      300  Worker:…d(long)  mixed
  12345    2        3  計算             private
)");
  EXPECT_EQ(tableOf(36, kEntries), R"(
# - Loads --
#   hit miss  records  Symbol
      1   20      300  Worker…(long)
  12345    2        3  計算
)");
  EXPECT_EQ(tableOf(30, kEntries), R"(
# - Loads --
#   hit miss  records
#    Symbol  Verdict
      1   20      300
     Worker::add(long)  mixed
  12345    2        3
     計算  private
)");
}

TEST(GroupedTable, FoldsGroupsAndNeverCutsANumber) {
  EXPECT_EQ(tableOf(16, {entryOf({"1234567", "1", "2"}, {"x", ""})}), R"(
#   Loads
#     hit  miss
#
#    records
#    Symbol
#    Verdict
  1234567     1
           2
     x
)");
}

TEST(GroupedTable, AlignsCellsOfWideCharacters) {
  EXPECT_EQ(tableOf(40, {entryOf({"計", "1", "2"}, {"", ""})}), R"(
#    Loads
# hit miss  records  Symbol  Verdict
   計    1        2
)");
}

}  // namespace

}  // namespace cacheline::text
