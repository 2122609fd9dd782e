// Line tables against libdw's rows, address by address.
#include "symbols/line_table.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <tuple>

#include "base/unique_fd.h"
#include "fixture.h"
#include "symbols/die.h"
#include "symbols/file_table.h"
#include "symbols/line_program.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

struct DwarfCloser {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

IntervalMap codeOf(Dwarf* dwarf) {
  std::vector<Interval> intervals;
  Elf* elf = dwarf_getelf(dwarf);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0)
      intervals.push_back({header.sh_addr, header.sh_addr + header.sh_size, 0, 0});
  }
  return IntervalMap(std::move(intervals));
}

/// Libdw's rows by address; of several at one the last, and a file of "-" at the end of a sequence.
std::map<uint64_t, std::tuple<std::string, int, int>> judgeOf(Dwarf_Die& unit, const IntervalMap& code) {
  std::map<uint64_t, std::tuple<std::string, int, int>> rows;
  const char* folder = stringAttribute(unit, DW_AT_comp_dir);
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  EXPECT_EQ(dwarf_getsrclines(&unit, &lines, &count), 0);
  for (size_t i = 0; i < count; i++) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool end = false;
    int number = 0, column = 0;
    dwarf_lineaddr(line, &address);
    dwarf_lineendsequence(line, &end);
    dwarf_lineno(line, &number);
    dwarf_linecol(line, &column);
    if (end && (code.find(address) || code.find(address - 1)))
      rows[address] = {"-", 0, 0};
    else if (!end && code.find(address))
      rows[address] = {sourcePath(folder, dwarf_linesrc(line, nullptr, nullptr)), number, column};
  }
  return rows;
}

/// Functions in sections of their own, one of them dropped by the linker.
std::string program(const TempDir& dir, const std::string& compiler, const std::string& flags) {
  writeFile(dir.file("near.h"), "inline long twice(long value) {\n  return 2 * value;\n}\n");
  const std::string source =
      "#include <map>\n#include <string>\n#include <vector>\n#include \"near.h\"\n"
      "long dropped(long value) { return twice(value); }\n"
      "[[gnu::noinline, gnu::cold]] void fail(int argc) { throw std::string(argc, 'x'); }\n"
      "int main(int argc, char** argv) {\n"
      "  std::map<std::string, std::vector<long>> all;\n"
      "  for (int i = 0; i < argc; i++) all[argv[i]].push_back(twice(i));\n"
      "  if (all.size() > 9) fail(argc);\n"
      "  return static_cast<int>(all.begin()->second.back());\n}\n";
  return compile(dir, "program", "cpp", source,
                 flags + " -ffunction-sections -Wl,--gc-sections -I" + dir.file(""), compiler);
}

/// `inPlace`: libdw is not needed.
void expectLibdwsLines(const std::string& binary, bool inPlace) {
  const UniqueFd fd(::open(binary.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Dwarf, DwarfCloser> dwarf(dwarf_begin(fd.get(), DWARF_C_READ));
  ASSERT_TRUE(dwarf);
  const IntervalMap code = codeOf(dwarf.get());
  size_t places = 0;
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  uint8_t kind = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf.get(), cu, &cu, &version, &kind, &die, nullptr) == 0) {
    if (kind != DW_UT_compile && kind != DW_UT_skeleton) continue;
    const auto read = LineProgram::of(die);
    EXPECT_EQ(read && read->rows(), inPlace);
    const char* folder = stringAttribute(die, DW_AT_comp_dir);
    const LineTable table(die, folder, code);
    const auto judge = judgeOf(die, code);
    for (auto row = judge.begin(); row != judge.end(); ++row) {
      const auto& [file, line, column] = row->second;
      const auto next = std::next(row);
      for (const uint64_t address : {row->first, next == judge.end() ? row->first + 100 : next->first - 1}) {
        const LinePosition found = table.find(address);
        ASSERT_EQ(found.file == nullptr ? "-" : *found.file, file) << std::hex << address;
        ASSERT_EQ(found.line, static_cast<uint32_t>(line)) << std::hex << address;
        ASSERT_EQ(found.column, static_cast<uint32_t>(column)) << std::hex << address;
        places++;
      }
    }
  }
  EXPECT_GT(places, 500u);
}

/// Compiler and flags.
class LineTables : public testing::TestWithParam<const char*> {};

TEST_P(LineTables, AgreeWithLibdw) {
  const std::string command = GetParam();
  const size_t space = command.find(' ');
  const std::string compiler = command.substr(0, space), flags = command.substr(space);
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
  const TempDir dir;
  expectLibdwsLines(program(dir, compiler, flags), true);
}

/// As if DW_LNS_set_isa, which is not used, had no operand.
TEST(LineTable, AsksLibdwWhereTheOpcodesAreUnusual) {
  if (!haveTool("g++")) GTEST_SKIP() << "needs g++: apt-get install g++";
  const TempDir dir;
  const std::string binary = program(dir, "g++", "-gdwarf-5 -O2");
  std::string bytes = readFile(binary);
  const std::string opcodes("\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01", 13);
  size_t at = bytes.find(opcodes);
  ASSERT_NE(at, std::string::npos);
  for (; at != std::string::npos; at = bytes.find(opcodes, at)) bytes[at + opcodes.size() - 1] = 0;
  writeFile(binary, bytes);
  expectLibdwsLines(binary, false);
}

/// A first sequence that the linker dropped, then rows in no order of a file that the table does not list.
TEST(LineTable, RowsOfAFileThatIsNotListedHaveNoName) {
  if (!haveTool("gcc")) GTEST_SKIP() << "needs gcc: apt-get install gcc";
  const TempDir dir;
  const std::string source = R"(
  .text
  .globl _start
  _start: nop; nop; nop; nop
  .section .debug_abbrev, "", @progbits
  .byte 1, 0x11, 0, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0
  .section .debug_info, "", @progbits
  .long 2f - 1f
  1: .short 4
  .long 0
  .byte 8, 1
  .long 0
  .quad _start, 4
  2:
  .section .debug_line, "", @progbits
  .long 6f - 3f
  3: .short 4
  .long 5f - 4f
  4: .byte 1, 1, 1, -5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0
  5: .byte 0, 9, 2
  .quad 0
  .byte 1, 2, 1, 0, 1, 1
  .byte 0, 9, 2
  .quad _start + 2
  .byte 1
  .byte 0, 9, 2
  .quad _start
  .byte 1, 2, 4, 0, 1, 1
  6:
)";
  const std::string binary = compile(dir, "program", "s", source, "-nostdlib -static", "gcc");
  const UniqueFd fd(::open(binary.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Dwarf, DwarfCloser> dwarf(dwarf_begin(fd.get(), DWARF_C_READ));
  ASSERT_TRUE(dwarf);
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  uint8_t kind = 0;
  Dwarf_Die die;
  ASSERT_EQ(dwarf_get_units(dwarf.get(), cu, &cu, &version, &kind, &die, nullptr), 0);
  Dwarf_Addr start = 0;
  ASSERT_EQ(dwarf_lowpc(&die, &start), 0);
  const LineTable table(die, "/code", codeOf(dwarf.get()));
  const LinePosition found = table.find(start);
  ASSERT_NE(found.file, nullptr);
  EXPECT_EQ(*found.file, "");
  EXPECT_EQ(found.line, 1u);
}

/// Its lines begin at address 0, and there are so many that they end in the midst of what was kept.
TEST(LineTable, IsNotMisledByALargeFunctionThatTheLinkerDropped) {
  const TempDir dir;
  std::string source = "volatile int sink;\nvoid dropped(void) {\n";
  for (int i = 0; i < 4000; i++) source += "  sink += " + std::to_string(i) + ";\n";
  source += "}\nint kept(int a) {  // @kept\n  return a + sink;\n}\nint main(void) { return kept(sink); }\n";
  for (const char* flags : {"-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gdwarf64"}) {
    const std::string binary =
        compile(dir, "program", "c", source,
                std::string(flags) + " -O1 -fno-inline -fPIE -pie -ffunction-sections -Wl,--gc-sections");
    const auto module = Module::open(binary, "");
    const auto address = module->image()->addressOfSymbol("kept");
    ASSERT_TRUE(address);
    ASSERT_LT(*address, 4000u * 6) << "the dropped function is as long";
    const uint32_t first = lineOf(source, "kept");
    for (uint64_t i = 0; i < module->image()->functionAt(*address)->size; i++) {
      const auto frames = module->framesAt(*address + i);
      ASSERT_EQ(frames.size(), 1u) << flags;
      ASSERT_TRUE(frames[0].line >= first && frames[0].line <= first + 2) << frames[0].line << " " << flags;
    }
  }
}

constexpr std::array kCompilations{"g++ -gdwarf-5 -O2",          "g++ -gdwarf-4 -O2 -gno-as-locview-support",
                                   "g++ -gdwarf-3 -O0",          "g++ -gdwarf-2 -gstrict-dwarf -O2",
                                   "g++ -gdwarf-5 -O2 -flto",    "g++ -gdwarf-5 -gdwarf64 -O2",
                                   "g++ -gdwarf-5 -gz=zlib -O2", "g++ -gdwarf-5 -gsplit-dwarf -O2",
                                   "clang++ -gdwarf-5 -O2",      "clang++ -gdwarf-4 -O2"};
INSTANTIATE_TEST_SUITE_P(Compilers, LineTables, testing::ValuesIn(kCompilations));

}  // namespace
}  // namespace cacheline::symbols
