// Debug information that is made to take long. A generated input each, for which the steps of one question
// were squares or powers of what the file holds: minutes, or for ever. Now they have bounds, and what is
// asked is answered. Nothing here looks at a clock: without the bound the test does not end.
#include <gtest/gtest.h>

#include "layouts/type_index.h"
#include "made_dwarf.h"
#include "types/member_places.h"
#include "types/pointers.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace layouts;
using symbols::test::Dies;
using symbols::test::madeBinary;
using test::Program;
using test::TempDir;

constexpr const char* kUnit = ".uleb128 1, 0x11; .byte 1, 0, 0\n";
constexpr const char* kStructure = ".uleb128 2, 0x13; .byte 1; .uleb128 3, 8, 0xb, 6, 0, 0\n";  // name, size
constexpr const char* kMember = ".uleb128 3, 0xd; .byte 0; .uleb128 0x49, 0x13, 0, 0\n";        // type
constexpr const char* kPlaced =
    ".uleb128 4, 0xd; .byte 0; .uleb128 0x49, 0x13, 0x38, 6, 0, 0\n";  // type, place
constexpr const char* kBase = ".uleb128 5, 0x1c; .byte 0; .uleb128 0x49, 0x13, 0x38, 6, 0, 0\n";

class Lists : public testing::TestWithParam<const char*> {};

/// Each type is the first child of the one before it, and there is a member of each.
TEST_P(Lists, OfChildrenThatLieInEachOtherAreNoLoadForTheIndex) {
  constexpr uint32_t kMany = 100'000;
  const TempDir dir;
  Dies dies;
  dies.byte(1).byte(2).text("S").word(4);
  const uint32_t types = dies.here() + kMany * 5 + 1;
  for (uint32_t i = 0; i < kMany; i++) dies.byte(3).word(types + i);
  dies.byte(0).repeat(kMany, 6);
  Program program(madeBinary(
      dir, std::string(kUnit) + kStructure + kMember + ".uleb128 6, " + GetParam() + "; .byte 1, 0, 0\n",
      dies));
  const TypeIndex index = buildTypeIndex(*program.module().dwarf());
  const auto [first, last] = index.withName("S");
  EXPECT_EQ(last - first, 1u);
}

/// The name of each type goes on to one list of children.
TEST_P(Lists, OfChildrenThatManyTypesHaveAreNoLoadForTheIndex) {
  constexpr uint32_t kMany = 100'000;
  const TempDir dir;
  Dies dies;
  dies.byte(1).byte(2).text("S").word(4);
  const uint32_t types = dies.here() + kMany * 5 + 1;
  for (uint32_t i = 0; i < kMany; i++) dies.byte(3).word(types + i);
  dies.byte(0).repeat(kMany, 6).byte(0).repeat(kMany, 7);
  Program program(madeBinary(dir,
                             std::string(kUnit) + kStructure + kMember + ".uleb128 6, " + GetParam() +
                                 "; .byte 1; .uleb128 0x2c, 8, 0, 0\n.uleb128 7, 0x21; .byte 0, 0, 0\n",
                             dies));
  const TypeIndex index = buildTypeIndex(*program.module().dwarf());
  const auto [first, last] = index.withName("S");
  EXPECT_EQ(last - first, 1u);
}

INSTANTIATE_TEST_SUITE_P(Hostile, Lists, testing::Values("0x01", "0x13", "0x15"),
                         [](const testing::TestParamInfo<const char*>& tag) {
                           const std::string name = tag.param;
                           return name == "0x01" ? "Arrays" : name == "0x13" ? "Structures" : "Functions";
                         });

TEST(Hostile, ABaseWithManyMembersIsGoneThroughOnceAClass) {
  constexpr uint32_t kMembers = 400'000, kClasses = 50;
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t element = dies.here();
  dies.byte(2).text("E").word(8).byte(0);
  const uint32_t base = dies.here();
  dies.byte(2).text("Base").word(8 * kMembers);
  for (uint32_t i = 0; i < kMembers; i++) dies.byte(4).word(element).word(8 * i);
  dies.byte(0);
  for (uint32_t i = 0; i < kClasses; i++)
    dies.byte(2).text("D" + std::to_string(i)).word(8 * kMembers).byte(5).word(base).word(0).byte(0);
  Program program(madeBinary(dir, std::string(kUnit) + kStructure + kPlaced + kBase, dies));
  for (uint32_t i = 0; i < kClasses; i++) {
    const auto found = program.types().named("D" + std::to_string(i));
    ASSERT_EQ(found.size(), 1u);
    const Type& type = program.table()[found[0]];
    ASSERT_EQ(type.members.size(), 1u);
    EXPECT_EQ(type.members[0].size, 8u * kMembers);
  }
}

/// Unions of four members, each of the next one's type: 4^24 ways to the innermost.
std::string unions(const std::string& innermost) {
  std::string source = "union U0 { " + innermost + " };\n";
  for (int i = 1; i <= 24; i++) {
    const std::string inner = "union U" + std::to_string(i - 1);
    source += "union U" + std::to_string(i) + " { " + inner + " a, b, c, d; };\n";
  }
  return source;
}

TEST(Hostile, MembersThatLieOnEachOtherDoNotMultiply) {
  const TempDir dir;
  Program program(
      dir, "c",
      unions("long numbers[4];") + "union U24 u; union U14 less; struct { void* p; union U24 u; } pair;\n");
  const TypeTable& table = program.table();
  const TypeId u = program.variable("u");
  EXPECT_FALSE(hasArrayOf(table, u, 5));
  EXPECT_FALSE(within(table, u, 8, 5));
  EXPECT_EQ(pointeeAt(table, u, 8), kNoType);
  EXPECT_FALSE(contains(table, program.variable("less"), 8, program.variable("pair")));
}

/// The same of a structure without members; compilers take for ever, too.
TEST(Hostile, ClassesWithoutDataThatLieOnEachOtherDoNotMultiply) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  uint32_t type = dies.here();
  dies.byte(2).text("Empty").word(1).byte(0);
  const auto add = [&](const std::string& name, uint32_t size, unsigned how, int times) {
    const uint32_t inner = type;
    type = dies.here();
    dies.byte(2).text(name).word(size);
    for (int i = 0; i < times; i++) dies.byte(how).word(inner).word(0);
    dies.byte(0);
  };
  constexpr unsigned kField = 4, kParent = 5;
  for (int i = 0; i < 24; i++) add("Around" + std::to_string(i), 1, kField, 4);
  add("Base", 1, kParent, 1);
  add("Derived", 8, kParent, 1);
  add("Last", 16, kParent, 1);
  Program program(madeBinary(dir, std::string(kUnit) + kStructure + kPlaced + kBase, dies));
  const auto found = program.types().named("Last");
  ASSERT_EQ(found.size(), 1u);
  const Type& last = program.table()[found[0]];
  EXPECT_EQ(last.members.size(), 1u);
  EXPECT_FALSE(isEmptyClass(program.table(), last.members[0].type));
}

}  // namespace
}  // namespace cacheline::types
