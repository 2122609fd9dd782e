// linkedFiles over compiled programs and libraries, with the loader's own list as the judge; and the loader's
// cache from junk.
#include "symbols/linked_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "fixture.h"

namespace cacheline::symbols {
namespace {

using namespace test;

const char* const kInner = "int inner_word = 1;\n";
const char* const kOuter = "extern int inner_word; int outer_word(void) { return inner_word; }\n";
const char* const kMain = "int outer_word(void); int main(void) { return outer_word(); }\n";

/// libinner.so, libouter.so that needs it and says where it is, and a program that needs libouter.so.
struct Linked {
  TempDir dir;
  std::string program;
  explicit Linked(const std::string& outerFlags, const std::string& programFlags) {
    const std::string shared = "-shared -fPIC -L" + dir.path() + " ";
    compile(dir, "libinner.so", "c", kInner, shared);
    compile(dir, "libouter.so", "c", kOuter, shared + "-Wl,--no-as-needed -linner " + outerFlags);
    program = compile(
        dir, "program", "c", kMain,
        "-Wl,--no-as-needed -Wl,--allow-shlib-undefined -L" + dir.path() + " -louter " + programFlags);
  }
};

std::set<std::string> names(const std::vector<std::string>& paths) {
  std::set<std::string> names;
  for (const std::string& path : paths) names.insert(path.substr(path.rfind('/') + 1));
  return names;
}

/// Real paths that the loader lists for a program.
std::set<std::string> listedByLoader(const std::string& program) {
  std::istringstream text(mustRun("LD_TRACE_LOADED_OBJECTS=1 " + program));
  std::set<std::string> paths;
  for (std::string line; std::getline(text, line);)
    if (const size_t begin = line.find('/'); begin != std::string::npos)
      paths.insert(std::filesystem::canonical(line.substr(begin, line.find(" (") - begin)));
  return paths;
}

TEST(LinkedFiles, AreThoseThatTheLoaderLists) {
  const Linked linked("'-Wl,-rpath,$ORIGIN'", "'-Wl,-rpath,$ORIGIN'");
  const LinkedFiles found = linkedFiles(linked.program, {});
  EXPECT_EQ(found.more, "");
  ASSERT_FALSE(found.paths.empty());
  EXPECT_EQ(found.paths[0], linked.program);
  std::set<std::string> libraries;
  for (size_t i = 1; i < found.paths.size(); ++i)
    libraries.insert(std::filesystem::canonical(found.paths[i]));
  EXPECT_EQ(libraries, listedByLoader(linked.program));
  EXPECT_TRUE(names(found.paths).contains("libinner.so"));
}

TEST(LinkedFiles, RpathReachesLibrariesOfLibrariesAndRunpathDoesNot) {
  const Linked old("", "'-Wl,-rpath,$ORIGIN' -Wl,--disable-new-dtags");
  EXPECT_EQ(linkedFiles(old.program, {}).more, "");
  const Linked today("", "'-Wl,-rpath,$ORIGIN' -Wl,--enable-new-dtags");
  EXPECT_EQ(linkedFiles(today.program, {}).more, "its library libinner.so was not found beforehand");
  LoaderSettings settings;
  settings.libraryPath = "/nowhere:" + today.dir.path();
  EXPECT_EQ(linkedFiles(today.program, settings).more, "");
  settings = {};
  settings.libraryPath = ".";
  settings.workingDirectory = today.dir.path();
  EXPECT_EQ(linkedFiles(today.program, settings).more, "") << "relative to the program's folder";
}

TEST(LinkedFiles, PreloadedOnesCount) {
  TempDir dir;
  const std::string library = compile(dir, "libinner.so", "c", kInner, "-shared -fPIC");
  const std::string program = compile(dir, "alone", "c", "int main(void) { return 0; }\n", "");
  LoaderSettings settings;
  settings.preload = library;
  EXPECT_TRUE(names(linkedFiles(program, settings).paths).contains("libinner.so"));
}

TEST(LinkedFiles, ProgramsThatLoadOrStartOthersSaySo) {
  TempDir dir;
  const std::string loads = compile(dir, "loads", "c",
                                    "#include <dlfcn.h>\nint main(int n, char** v) { return n > 1 && "
                                    "dlopen(v[1], RTLD_NOW) != 0; }\n",
                                    "-ldl");
  EXPECT_EQ(linkedFiles(loads, {}).more, "loads can load or start other binaries (dlopen)");
  const std::string starts = compile(
      dir, "starts", "c",
      "#include <stdlib.h>\nint main(int n, char** v) { return n > 1 ? system(v[1]) : 0; }\n", "-static");
  EXPECT_EQ(linkedFiles(starts, {}).more.substr(0, 6), "starts");
  const std::string alone = compile(dir, "alone", "c", "int main(void) { return 0; }\n", "-static");
  EXPECT_EQ(linkedFiles(alone, {}).more, "");
  EXPECT_EQ(linkedFiles(alone, {}).paths, std::vector<std::string>{alone});
  mustRun("strip " + alone);
  EXPECT_EQ(linkedFiles(alone, {}).more, "alone does not say what it calls");
}

TEST(LinkedFiles, WhatIsNoProgramLeavesEverythingOpen) {
  TempDir dir;
  writeFile(dir.file("script"), "#!/bin/sh\nexec true\n");
  for (const std::string& path : {dir.file("script"), dir.file("missing"), dir.path()}) {
    const LinkedFiles found = linkedFiles(path, {});
    EXPECT_TRUE(found.paths.empty()) << path;
    EXPECT_NE(found.more.find("is not a readable ELF program"), std::string::npos) << path;
  }
}

TEST(LoaderCache, ListsWhatLdconfigPrints) {
  const std::string text = readFile("/etc/ld.so.cache");
  if (!text.starts_with("glibc-ld.so.cache1.1")) GTEST_SKIP() << "no cache of glibc 2.32 or newer here";
  const auto cache = parseLoaderCache({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  size_t printed = 0;
  std::istringstream lines(mustRun("/sbin/ldconfig -p"));
  for (std::string line; std::getline(lines, line);) {
    const size_t arrow = line.find(" => ");
    if (arrow == std::string::npos) continue;
    ++printed;
    const std::string name = line.substr(1, line.find(' ') - 1), path = line.substr(arrow + 4);
    const auto [begin, end] = cache.equal_range(name);
    EXPECT_TRUE(std::any_of(begin, end, [&](const auto& entry) { return entry.second == path; })) << line;
  }
  EXPECT_GT(printed, 10u);
  EXPECT_EQ(cache.size(), printed);
}

TEST(LoaderCache, CutsAndLiesAreRead) {
  std::string text = readFile("/etc/ld.so.cache");
  if (text.size() < 100) GTEST_SKIP() << "no cache here";
  const auto parse = [](const std::string& bytes) {
    return parseLoaderCache({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}).size();
  };
  for (size_t size = 0; size < text.size(); size += 97) parse(std::string(text.data(), size));
  EXPECT_EQ(parse(""), 0u);
  EXPECT_EQ(parse(text.substr(0, 48)), 0u);
  text.replace(20, 4, "\xff\xff\xff\xff");  // the count
  EXPECT_GT(parse(text), 10u);
  text.replace(48, text.size() - 48, text.size() - 48, '\xff');  // offsets far outside
  EXPECT_EQ(parse(text), 0u);
}

}  // namespace
}  // namespace cacheline::symbols
