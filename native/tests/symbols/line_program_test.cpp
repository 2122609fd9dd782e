// Line-number programs written by hand: what headers may say though no compiler at hand does. The answer is
// right, or there is none.
#include "symbols/line_program.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// In assembler: the parts of a unit's header, and what it runs after it set the address.
struct Made {
  int version = 5;
  std::string start =
      ".byte 1, 1, 1, -3, 12, 13; .byte 0,1,1,1,1,0,0,0,1,0,0,1";  ///< up to the lengths of opcodes
  std::string tables;
  std::string program;
};

const std::string kFolders =
    ".byte 1; .uleb128 1, 0x1f; .uleb128 2; .long folder0, folder1\n";  // path: line_strp
const std::string kFiles =
    ".byte 2; .uleb128 1, 8, 2, 11; .uleb128 2\n"  // path: string, folder: data1
    ".asciz \"a.c\"; .byte 0; .asciz \"b.h\"; .byte 1\n";
const std::string kOldTables =
    ".asciz \"deep\"; .byte 0; .asciz \"a.c\"; .byte 0,0,0; .asciz \"b.h\"; .byte 1,0,0; .byte 0\n";
const std::string kBegin = ".byte 0, 9, 2; .quad _start\n";  // DW_LNE_set_address
const std::string kEnd =
    "\n.byte 2; .uleb128 32; .byte 0, 1, 1\n";  // to behind the last row, DW_LNE_end_sequence

std::string assembly(const Made& made) {
  const bool isFive = made.version == 5;
  const std::string version = std::to_string(made.version);
  return ".text; .globl _start; _start: .skip 256, 0x90\n"
         ".section .debug_abbrev,\"\",@progbits\n"
         ".uleb128 1, 0x11; .byte 0; .uleb128 0x10, 0x17, 0x1b, 8, 3, 8, 0x11, 1, 0x12, 7, " +
         std::string(isFive ? "0x72, 0x17, " : "") +
         "0, 0, 0\n"
         ".section .debug_info,\"\",@progbits\n"
         ".long infoEnd - info; info: .short " +
         version + (isFive ? "; .byte 1, 8; .long 0\n" : "; .long 0; .byte 8\n") +
         ".uleb128 1; .long 0; .asciz \"/made\"; .asciz \"a.c\"; .quad _start; .quad 256" +
         (isFive ? "; .long 8" : "") +
         "\ninfoEnd:\n"
         ".section .debug_str,\"\",@progbits; text0: .asciz \"s.c\"; text1: .asciz \"t.c\"\n"
         ".section .debug_str_offsets,\"\",@progbits; .long 12; .short 5, 0; .long text0, text1\n"
         ".section .debug_line_str,\"\",@progbits; folder0: .asciz \"/made\"; folder1: .asciz \"deep\"\n"
         ".section .debug_line,\"\",@progbits\n"
         ".long lineEnd - line; line: .short " +
         version + (isFive ? "; .byte 8, 0" : "") + "; .long headerEnd - header; header: " + made.start +
         "\n" + made.tables + "headerEnd: " + kBegin + made.program + kEnd + "lineEnd:\n";
}

struct Answer {
  std::string lines;     ///< "0 a.c:1, 4 deep/b.h:7": where each begins; "-": unknown
  bool inPlace = false;  ///< libdw was not needed
};

Answer answerOf(const Made& made) {
  const TempDir dir;
  writeFile(dir.file("made.s"), assembly(made));
  mustRun("gcc -nostdlib -static -o " + dir.file("made") + " " + dir.file("made.s"));
  const auto module = Module::open(dir.file("made"), "");
  const uint64_t start = module->image()->addressOfSymbol("_start").value();
  Answer answer;
  std::string last;
  for (uint64_t i = 0; i < 256; i++) {
    const auto frames = module->framesAt(start + i);
    std::string here = "-";
    if (!frames.empty() && frames[0].line != 0) here = frames[0].file + ':' + std::to_string(frames[0].line);
    if (here.starts_with("/made/")) here.erase(0, 6);
    if (here != last) answer.lines += (i == 0 ? "" : ", ") + std::to_string(i) + ' ' + here;
    last = here;
  }
  const UniqueFd fd(::open(dir.file("made").c_str(), O_RDONLY | O_CLOEXEC));
  Dwarf* dwarf = dwarf_begin(fd.get(), DWARF_C_READ);
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die{};
  if (dwarf_get_units(dwarf, cu, &cu, nullptr, nullptr, &die, nullptr) == 0) {
    const auto program = LineProgram::of(die);
    answer.inPlace = program && program->rows();
  }
  dwarf_end(dwarf);
  return answer;
}

/// Line 4 at 0, 6 three instructions further on, by a special opcode, 16 at seventeen more, in file `number`.
std::string rowsWith(int number, int opcodes = 13) {
  return ".byte 3; .sleb128 3; .byte 1; .byte " + std::to_string(opcodes) +
         " + (2 + 3) + 12 * 3; .byte 2; .uleb128 17; .byte 3; .sleb128 10; .byte 4; .uleb128 " +
         std::to_string(number) + "; .byte 1";
}
/// The 13 opcodes of the standard; what comes before them says how instructions are.
const std::string kLengths = "; .byte 0,1,1,1,1,0,0,0,1,0,0,1";
const std::string kPlain = "0 deep/b.h:4, 3 deep/b.h:6, 20 a.c:16, 52 -";

struct Case {
  const char* name;
  Made made;
  std::string lines;
  bool inPlace;
};

class LinePrograms : public testing::TestWithParam<Case> {};

TEST_P(LinePrograms, GiveTheRightLineOrNone) {
  NEED_TOOL("gcc", "gcc");
  const Answer answer = answerOf(GetParam().made);
  EXPECT_EQ(answer.lines, GetParam().lines);
  EXPECT_EQ(answer.inPlace, GetParam().inPlace);
}

/// Of two files: how each names itself, as the forms say that come before.
std::string files(const std::string& forms, const std::string& first, const std::string& second) {
  return kFolders + forms + "; .uleb128 2; " + first + "; " + second + "\n";
}

const std::vector<Case> kCases = {
    {"Version5", {.tables = kFolders + kFiles, .program = rowsWith(0)}, kPlain, true},
    {"Version4",
     {.version = 4, .tables = kOldTables, .program = rowsWith(2)},
     "0 a.c:4, 3 a.c:6, 20 deep/b.h:16, 52 -",
     true},
    {"Version2",
     {.version = 2,
      .start = ".byte 1, 1, -3, 12, 10; .byte 0,1,1,1,1,0,0,0,1",
      .tables = kOldTables,
      .program = rowsWith(2, 10)},
     "0 a.c:4, 3 a.c:6, 20 deep/b.h:16, 52 -",
     true},
    // Contents besides path and folder: time (3), size (4), MD5 (5).
    {"NumbersOfManyBytes",
     {.tables = files(".byte 5; .uleb128 1, 0x1f, 2, 15, 3, 15, 4, 15, 5, 0x1e",
                      ".long folder1; .byte 0x80, 0; .uleb128 1700000000, 1 << 40; .skip 16, 7",
                      ".long folder1; .byte 0x81, 0x80, 0; .uleb128 0, 3; .skip 16, 8"),
      .program = rowsWith(0)},
     "0 deep/deep:4, 3 deep/deep:6, 20 deep:16, 52 -",
     true},
    {"FixedNumbers",
     {.tables = files(".byte 4; .uleb128 1, 14, 2, 5, 3, 6, 4, 7", ".long text0; .short 0; .long 1; .quad 2",
                      ".long text1; .short 1; .long 3; .quad 4"),
      .program = rowsWith(0)},
     "0 deep/t.c:4, 3 deep/t.c:6, 20 s.c:16, 52 -",
     false},
    {"Blocks",
     {.tables = files(".byte 3; .uleb128 1, 8, 3, 9, 2, 11", ".asciz \"a.c\"; .byte 2, 1, 1, 0",
                      ".asciz \"b.h\"; .byte 0, 1"),
      .program = rowsWith(0)},
     kPlain,
     false},
    // Forms that DWARF 5 does not allow there; libdw refuses them.
    {"IndexedStrings",
     {.tables = files(".byte 2; .uleb128 2, 11, 1, 0x25", ".byte 0, 0", ".byte 1, 1"),
      .program = rowsWith(0)},
     "0 -",
     false},
    {"IndexedStringsOfManyBytes",
     {.tables = files(".byte 2; .uleb128 1, 0x1a, 2, 11", ".byte 0x80, 0, 0", ".byte 0x81, 0, 1"),
      .program = rowsWith(0)},
     "0 -",
     false},
    {"VendorsContents",
     {.tables = files(".byte 3; .uleb128 0x2001, 0x1f, 1, 8, 2, 11", ".long folder0; .asciz \"a.c\"; .byte 0",
                      ".long folder0; .asciz \"b.h\"; .byte 1"),
      .program = rowsWith(0)},
     kPlain,
     true},
    {"UnknownForm",
     {.tables = files(".byte 3; .uleb128 1, 8, 2, 11, 0x2002, 0x55", ".asciz \"a.c\"; .byte 0",
                      ".asciz \"b.h\"; .byte 1"),
      .program = rowsWith(0)},
     "0 -",
     false},
    {"NoFolders",
     {.tables = ".byte 0, 0; .byte 1; .uleb128 1, 8; .byte 2; .asciz \"/x/a.c\", \"/x/b.h\"\n",
      .program = rowsWith(0)},
     "0 -",
     false},
    {"FilesWithoutFolder",
     {.tables = files(".byte 1; .uleb128 1, 8", ".asciz \"a.c\"", ".asciz \"b.h\""), .program = rowsWith(0)},
     "0 b.h:4, 3 b.h:6, 20 a.c:16, 52 -",
     true},
    {"FolderOutsideOfTheTable",
     {.tables = files(".byte 2; .uleb128 1, 8, 2, 11", ".asciz \"a.c\"; .byte 0", ".asciz \"b.h\"; .byte 9"),
      .program = rowsWith(0)},
     "0 -",
     false},
    {"FileOutsideOfTheTable",
     {.tables = kFolders + kFiles, .program = rowsWith(9)},
     "0 deep/b.h:4, 3 deep/b.h:6, 20 :16, 52 -",
     true},
    {"BytesBehindTheTables",
     {.tables = kFolders + kFiles + ".byte 1, 2, 3\n", .program = rowsWith(0)},
     kPlain,
     true},
    {"InstructionsOfFourBytes",
     {.start = ".byte 4, 1, 1, -3, 12, 13" + kLengths, .tables = kFolders + kFiles, .program = rowsWith(0)},
     "0 deep/b.h:4, 12 deep/b.h:6, 80 a.c:16, 208 -",
     true},
    {"InstructionsOfFourBytesAndFixedSteps",
     {.start = ".byte 4, 1, 1, -3, 12, 13" + kLengths,
      .tables = kFolders + kFiles,
      .program = ".byte 1, 8, 3; .sleb128 1; .byte 1; .byte 9; .short 6; .byte 3; .sleb128 1; .byte 1"},
     "0 deep/b.h:1, 80 deep/b.h:2, 86 deep/b.h:3, 214 -",
     true},
    // Line 4 is that of the first operation of the instruction at 0, line 6 that of the last.
    {"FourOperationsInAnInstruction",
     {.start = ".byte 16, 4, 1, -3, 12, 13" + kLengths, .tables = kFolders + kFiles, .program = rowsWith(0)},
     "0 deep/b.h:6, 80 a.c:16, 208 -",
     false},
    {"NoOperationsInAnInstruction",
     {.start = ".byte 1, 0, 1, -3, 12, 13" + kLengths, .tables = kFolders + kFiles, .program = rowsWith(0)},
     "0 -",
     false},
    {"NoLineRange",
     {.start = ".byte 1, 1, 1, -3, 0, 13" + kLengths, .tables = kFolders + kFiles, .program = rowsWith(0)},
     "0 -",
     false},
    {"FewerOpcodes",
     {.start = ".byte 1, 1, 1, -3, 12, 10; .byte 0,1,1,1,1,0,0,0,1",
      .tables = kFolders + kFiles,
      .program = rowsWith(0, 10)},
     kPlain,
     true},
    {"VendorsOpcodes",
     {.start = ".byte 1, 1, 1, -3, 12, 15" + kLengths + ",2,0",
      .tables = kFolders + kFiles,
      .program = ".byte 13; .uleb128 300, 5; .byte 14; " + rowsWith(0, 15)},
     kPlain,
     false},
    {"CopyWithAnOperand",
     {.start = ".byte 1, 1, 1, -3, 12, 13; .byte 1,1,1,1,1,0,0,0,1,0,0,1",
      .tables = kFolders + kFiles,
      .program = rowsWith(0)},
     "0 -",
     false},
    {"NoOpcodes",
     {.start = ".byte 1, 1, 1, -3, 12, 0", .tables = kFolders + kFiles, .program = rowsWith(0)},
     "0 -",
     false},
    {"VendorsExtendedOpcodes",
     {.tables = kFolders + kFiles, .program = ".byte 0, 4, 0x80, 1, 1, 1; " + rowsWith(0)},
     kPlain,
     true},
    {"ExtendedOpcodeWithoutBytes",
     {.tables = kFolders + kFiles, .program = ".byte 0, 0; " + rowsWith(0)},
     "0 -",
     false},
    {"FileDefinedInTheProgram",
     {.version = 4,
      .tables = kOldTables,
      .program = ".byte 0, 8, 3; .asciz \"d.h\"; .byte 1,0,0; " + rowsWith(3)},
     "0 a.c:4, 3 a.c:6, 20 deep/d.h:16, 52 -",
     false},
    {"AddressOfFourBytes",
     {.tables = kFolders + kFiles, .program = ".byte 0, 5, 2; .long _start + 8; " + rowsWith(0)},
     "0 -, 8 deep/b.h:4, 11 deep/b.h:6, 28 a.c:16, 60 -",
     true},
    {"AddressOfThreeBytes",
     {.tables = kFolders + kFiles, .program = ".byte 0, 4, 2, 0, 0, 0; " + rowsWith(0)},
     "0 -",
     false},
    {"NoEnd", {.tables = kFolders + kFiles, .program = rowsWith(0) + "; .byte 0, 99, 1"}, "0 -", false},
};
INSTANTIATE_TEST_SUITE_P(Made, LinePrograms, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace cacheline::symbols
