// Variables whose types are made to take long: as many as the types have parts, and the steps were the
// product. Nothing here looks at a clock: without the bound the test does not end.
#include <gtest/gtest.h>

#include "made_dwarf.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

constexpr uint32_t kMany = 100'000;
constexpr const char* kAbbreviations =
    ".uleb128 1, 0x11; .byte 1, 0, 0\n"
    ".uleb128 2, 0x34; .byte 0; .uleb128 0x49, 0x13, 2, 0x18, 0, 0\n"  // a variable: type, location
    ".uleb128 3, 0xd; .byte 0; .uleb128 0x49, 0x13, 0, 0\n"            // a member: type
    ".uleb128 4, 1; .byte 1, 0, 0\n"                                   // an array
    ".uleb128 5, 0x13; .byte 1; .uleb128 0xb, 0xb, 0, 0\n"             // a structure: size
    ".uleb128 6, 0x21; .byte 0; .uleb128 0x37, 0xb, 0, 0\n";           // a dimension: length

void addVariable(Dies& dies, uint32_t type) {
  dies.byte(2).word(type).byte(9).byte(3).word(kMadeData, 8);
}
constexpr uint32_t kVariableBytes = 15;

/// "size" of what is found at the data's start.
uint64_t sizeThere(const TempDir& dir, const Dies& dies) {
  const auto module = Module::open(madeBinary(dir, kAbbreviations, dies), "");
  const auto found = module->variableAt(kMadeData);
  EXPECT_TRUE(found);
  return found ? found->size : 0;
}

TEST(HostileVariables, AStructureIsLookedThroughOnceForAllItsVariables) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t array = dies.here();
  dies.byte(4).byte(0);
  const uint32_t structure = dies.here();
  dies.byte(5).byte(4);
  for (uint32_t i = 0; i < kMany; i++) dies.byte(3).word(array);
  dies.byte(0);
  for (uint32_t i = 0; i < kMany; i++) addVariable(dies, structure);
  EXPECT_EQ(sizeThere(dir, dies), 64u) << "its last member has no stated length";
}

TEST(HostileVariables, StructuresThatLieInEachOtherAreNotGoneThroughForEach) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t types = dies.here() + kMany * kVariableBytes;
  for (uint32_t i = 0; i < kMany; i++) addVariable(dies, types + i * 2);
  for (uint32_t i = 0; i < kMany; i++) dies.byte(5).byte(4);
  EXPECT_EQ(sizeThere(dir, dies), 4u);
}

TEST(HostileVariables, ArraysThatLieInEachOtherAreNotGoneThroughForEach) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t types = dies.here() + kMany * kVariableBytes;
  for (uint32_t i = 0; i < kMany; i++) addVariable(dies, types + i);
  dies.repeat(kMany, 4);
  EXPECT_EQ(sizeThere(dir, dies), 64u) << "which the symbol says";
}

TEST(HostileVariables, AnArrayWithManyDimensionsIsNotGoneThroughForEachVariable) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t array = dies.here();
  dies.byte(4);
  for (uint32_t i = 0; i < kMany; i++) dies.byte(6).byte(1);
  dies.byte(0);
  for (uint32_t i = 0; i < kMany; i++) addVariable(dies, array);
  EXPECT_EQ(sizeThere(dir, dies), 64u);
}

}  // namespace
}  // namespace cacheline::symbols
