// .dwo files that no compiler writes: made to write where nobody may, or to fill the memory.
#include <gtest/gtest.h>

#include "fixture.h"
#include "memory_use.h"
#include "symbols/dwarf_index.h"
#include "symbols/joined_sections.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// Assembles without linking.
std::string assembledSplit(const TempDir& dir, const std::string& name, const std::string& source,
                           const std::string& flags = "") {
  writeFile(dir.file(name + ".s"), source);
  mustRun("as " + flags + " -o " + dir.file(name) + " " + dir.file(name + ".s"));
  return dir.file(name);
}

constexpr const char* kSkeleton =
    ".text; .globl _start; _start: nop\n"
    ".data; .globl data; .type data, @object; .size data, 64; data: .skip 64\n"
    ".section .debug_abbrev, \"\", @progbits\n"
    ".uleb128 1, 0x4a; .byte 0; .uleb128 0x76, 8, 0, 0; .byte 0\n"  // a skeleton: name of its .dwo file
    ".section .debug_info, \"\", @progbits\n"
    ".long end - unit; unit: .short 5; .byte 4, 8; .long 0; .quad 1\n"
    ".uleb128 1; .asciz \"first.dwo\"; end:\n";

/// The unit that the skeleton above continues in, and a skeleton once more, whose .dwo file needs joining.
/// The variable is declared in the latter.
constexpr const char* kSkeletonInADwo =
    ".section .debug_abbrev, \"\", @progbits; abbreviations:\n"
    ".uleb128 1, 0x11; .byte 1; .uleb128 0, 0\n"
    ".uleb128 2, 0x34; .byte 0; .uleb128 2, 0x18, 0x47, 0x10, 0, 0\n"  // a variable: location, declaration
    ".uleb128 3, 0x4a; .byte 1; .uleb128 0x76, 0xe, 0, 0\n"
    ".uleb128 4, 0x34; .byte 0; .uleb128 3, 8, 0, 0; .byte 0\n"  // a variable: name
    ".section .debug_str, \"\", @progbits; strings: .asciz \"long enough for another name\"\n"
    "name: .asciz \"second.dwo\"\n"
    ".section .debug_info, \"\", @progbits; info:\n"
    ".long end - unit; unit: .short 5; .byte 5, 8; .long 0; .quad 1\n"
    ".uleb128 1, 2; .byte 9, 3; .quad 0x500000; .long declared - info; .byte 0; end:\n"
    ".long end2 - unit2; unit2: .short 5; .byte 4, 8; .long 0; .quad 2\n"
    ".uleb128 3; .long name - strings\ndeclared: .uleb128 4; .asciz \"there\"; .byte 0; end2:\n";

/// Two sections of one name.
const std::string kRepeated =
    ".section .debug_abbrev.dwo, \"\", @progbits; .skip 8\n"
    ".section .debug_info.dwo, \"\", @progbits; .skip 16\n"
    ".section .debug_info.dwo, \"\", @progbits, unique, 1; .skip 16\n";

/// libdw opens .dwo files itself, in memory that nobody may write to: the name of a file there stays.
TEST(HostileSplits, ASkeletonInADwoFileIsNotContinued) {
  const TempDir dir;
  const std::string object = assembledSplit(dir, "object", kSkeleton);
  mustRun("gcc -nostdlib -static -Wl,-Tdata=0x500000 -o " + dir.file("program") + " " + object);
  assembledSplit(dir, "first.dwo", kSkeletonInADwo);
  assembledSplit(dir, "second.dwo", kRepeated);
  const auto module = Module::open(dir.file("program"), "");
  const auto variable = module->variableAt(0x500000);
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->name, "there") << "in the inner skeleton";
  EXPECT_TRUE(module->dwarf()->splitUnits().missing().empty()) << "nobody asked for second.dwo";
}

TEST(HostileSplits, ThatAreTooLargeAreNotInflated) {
  constexpr uint64_t kLarge = 32 << 20, kLimit = 1 << 20;
  const TempDir dir;
  const std::string strings =
      ".section .debug_str.dwo, \"\", @progbits; .skip " + std::to_string(kLarge) + "\n";
  for (const std::string way : {"zlib", "zstd"}) {
    const std::string path =
        assembledSplit(dir, way, kRepeated + strings, "--compress-debug-sections=" + way);
    uint64_t left = 2 * kLarge;
    EXPECT_TRUE(joinSections(path, left).file) << way;
    EXPECT_LT(left, kLarge) << "it is inflated where there is room";
    EXPECT_LT(memoryUse([&] {
                uint64_t few = kLimit;
                joinSections(path, few);
              }),
              kLarge / 4)
        << way;
  }
}

TEST(HostileSplits, ThatCannotBeJoinedUseNothingUp) {
  constexpr uint64_t kLimit = 1 << 20;
  const TempDir dir;
  // Sections are joined in the order of their names; the last one says that it is compressed and is not.
  const std::string path = assembledSplit(
      dir, "damaged.dwo", kRepeated + ".section .debug_str.dwo, \"0x800\", @progbits; .quad 1, 1, 1, 0\n");
  uint64_t left = kLimit;
  const JoinedSections joined = joinSections(path, left);
  EXPECT_TRUE(joined.needed);
  EXPECT_FALSE(joined.file);
  EXPECT_EQ(left, kLimit);
}

}  // namespace
}  // namespace cacheline::symbols
