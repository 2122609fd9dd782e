// Lists of ranges against libdw's, DIE by DIE.
#include "symbols/range_lists.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <tuple>

#include "base/unique_fd.h"
#include "fixture.h"
#include "symbols/die.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// Compiler, flags, and whether its lists are read in place.
class ListedRanges : public testing::TestWithParam<std::tuple<const char*, const char*, bool>> {};

TEST_P(ListedRanges, AgreeWithLibdw) {
  const auto& [compiler, flags, inPlace] = GetParam();
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
  const TempDir dir;
  const std::string binary = compile(dir, "program", "cpp", scopesSource(), flags, compiler);
  const UniqueFd fd(::open(binary.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Dwarf, DwarfEnd> dwarf(dwarf_begin(fd.get(), DWARF_C_READ));
  ASSERT_TRUE(dwarf);
  size_t read = 0, left = 0;
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  uint8_t kind = 0;
  Dwarf_Die root;
  while (dwarf_get_units(dwarf.get(), cu, &cu, &version, &kind, &root, nullptr) == 0) {
    RangeLists lists(root);
    DieScan scan(root);
    scan.walk([](int) { return true; },
              [&](DieScan::Here& here) {
                if (dwarf_hasattr(&here.die, DW_AT_ranges) != 1) return true;
                std::vector<std::pair<uint64_t, uint64_t>> judge;
                forEachRange(here.die, [&](uint64_t low, uint64_t high) { judge.emplace_back(low, high); });
                const auto* found = lists.of(scan, here);
                ++(found != nullptr ? read : left);
                if (found != nullptr) {
                  EXPECT_EQ(*found, judge) << std::hex << here.offset;
                }
                return true;
              },
              [](Dwarf_Off) {});
  }
  EXPECT_GT(read + left, 0u);
  EXPECT_EQ((inPlace ? left : read), 0u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, ListedRanges,
                         testing::Values(std::tuple("g++", "-O2 -gdwarf-5", true),
                                         std::tuple("g++", "-O2 -gdwarf-5 -gdwarf64", true),
                                         std::tuple("g++", "-O2 -gdwarf-4", false)));

}  // namespace
}  // namespace cacheline::symbols
