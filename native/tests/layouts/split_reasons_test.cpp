// Why a .dwo file, or dwz's common file, is not read: each reason in words of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::readFile;
using symbols::test::writeFile;

/// Why nothing is known of the structure, and the next step.
std::string reasonAgainst(const std::string& binary) {
  try {
    return layoutsJson(binary, "Own", {});
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.nextStep();
  }
}

class SplitReasons : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    writeFile(dir_.file("a.c"), "struct Own { int a; long b; } own; int main(void) { return own.a; }\n");
    inFolder(std::string("gcc ") + GetParam() + " -gsplit-dwarf -c a.c && gcc -o a a.o");
  }
  void inFolder(const std::string& command) { mustRun("cd " + dir_.path() + " && " + command + " 2>&1"); }
  void expect(const std::string& what, const std::string& next) {
    EXPECT_EQ(reasonAgainst(dir_.file("a")), "The debug information of " + dir_.file("a") +
                                                 " continues in 1 .dwo file that " + what + " " + next)
        << GetParam();
  }
  static constexpr const char* kKeep =
      "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.";
  static constexpr const char* kAgain = "Build it again: the .dwo files must be those of this build.";
  TempDir dir_;
};

TEST_P(SplitReasons, NotFound) {
  inFolder("rm a.dwo");
  expect("was not found: a.dwo.", kKeep);
}

TEST_P(SplitReasons, NoRegularFile) {
  inFolder("rm a.dwo && mkdir a.dwo");
  expect("is not a regular file: a.dwo.", kKeep);
}

TEST_P(SplitReasons, NotReadable) {
  inFolder("rm a.dwo && ln -s a.dwo a.dwo");
  expect("cannot be opened: a.dwo (Too many levels of symbolic links).",
         "Make it readable for the user who runs this.");
}

TEST_P(SplitReasons, CutOffOrNoObjectFile) {
  const std::string whole = readFile(dir_.file("a.dwo"));
  for (const std::string& bytes :
       {std::string(), std::string("junk"), whole.substr(0, 100), whole.substr(0, whole.size() / 2)}) {
    writeFile(dir_.file("a.dwo"), bytes);
    expect("is cut off or damaged: a.dwo.", kAgain);
  }
}

TEST_P(SplitReasons, OfAnotherBuild) {
  writeFile(dir_.file("b.c"), "struct Own { int a; long b; char other; } own;\n");
  inFolder(std::string("gcc ") + GetParam() + " -gsplit-dwarf -c b.c && mv b.dwo a.dwo");
  expect("is of another build: a.dwo.", kAgain);
}

TEST_P(SplitReasons, EachIsSaid) {
  writeFile(dir_.file("b.c"), "struct Other { int a; } other;\n");
  writeFile(dir_.file("c.c"), "struct Third { int a; } third;\n");
  inFolder(std::string("gcc ") + GetParam() + " -gsplit-dwarf -c a.c b.c c.c && gcc -o a a.o b.o c.o");
  inFolder("rm b.dwo && truncate -s 0 a.dwo c.dwo");
  expect("was not found: b.dwo, and in 2 .dwo files that are cut off or damaged: a.dwo, ...", kKeep);
}

INSTANTIATE_TEST_SUITE_P(Versions, SplitReasons, testing::Values("-gdwarf-5", "-gdwarf-4"),
                         [](const auto& one) { return std::string("Dwarf") + one.param[8]; });

TEST(SupplementReasons, SayWhetherItIsThere) {
  NEED_TOOL("dwz", "dwz");
  TempDir dir;
  writeFile(dir.file("a.c"), "struct Own { int a; long b[40]; } own; int main(void) { return own.a; }\n");
  mustRun("cd " + dir.path() + " && gcc -g -o a a.c && cp a b && dwz -m common -M common a b 2>&1");
  const auto expect = [&](const std::string& what) {
    const std::string said = reasonAgainst(dir.file("a"));
    EXPECT_NE(said.find("continue in common, which " + what + "."), std::string::npos) << said;
    const auto module = symbols::Module::open(dir.file("a"), "");
    EXPECT_NE(module->detail().find("continues in common, which " + what + "."), std::string::npos)
        << module->detail();
  };
  std::filesystem::resize_file(dir.file("common"), 90);
  expect("is cut off or damaged");
  mustRun("cd " + dir.path() + " && rm common && mkdir common");
  expect("is not a regular file");
  mustRun("cd " + dir.path() + " && rmdir common");
  expect("was not found");
}

}  // namespace
}  // namespace cacheline::layouts
