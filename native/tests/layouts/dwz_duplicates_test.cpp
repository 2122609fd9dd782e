// One definition, of which dwz could move only a part out of the units.
#include <gtest/gtest.h>

#include "layouts/type_index.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using symbols::test::mustRun;
using symbols::test::writeFile;
using types::test::Program;
using types::test::TempDir;

/// `Outer` stays in both units, as only one of them knows what `Inner` is. The structure without a name in it
/// goes to a partial unit, which is far larger than what is left in the units.
TEST(DwzDuplicates, AStructureWithALargeNamelessOneInAPartialUnitIsKeptOnce) {
  if (!test::haveTool("dwz")) GTEST_SKIP() << "no dwz";
  const TempDir dir;
  std::string numbers;
  for (int i = 0; i < 1000; i++) numbers += "  int number" + std::to_string(i) + ";\n";
  writeFile(dir.file("outer.h"),
            "struct Outer {\n  struct Inner* inner;\n  struct {\n" + numbers + "  } all;\n};\n");
  writeFile(dir.file("one.c"), "#include \"outer.h\"\nstruct Inner { int i; } inner;\nstruct Outer one;\n");
  writeFile(dir.file("two.c"), "#include \"outer.h\"\nstruct Outer two;\n");
  mustRun("gcc -g -shared -fPIC -o " + dir.file("whole") + " " + dir.file("one.c") + " " + dir.file("two.c"));
  mustRun("dwz -o " + dir.file("small") + " " + dir.file("whole"));
  for (const char* binary : {"whole", "small"}) {
    Program program(dir.file(binary));
    const TypeIndex index = buildTypeIndex(*program.module().dwarf());
    const auto [first, last] = index.withName("Outer");
    EXPECT_EQ(last - first, 1u) << binary;
  }
}

}  // namespace
}  // namespace cacheline::layouts
