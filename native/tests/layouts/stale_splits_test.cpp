// A .dwo file of another build lies where libdw looks first, or where it looks next. The same source compiled
// without -gsplit-dwarf is the judge.
#include <gtest/gtest.h>

#include "layouts/queries.h"
#include "layouts/type_index.h"
#include "symbols/dwarf_index.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::writeFile;

constexpr const char* kStaleSource = R"code(
struct Part { int a; long b; };
struct Whole { Part parts[MANY]; char name; Whole* next; };
Whole whole;
char own[MANY];  // clang makes the id of what is no type unit
long sum() { return whole.parts[1].b; }
)code";
constexpr const char* kStaleTypeUnits = "-fdebug-types-section";

/// Compiles the source in a folder of its own.
void buildStale(const std::string& folder, const std::string& flags) {
  mustRun("mkdir -p " + folder);
  writeFile(folder + "/a.cpp", kStaleSource);
  mustRun("cd " + folder + " && " + flags + " -fPIC -c a.cpp && " + flags + " -shared -o lib.so a.o");
}

/// What is said of a binary.
std::string staleSaid(const std::string& binary) {
  std::string text = typesJson(binary);
  for (const char* name : {"Part", "Whole"}) text += "\n" + layoutsJson(binary, name, {64, true});
  Program program(binary);
  for (const uint64_t offset : {0, 8, 24, 40, 64}) text += "\n" + program.fields("whole", offset, 4);
  return text;
}

struct StaleBuilds {
  const char *compiler, *version, *stale, *right;
};
void PrintTo(const StaleBuilds& builds, std::ostream* out) {
  *out << builds.compiler << builds.version;
}

class StaleSplits : public testing::TestWithParam<StaleBuilds> {
 protected:
  void SetUp() override {
    const StaleBuilds& builds = GetParam();
    const std::string compiler = std::string(builds.compiler) + " " + builds.version;
    NEED_TOOL("clang++", "clang");
    buildStale(dir_.file("src"), compiler + " -DMANY=3");
    whole_ = staleSaid(dir_.file("src/lib.so"));
    EXPECT_NE(whole_.find("parts[1].b"), std::string::npos);
    buildStale(dir_.file("old"), compiler + " -DMANY=2 -gsplit-dwarf " + builds.stale);
    buildStale(dir_.file("src"), compiler + " -DMANY=3 -gsplit-dwarf " + builds.right);
    mustRun("cd " + dir_.path() + " && mkdir bin && mv src/lib.so bin/lib.so");
  }

  TempDir dir_;
  std::string whole_;
};

TEST_P(StaleSplits, BesideTheBinaryIsPassedOver) {
  mustRun("cd " + dir_.path() + " && cp old/a.dwo bin/a.dwo");
  EXPECT_EQ(staleSaid(dir_.file("bin/lib.so")), whole_);
}

TEST_P(StaleSplits, InTheCompilersFolderIsPassedOver) {
  mustRun("cd " + dir_.path() + " && mv src/a.dwo bin/a.dwo && cp old/a.dwo src/a.dwo");
  EXPECT_EQ(staleSaid(dir_.file("bin/lib.so")), whole_);
}

TEST_P(StaleSplits, AloneIsNotFound) {
  mustRun("cd " + dir_.path() + " && cp old/a.dwo src/a.dwo && cp old/a.dwo bin/a.dwo");
  Program program(dir_.file("bin/lib.so"));
  EXPECT_TRUE(program.types().named("Whole").empty());
  ASSERT_EQ(program.types().missing().size(), 1u);
  EXPECT_EQ(program.types().missing()[0].why, symbols::MissingSplit::Why::otherBuild);
}

/// An index that was kept is foreign: it may lead to any DIE of the skeleton's unit, or of another one.
TEST_P(StaleSplits, AreFoundFromAnyPlaceInTheSkeleton) {
  const auto module = symbols::Module::open(dir_.file("bin/lib.so"), "");
  symbols::DwarfIndex& dwarf = *module->dwarf();
  const TypeIndex index = buildTypeIndex(dwarf);
  const auto [first, last] = index.withName("Whole");
  ASSERT_EQ(last, first + 1);
  const auto fresh = symbols::Module::open(dir_.file("bin/lib.so"), "");
  DieReference place = index.types[first].die;
  place.skeleton++;
  const auto die = dieAt(*fresh->dwarf(), place);
  ASSERT_TRUE(die);
  TypeTable table(fresh->dwarf()->handle());
  EXPECT_EQ(table[table.of(*die)].name, "Whole");
  EXPECT_TRUE(fresh->dwarf()->splitUnits().missing().empty());
}

/// Not every elfutils inflates these sections.
TEST(SplitUnits, CompressedWithZstdAreRead) {
  TempDir dir;
  buildStale(dir.path(), "g++ -g -DMANY=3");
  const std::string whole = staleSaid(dir.file("lib.so"));
  buildStale(dir.path(), "g++ -g -DMANY=3 -gsplit-dwarf");
  if (mustRun("objcopy --compress-debug-sections=zstd " + dir.file("a.dwo") + " && readelf -tW " +
              dir.file("a.dwo"))
          .find("ZSTD") == std::string::npos)
    GTEST_SKIP() << "binutils before 2.40";
  EXPECT_EQ(staleSaid(dir.file("lib.so")), whole);
}

std::vector<StaleBuilds> staleBuilds() {
  std::vector<StaleBuilds> all;
  for (const char* compiler : {"g++", "clang++"})
    for (const char* version : {"-gdwarf-4", "-gdwarf-5"})
      for (const char* stale : {"", kStaleTypeUnits})
        for (const char* right : {"", kStaleTypeUnits}) all.push_back({compiler, version, stale, right});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Types, StaleSplits, testing::ValuesIn(staleBuilds()), [](const auto& one) {
  const auto is = [](const char* flags) { return *flags != 0 ? "TypeUnits" : "Plain"; };
  return std::string(one.param.compiler).substr(0, one.param.compiler[0] == 'g' ? 1 : 5) + "Dwarf" +
         one.param.version[8] + is(one.param.stale) + "Over" + is(one.param.right);
});

}  // namespace
}  // namespace cacheline::layouts
