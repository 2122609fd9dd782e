// Locations read in place, judged by libdw.
#include <dwarf.h>
#include <gtest/gtest.h>

#include "inference/location_reader.h"
#include "symbols/dwarf_index.h"
#include "types_fixture.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace types::test;

constexpr const char* kManyVariables = R"(
#include <algorithm>
#include <map>
#include <string>
#include <vector>
struct Entry { long key; std::string name; };
long work(std::vector<Entry>& entries, std::map<long, Entry>& index) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  long sum = 0;
  for (auto& entry : entries) sum += (index[entry.key].name += entry.name).size();
  return sum;
}
Entry worst{1, "one"};
)";

std::string text(const Expression& expression) {
  std::string result;
  for (const Operation& operation : expression.operations) {
    result += std::to_string(operation.code);
    // libdw leaves the place of the bytes of an entry value here.
    if (operation.inner < expression.inner.size())
      result += " [" + text(expression.inner[operation.inner]) + "]";
    else
      result += " " + std::to_string(operation.first) + " " + std::to_string(operation.second);
    result += "; ";
  }
  return result;
}

std::string text(const std::vector<LocationRange>& ranges) {
  std::string result;
  for (const LocationRange& range : ranges)
    result +=
        std::to_string(range.low) + "-" + std::to_string(range.high) + ": " + text(range.expression) + "\n";
  return result;
}

class ReadInPlace : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ReadInPlace, SaysWhatLibdwSays) {
  const auto [compiler, flags] = GetParam();
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
  const TempDir dir;
  Program program(dir, "cpp", kManyVariables, flags, compiler);
  size_t read = 0, lists = 0;
  for (const Dwarf_Die& root : program.module().dwarf()->units().roots()) {
    const LocationLists locations(root);
    symbols::DieScan scan(root);
    scan.walk([](int) { return true; },
              [&](symbols::DieScan::Here& here) {
                scan.forEachAttribute(here, [&](const symbols::DieScan::Raw& attribute) {
                  if (attribute.name != DW_AT_location) return;
                  const auto ranges = locations.read(attribute);
                  if (!ranges) return;
                  EXPECT_EQ(text(*ranges), text(locationRanges(here.die))) << std::hex << here.offset;
                  ++read;
                  lists += ranges->size() > 1;
                });
                return true;
              },
              [](Dwarf_Off) {});
  }
  EXPECT_GT(read, 50u);
  if (std::string_view(flags).find("O2") != std::string_view::npos && std::string_view(compiler) == "g++") {
    EXPECT_GT(lists, 50u);
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, ReadInPlace,
                         testing::Values(std::tuple("g++", "-O2 -gdwarf-5"),
                                         std::tuple("g++", "-O0 -gdwarf-5"),
                                         std::tuple("g++", "-O2 -gdwarf-5 -gdwarf64"),
                                         std::tuple("clang++", "-O2 -gdwarf-5"),
                                         std::tuple("clang++", "-O0 -gdwarf-4")));

TEST(ReadExpression, CutOffAndUnknownIsLeftToLibdw) {
  const symbols::ElfFormat format;
  const std::vector<uint8_t> pieces = {DW_OP_breg0 + 7, 0x80, 0x01, DW_OP_stack_value, DW_OP_piece, 8};
  const auto whole = readExpression(pieces, format);
  ASSERT_TRUE(whole);
  EXPECT_EQ(text(*whole), "119 128 0; 159 0 0; 147 8 0; ");
  const auto cut = [&](size_t size) { return readExpression(std::span(pieces).first(size), format); };
  EXPECT_FALSE(cut(1));
  EXPECT_FALSE(cut(2));
  EXPECT_TRUE(cut(3));
  EXPECT_FALSE(cut(5));
  EXPECT_FALSE(readExpression(std::vector<uint8_t>{DW_OP_entry_value, 5, DW_OP_reg5}, format));
  const std::vector<uint8_t> longest = {DW_OP_constu, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff,         0xff, 0xff, 0xff, 0x01};
  const auto all = readExpression(longest, format);
  ASSERT_TRUE(all);
  EXPECT_EQ(text(*all), "16 18446744073709551615 0; ");
  std::vector<uint8_t> longer(64, 0x80);
  longer[0] = DW_OP_consts;
  EXPECT_FALSE(readExpression(longer, format)) << "a number without an end";
  EXPECT_FALSE(readExpression(std::vector<uint8_t>{DW_OP_implicit_pointer, 0, 0, 0, 0, 0}, format));
  EXPECT_FALSE(readExpression(std::vector<uint8_t>(8192, DW_OP_dup), format))
      << "more than any compiler writes";
  // Entry values of entry values of entry values ...
  std::vector<uint8_t> deep = {DW_OP_reg5};
  for (int i = 0; i < 8; i++)
    deep.insert(deep.begin(), {DW_OP_entry_value, static_cast<uint8_t>(deep.size())});
  EXPECT_FALSE(readExpression(deep, format));
}

}  // namespace
}  // namespace cacheline::inference::test
