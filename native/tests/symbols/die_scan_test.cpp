// Codes of abbreviations that no compiler writes: they are numbered from 1.
#include "symbols/die_scan.h"

#include <gtest/gtest.h>

#include "made_dwarf.h"
#include "memory_use.h"
#include "symbols/dwarf_index.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

void addCode(Dies& dies, uint64_t code) {
  for (; code >= 0x80; code >>= 7) dies.byte(0x80 | (code & 0x7f));
  dies.byte(static_cast<unsigned>(code));
}

constexpr uint64_t kCodes[] = {2, 4095, 4096, 4097, 1 << 20};

/// A binary with `rounds` functions of each code, whose addresses and sizes are numbered.
std::string withCodes(const TempDir& dir, int rounds) {
  std::string abbreviations = ".uleb128 1, 0x11; .byte 1, 0, 0\n";
  for (const uint64_t code : kCodes)
    abbreviations +=
        ".uleb128 " + std::to_string(code) + ", 0x2e; .byte 0; .uleb128 3, 8, 0x11, 1, 0x12, 0xb, 0, 0\n";
  Dies dies;
  dies.byte(1);
  for (int i = 0; i < rounds; i++)
    for (const uint64_t code : kCodes) {
      addCode(dies, code);
      dies.text("f" + std::to_string(code)).word(code, 8).byte(static_cast<unsigned>(i));
    }
  return madeBinary(dir, abbreviations, dies.byte(0));
}

/// What a walk finds.
std::string functionsIn(const Dwarf_Die& unit) {
  std::string all;
  DieScan scan(unit);
  scan.walk([](int tag) { return tag == DW_TAG_subprogram; },
            [&](const DieScan::Here& here) {
              scan.forEachAttribute(here, [&](const DieScan::Raw& attribute) {
                if (attribute.name == DW_AT_name) all += reinterpret_cast<const char*>(attribute.bytes);
              });
              const auto code = scan.codeOf(here);
              all += code ? " " + std::to_string(code->low) + "-" + std::to_string(code->high) + "\n" : "?";
              return false;
            },
            [](Dwarf_Off) {});
  return all;
}

TEST(DieScan, ReadsAbbreviationsOfAnyCode) {
  constexpr int kRounds = 3;
  const TempDir dir;
  const auto module = Module::open(withCodes(dir, kRounds), "");
  std::string wanted;
  for (int i = 0; i < kRounds; i++)
    for (const uint64_t code : kCodes)
      wanted += "f" + std::to_string(code) + " " + std::to_string(code) + "-" +
                std::to_string(code + static_cast<uint64_t>(i)) + "\n";
  EXPECT_EQ(functionsIn(module->dwarf()->units().roots().at(0)), wanted);
}

/// libdw does not look whether a unit is as long as it says.
TEST(DieScan, AUnitEndsWithItsSection) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  for (const char* name : {"near", "far"})
    dies.byte(2).text(name).word(std::string(name) == "far" ? 0xe0000000 : 0);
  const std::string binary = madeBinary(dir,
                                        ".uleb128 1, 0x11; .byte 1, 0, 0\n"
                                        ".uleb128 2, 0x2e; .byte 0; .uleb128 3, 8, 2, 4, 0, 0\n",
                                        dies);
  std::string bytes = readFile(binary);
  const size_t header = bytes.find(std::string("\5\0\1\10\0\0\0\0", 8));
  ASSERT_NE(header, std::string::npos);
  bytes.replace(header - 4, 4, "\xff\xef\xff\xef");
  writeFile(binary, bytes);
  const auto module = Module::open(binary, "");
  const Dwarf_Die unit = module->dwarf()->units().roots().at(0);
  EXPECT_EQ(functionsIn(unit), "near 0-0\n");
  EXPECT_EQ(DieScan(unit).bytes(), dies.bytes().size());
}

TEST(DieScan, HighCodesTakeLittleMemory) {
  constexpr int kScans = 4;
  const TempDir dir;
  const auto module = Module::open(withCodes(dir, 1), "");
  const Dwarf_Die unit = module->dwarf()->units().roots().at(0);
  EXPECT_LT(memoryUse([&] {
              std::vector<DieScan> kept;
              for (int i = 0; i < kScans; i++)
                kept.emplace_back(unit).walk([](int) { return true; },
                                             [](const DieScan::Here&) { return false; }, [](Dwarf_Off) {});
            }),
            kScans * uint64_t{4} << 20);
}

}  // namespace
}  // namespace cacheline::symbols
