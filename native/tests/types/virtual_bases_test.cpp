// Where data ends in classes with more members than are looked into.
#include "types/virtual_bases.h"

#include <gtest/gtest.h>

#include <utility>

#include "made_dwarf.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using symbols::test::Dies;
using symbols::test::madeBinary;
using test::Program;
using test::TempDir;

/// Fifty members of a hundred numbers each, before the one in whose tail padding the virtual base lies.
TEST(VirtualBases, MayLieInATailBehindManyMembers) {
  std::string numbers, parts;
  for (int i = 0; i < 100; i++) numbers += "long n" + std::to_string(i) + ";";
  for (int i = 0; i < 50; i++) parts += "Part p" + std::to_string(i) + ";";
  const std::string source = "struct Part {" + numbers +
                             "};\n"
                             "struct Tail { Tail() {} long a; char b; };\n"
                             "struct Last : Tail { Last() {} };\n"
                             "struct V { V() {} char v; };\n"
                             "struct Whole : virtual V {" +
                             parts +
                             "[[no_unique_address]] Last last; };\n"
                             "Whole whole; static_assert(sizeof(Whole) == 8 + 50 * 800 + 16);\n";
  const TempDir dir;
  for (const char* compiler : {"g++", "clang++"}) {
    if (!test::haveTool(compiler)) continue;
    Program program(dir, "cpp", source, "-std=c++20", compiler);
    const Type& whole = program.typeOf("whole");
    // Of `last`, without its padding, where compilers put V.
    EXPECT_EQ(leastDataEnd(program.table(), whole), 8u + 50 * 800 + 9) << compiler;
  }
}

/// Bases on each other, so many that not all are looked into: what is not known must not make the class
/// larger.
TEST(VirtualBases, TooManyBasesTakeNoMoreRoomThanFew) {
  const TempDir dir;
  Dies dies;
  dies.byte(1);
  const uint32_t number = dies.here(), letter = number + 3;
  dies.byte(2).byte(8).byte(5).byte(2).byte(1).byte(6);
  const uint32_t base = dies.here();
  dies.byte(3).text("B").word(16).byte(4).word(number).word(0).byte(4).word(letter).word(8).byte(0);
  for (const auto& [name, times] : {std::pair("Few", 10), std::pair("Many", 10'000)}) {
    dies.byte(3).text(name).word(16);
    for (int i = 0; i < times; i++) dies.byte(5).word(base).word(0);
    dies.byte(0);
  }
  Program program(madeBinary(dir,
                             ".uleb128 1, 0x11; .byte 1, 0, 0\n"
                             ".uleb128 2, 0x24; .byte 0; .uleb128 0xb, 0xb, 0x3e, 0xb, 0, 0\n"
                             ".uleb128 3, 0x13; .byte 1; .uleb128 3, 8, 0xb, 6, 0, 0\n"
                             ".uleb128 4, 0xd; .byte 0; .uleb128 0x49, 0x13, 0x38, 6, 0, 0\n"
                             ".uleb128 5, 0x1c; .byte 0; .uleb128 0x49, 0x13, 0x38, 6, 0, 0\n",
                             dies.byte(0)));
  for (const char* name : {"Few", "Many"}) {
    const auto found = program.types().named(name);
    ASSERT_EQ(found.size(), 1u) << name;
    EXPECT_EQ(leastNonVirtualSize(program.table(), program.table()[found[0]]), 9u) << name;
  }
}

}  // namespace
}  // namespace cacheline::types
