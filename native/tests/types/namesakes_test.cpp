// Types of one name in several files that are not the same: each file's is its own.
#include <gtest/gtest.h>

#include "types_fixture.h"

namespace cacheline::types {
namespace {

using namespace layouts;
using symbols::test::mustRun;
using symbols::test::writeFile;
using test::membersText;
using test::Program;
using test::TempDir;

/// `list` holds a `Node` that only the header defines, of which gcc then writes no definition; the other file
/// has a smaller one.
Program twoFiles(const TempDir& dir, const std::string& compiler, const std::string& header,
                 const std::string& other) {
  const std::string end = compiler == "g++" ? ".cpp" : ".c";
  writeFile(dir.file("header.h"), header);
  writeFile(dir.file("a" + end),
            "#include \"header.h\"\nstruct List { char c; struct Node n; int z; } list;\n");
  writeFile(dir.file("b" + end), other);
  mustRun("cd " + dir.path() + " && " + compiler + " -g -femit-struct-debug-baseonly -shared -fPIC a" + end +
          " b" + end + " -o both.so");
  return Program(dir.file("both.so"));
}

TEST(Namesakes, InAnonymousNamespacesAreTheirUnits) {
  TempDir dir;
  Program program = twoFiles(dir, "g++", "namespace { struct Node { char a; long b[3]; }; }\n",
                             "namespace { struct Node { int x; } node; }\nint* use() { return &node.x; }\n");
  EXPECT_EQ(membersText(program.typeOf("list")), "c@0:1 n@8:32 z@40:4");
}

TEST(Namesakes, InCMayDiffer) {
  TempDir dir;
  Program program =
      twoFiles(dir, "gcc", "struct Node { char a; long b[3]; };\n", "struct Node { int x; } node;\n");
  EXPECT_EQ(membersText(program.typeOf("list")), "c@0:1 n@8:32 z@40:4");
}

TEST(Namesakes, OfCxxAreOneType) {
  TempDir dir;
  Program program = twoFiles(dir, "g++", "struct Node { char a; long b[2]; };\n",
                             "struct Node { char a; long b[2]; } node;\n");
  EXPECT_EQ(membersText(program.typeOf("list")), "c@0:1 n@8:24 z@32:4");
  EXPECT_FALSE(program.typeOf("list").members.at(1).incomplete);
}

}  // namespace
}  // namespace cacheline::types
