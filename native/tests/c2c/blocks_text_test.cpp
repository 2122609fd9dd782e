// The paragraph about heap blocks behind the tables, on reports built by hand.
#include "c2c/blocks_text.h"

#include <gtest/gtest.h>

#include "c2c/tables.h"
#include "table_reports.h"

namespace cacheline::c2c {
namespace {

using analysis::Access;
using analysis::HeapBlock;

class BlocksText : public testing::Test {
 protected:
  /// A row in a block, on the first line or on one of another process.
  Access& add(const std::string& type, const HeapBlock& block, std::optional<uint64_t> base,
              bool other = false) {
    std::vector<Access>& rows = report_.lines[other ? 1 : 0].accesses;
    Access row = rows.front();
    row.data = {};
    row.data.type = type;
    row.data.base = base;
    row.data.allocation = block;
    rows.push_back(row);
    return rows.back();
  }
  static HeapBlock blockOf(const std::string& function, uint64_t size = 64) {
    HeapBlock block;
    block.size = size;
    block.function = function;
    block.place = {"/src/pool.c", 7};
    return block;
  }
  /// The lines behind the title.
  std::string text(bool source = true) {
    TableOptions options;
    options.width = 400;
    options.source = source;
    options.folder = "/src";
    std::string all;
    for (const std::string& piece : tablesText(report_, options)) all += piece;
    const std::string title = "Heap blocks of the data above\n";
    const size_t at = all.find(title);
    if (at == std::string::npos) return "";
    all.erase(0, at + title.size());
    return all.substr(0, all.find("\n\n") + 1);  // callers follow
  }

  analysis::Report report_ = test::intelReport();
};

TEST_F(BlocksText, IsNotThereWithoutBlocks) {
  EXPECT_EQ(text(), "");
}

TEST_F(BlocksText, BlocksAreOneEntryByTypeAndAllocation) {
  add("worker", blockOf("make"), 0x1000);
  add("worker", blockOf("make"), 0x1000);
  add("worker", blockOf("make"), 0x1000, true);
  add("job", blockOf("make"), 0x2000);
  add("job", blockOf("other"), 0x3000);
  EXPECT_EQ(text(),
            "worker at 0x1000 and 1 more: in a block of 64 bytes allocated in make (pool.c:7)\n"
            "job at 0x2000: in a block of 64 bytes allocated in make (pool.c:7)\n"
            "job at 0x3000: in a block of 64 bytes allocated in other (pool.c:7)\n")
      << "those of two processes are two";
}

TEST_F(BlocksText, SaysWhoCalledAndWhereUnlessSourcesAreNotWanted) {
  HeapBlock block = blockOf("make", 1);
  block.callers = {{"middle", "/src/pool.c", 9}, {"main", "/src/pool.c", 20}};
  add("", block, std::nullopt);
  EXPECT_EQ(
      text(),
      "unknown: a block of 1 byte allocated in make (pool.c:7), called from middle (pool.c:9) from main\n"
      "  (pool.c:20)\n");
  EXPECT_EQ(text(false), "unknown: a block of 1 byte allocated in make, called from middle from main\n");
}

TEST_F(BlocksText, NamesAreShortAndHarmless) {
  add("evil\x1b[31m", blockOf("make\n\xe2\x80\xae"), 0x1000);
  add(std::string(500, 't'), blockOf(std::string(500, 'f')), 0x1000);
  const std::string shown = text();
  EXPECT_NE(shown.find(
                "evil\\x1b[31m at 0x1000: in a block of 64 bytes allocated in make\\n\\u{202e} (pool.c:7)\n"),
            std::string::npos)
      << shown;
  EXPECT_EQ(shown.find(std::string(35, 't')), std::string::npos);
  EXPECT_EQ(shown.find(std::string(35, 'f')), std::string::npos);
  EXPECT_NE(shown.find(std::string(25, 'f')), std::string::npos);
}

TEST_F(BlocksText, OfManyTheFirstAreShown) {
  for (uint64_t i = 0; i < 21; ++i) add("worker", blockOf("make" + std::to_string(i)), 0x1000 * i);
  const auto count = [](const std::string& text, const char* part) {
    size_t number = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++number;
    return number;
  };
  std::string shown = text();
  EXPECT_EQ(count(shown, "in a block of"), 20u);
  EXPECT_TRUE(shown.ends_with("\nblocks of 1 more allocation (--format json lists them)\n")) << shown;
  add("worker", blockOf("another"), 0x1000);
  shown = text();
  EXPECT_EQ(count(shown, "in a block of"), 20u);
  EXPECT_TRUE(shown.ends_with("\nblocks of 2 more allocations (--format json lists them)\n")) << shown;
}

}  // namespace
}  // namespace cacheline::c2c
