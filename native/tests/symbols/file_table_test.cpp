// File tables against libdw's, number by number.
#include "symbols/file_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <tuple>

#include "base/unique_fd.h"
#include "fixture.h"
#include "symbols/die.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// Compiler and flags.
class FileTables : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FileTables, AgreeWithLibdw) {
  const auto& [compiler, flags] = GetParam();
  if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
  const TempDir dir;
  mustRun("mkdir -p " + dir.file("include/deep"));
  writeFile(dir.file("include/deep/counter.h"), "struct Counter { long value; };\n");
  writeFile(dir.file("near.h"), "inline long twice(long value) { return 2 * value; }\n");
  const std::string source =
      "#include <vector>\n#include <deep/counter.h>\n#include \"near.h\"\n"
      "int main(int argc, char**) {\n  std::vector<Counter> all(argc);\n  return twice(all.size());\n}\n";
  const std::string binary =
      compile(dir, "program", "cpp", source, std::string(flags) + " -I" + dir.file("include"), compiler);
  const UniqueFd fd(::open(binary.c_str(), O_RDONLY | O_CLOEXEC));
  const std::unique_ptr<Dwarf, DwarfEnd> dwarf(dwarf_begin(fd.get(), DWARF_C_READ));
  ASSERT_TRUE(dwarf);
  bool hasHeader = false;
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  uint8_t kind = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf.get(), cu, &cu, &version, &kind, &die, nullptr) == 0) {
    const char* folder = stringAttribute(die, DW_AT_comp_dir);
    FileTable table(die, folder != nullptr ? folder : "");
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    ASSERT_EQ(dwarf_getsrcfiles(&die, &files, &count), 0);
    ASSERT_EQ(table.size(), count);
    for (size_t i = 0; i < count; i++) {
      const char* known = dwarf_filesrc(files, i, nullptr, nullptr);
      EXPECT_EQ(table.name(i), known == nullptr ? "" : sourcePath(folder, known)) << i;
      hasHeader |= table.name(i) == dir.file("include/deep/counter.h");
    }
    EXPECT_EQ(table.name(count), "");
  }
  EXPECT_TRUE(hasHeader);
}

INSTANTIATE_TEST_SUITE_P(
    Compilers, FileTables,
    testing::Values(std::tuple("g++", "-gdwarf-5"), std::tuple("g++", "-gdwarf-4"),
                    std::tuple("g++", "-gdwarf-2 -gstrict-dwarf"), std::tuple("g++", "-gdwarf-5 -gdwarf64"),
                    std::tuple("g++", "-gdwarf-5 -gz=zlib"), std::tuple("g++", "-gdwarf-5 -gsplit-dwarf"),
                    std::tuple("clang++", "-gdwarf-5"), std::tuple("clang++", "-gdwarf-4")));

}  // namespace
}  // namespace cacheline::symbols
