// The alignment of types with classes inside that the debug information does not define: what their places
// ask for is known.
#include <gtest/gtest.h>

#include "types/layout.h"
#include "types/natural_alignment.h"
#include "types_fixture.h"

namespace cacheline::types {
namespace {

using symbols::test::mustRun;
using symbols::test::writeFile;
using test::Program;
using test::TempDir;

uint64_t bytesOf(Program& program, const std::string& name) {
  return alignmentOf(program.table(), program.types().named(name).at(0)).least;
}

bool isLeast(Program& program, const std::string& name) {
  return layoutOf(program.table(), program.types().named(name).at(0), {}).alignIsLeast;
}

TEST(OpenAlignment, IsWhatThePlacesOfUndefinedClassesAskFor) {
  TempDir dir;
  // The unit that defines the first virtual function has the class; -femit-class-debug-always: every unit.
  writeFile(dir.file("a.cpp"), R"code(
struct Base { virtual void key(); long b; };
struct Behind { char c; Base base; };
struct Array { int i; Base bases[2]; char c; };
struct Inner { Base base; char c; };
struct Outer { char c; Inner inner; int z; };
struct Tight { int i; char c[4]; Base base; };
struct First { Base base; long a[2]; };
struct Plain { char c; struct { short a, b; } s; };
Behind behind; Array array; Outer outer; Tight tight; First first; Plain plain;
)code");
  mustRun("cd " + dir.path() + " && g++ -g -c a.cpp && g++ -g -femit-class-debug-always -c a.cpp -o all.o");
  Program partial(dir.file("a.o")), full(dir.file("all.o"));
  for (const char* name : {"Behind", "Array", "Outer", "Plain"})
    EXPECT_EQ(bytesOf(partial, name), bytesOf(full, name)) << name;
  EXPECT_EQ(bytesOf(partial, "Outer"), 8u);
  EXPECT_EQ(bytesOf(partial, "Tight"), 4u) << "no gap tells";
  for (const char* name : {"Behind", "Array", "Outer", "Plain"})
    EXPECT_FALSE(isLeast(partial, name)) << name << ": its size allows no more";
  for (const char* name : {"Tight", "First"}) {
    EXPECT_TRUE(isLeast(partial, name)) << name;
    EXPECT_FALSE(isLeast(full, name)) << name;
  }
}

}  // namespace
}  // namespace cacheline::types
