// Module: frames, variables, statuses, over programs compiled in the ways people compile.
#include "symbols/module.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <random>

#include "base/error.h"
#include "fixture.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// The frames of every address of the function, without repetitions.
std::vector<std::vector<SourceFrame>> framesOf(Module& module, const std::string& mangled) {
  std::vector<std::vector<SourceFrame>> all;
  const auto start = addressOf(*module.image(), mangled);
  if (!start) return all;
  const Symbol* symbol = module.image()->functionAt(*start);
  for (uint64_t address = *start; address < *start + symbol->size; address++)
    all.push_back(module.framesAt(address));
  return all;
}

std::string text(const std::vector<SourceFrame>& frames) {
  std::string out;
  for (const SourceFrame& f : frames)
    out += f.function + " " + f.file + ":" + std::to_string(f.line) + " <- ";
  return out;
}

Variable variable(Module& module, uint64_t address) {
  auto found = module.variableAt(address);
  EXPECT_TRUE(found) << std::hex << address;
  return found.value_or(Variable{});
}

uint64_t dataAddress(const Module& module, const std::string& mangled) {
  auto address = addressOf(*module.image(), mangled);
  EXPECT_TRUE(address) << mangled;
  return address.value_or(0);
}

struct Build {
  std::string flags;
  std::string compiler;  ///< empty: g++
};
void PrintTo(const Build& build, std::ostream* out) {
  *out << build.compiler << " " << build.flags;
}

class Compiled : public testing::TestWithParam<Build> {
 protected:
  void SetUp() override {
    const std::string& compiler = GetParam().compiler;
    if (!compiler.empty() && !haveTool(compiler))
      GTEST_SKIP() << "needs " << compiler << ": apt-get install clang";
  }
  std::shared_ptr<Module> build(const std::string& optimisation) {
    const std::string flags = GetParam().flags + " " + optimisation;
    return Module::open(compile(dir, "scopes", "cpp", source, flags, GetParam().compiler), "");
  }
  TempDir dir;
  const std::string& source = scopesSource();
};

TEST_P(Compiled, InlinedAtomicIsSeenThroughTwoLevels) {
  auto module = build("-O2");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  EXPECT_EQ(module->detail(), "");
  int first = 0, second = 0;
  for (const auto& frames : framesOf(*module, "_ZN3app4workEPNS_7CounterEi")) {
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "app::work(app::Counter*, int)");
    EXPECT_EQ(frames.back().file, dir.file("scopes.cpp"));
    if (frames.size() != 4) continue;  // fetch_add <- bump <- twice <- work
    EXPECT_NE(frames[0].function.find("fetch_add"), std::string::npos) << text(frames);
    EXPECT_TRUE(frames[0].file.starts_with("/usr/")) << text(frames);
    EXPECT_TRUE(frames[0].file.ends_with("atomic_base.h")) << text(frames);
    EXPECT_EQ(frames[0].file.find(".."), std::string::npos) << text(frames);
    EXPECT_EQ(frames[1].function, "app::Counter::bump(long)");
    EXPECT_EQ(frames[1].line, lineOf(source, "fetch_add"));
    EXPECT_EQ(frames[2].function, "app::twice(app::Counter&)");
    EXPECT_EQ(frames[2].file, dir.file("scopes.cpp"));
    first += frames[2].line == lineOf(source, "bump1");
    second += frames[2].line == lineOf(source, "bump2");
    EXPECT_EQ(frames[3].line, lineOf(source, "twice"));
  }
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
}

TEST_P(Compiled, VariablesHaveNameSizeAndLine) {
  auto module = build("-O2");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  struct Expected {
    const char *symbol, *name, *marker;
    uint64_t size;
  };
  const Expected expected[] = {
      {"_ZN3app7Counter5totalE", "app::Counter::total", "total", 8},
      {"_ZN3app7Counter9instancesE", "app::Counter::instances", "instances", 4},
      {"_ZN3app12_GLOBAL__N_16hiddenE", "app::(anonymous namespace)::hidden", "hidden", 96},
      {"_ZN3app3BoxIiE4lastE", "app::Box<int>::last", "last", 4},
      {"_ZN3app5pairsE", "app::pairs", "pairs", 200},
      {"plain_c_variable", "plain_c_variable", "plain_c_variable", 4},
      {"shared", "shared", "shared", 8},
      {"_ZZN3app4workEPNS_7CounterEiE5calls", "app::work(app::Counter*, int)::calls", "calls", 8},
      {"_ZZN3app4workEPNS_7CounterEiE5inner", "app::work(app::Counter*, int)::inner", "inner", 2},
  };
  for (const Expected& e : expected) {
    const uint64_t address = dataAddress(*module, e.symbol);
    for (uint64_t offset : {uint64_t{0}, e.size - 1}) {
      const Variable found = variable(*module, address + offset);
      EXPECT_EQ(found.name, e.name);
      EXPECT_EQ(found.address, address) << e.name;
      EXPECT_EQ(found.size, e.size) << e.name;
      EXPECT_EQ(found.file, dir.file("scopes.cpp")) << e.name;
      // Clang states a static member's line at its declaration only.
      const bool declaration = !GetParam().compiler.empty() &&
                               source.find(std::string("@") + e.marker + "_declared") != std::string::npos;
      EXPECT_EQ(found.line, lineOf(source, std::string(e.marker) + (declaration ? "_declared" : "")))
          << e.name;
    }
  }
  // A thread-local variable has an offset, not an address.
  for (const Segment& segment : module->image()->segments())
    for (uint64_t a = segment.address; segment.writable && a < segment.address + segment.memorySize; a++) {
      const auto found = module->variableAt(a);
      ASSERT_TRUE(!found || found->name.find("perThread") == std::string::npos);
    }
  for (uint64_t offset = 0; offset < 64; offset++) {
    EXPECT_FALSE(module->variableAt(offset));
    EXPECT_EQ(module->image()->dataAt(offset), nullptr);
  }
}

const Build kBuilds[] = {{"-g -gdwarf-4", ""},
                         {"-g -gdwarf-5", ""},
                         {"-g -no-pie -fno-pie", ""},
                         {"-g -fPIC -shared", ""},
                         {"-g -static", ""},
                         {"-g -gz=zlib", ""},
                         {"-g -gdwarf-4 -gz=zlib", ""},
                         {"-g -Wl,--build-id=none", ""},
                         {"-g -ffunction-sections -fdata-sections -Wl,--gc-sections", ""},
                         {"-c -g -gdwarf-4 -gz=none", ""},
                         {"-c -g -gdwarf-5 -gz=zlib", ""},
                         {"-c -g -ffunction-sections -fdata-sections", "clang++"},
                         {"-g -gdwarf-4", "clang++"},
                         {"-g -gdwarf-5", "clang++"}};
INSTANTIATE_TEST_SUITE_P(Flags, Compiled, testing::ValuesIn(kBuilds));

class VariablesOfClasses : public testing::TestWithParam<Build> {};

TEST_P(VariablesOfClasses, ReachToTheirEnd) {
  const auto& [flags, compiler] = GetParam();
  if (!compiler.empty() && !haveTool(compiler))
    GTEST_SKIP() << "needs " << compiler << ": apt-get install clang";
  TempDir dir;
  auto module = Module::open(compile(dir, "classes", "cpp",
                                     "struct Conf { int a; long hits[4]; };\n"
                                     "Conf conf[2];\n"
                                     "// Compilers describe it where its first virtual function is.\n"
                                     "struct Elsewhere { virtual void act(); long hits[4]; };\n"
                                     "Elsewhere elsewhere;\n",
                                     "-shared -fPIC " + flags, compiler),
                             "");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  for (const auto& [name, size] : {std::pair{"conf", uint64_t{80}}, {"elsewhere", 40}}) {
    const uint64_t address = dataAddress(*module, name);
    const Variable found = variable(*module, address + size - 1);
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(found.address, address) << name;
    EXPECT_EQ(found.size, size) << name;
  }
}

const Build kClassBuilds[] = {{"-g", ""},
                              {"-gdwarf-4 -fdebug-types-section", ""},
                              {"-gdwarf-5 -fdebug-types-section", ""},
                              {"-gdwarf-4 -fdebug-types-section -gsplit-dwarf", ""},
                              {"-gdwarf-5 -fdebug-types-section -gsplit-dwarf", ""},
                              {"-g", "clang++"},
                              {"-gdwarf-4 -fdebug-types-section", "clang++"},
                              {"-gdwarf-5 -fdebug-types-section -gsplit-dwarf", "clang++"}};
INSTANTIATE_TEST_SUITE_P(Flags, VariablesOfClasses, testing::ValuesIn(kClassBuilds));

TEST(Module, ALibrarysVariablesThatAreCopiedIntoAProgramHaveTheirDeclarations) {
  NEED_TOOL("readelf", "binutils");
  TempDir dir;
  const std::string types =
      "struct Stat { long p, q; static long total[4]; };  // @total\n"
      "namespace lib { extern Stat stats[2]; }  // @stats\n"
      "extern Stat global;  // @global\n";
  writeFile(dir.file("lib.cpp"), types + "Stat lib::stats[2], global; long Stat::total[4], total;\n");
  writeFile(dir.file("plain.cpp"),
            "static long global asm(\"global\") = 1; long& plain() { return global; }\n");
  const std::string source =
      types +
      "extern \"C\" long total;  // @plain_total\n"
      "long& plain();\n"
      "int main() { return lib::stats[1].p + global.q + Stat::total[2] + total + plain(); }\n";
  writeFile(dir.file("main.cpp"), source);
  mustRun("cd " + dir.path() + " && " + CACHELINE_TEST_CXX + " -shared -fPIC -o libcopied.so lib.cpp && " +
          CACHELINE_TEST_CXX + " -c plain.cpp && " + CACHELINE_TEST_CXX +
          " -g -gdwarf-5 -no-pie -fno-pie -o main main.cpp plain.o -L. -lcopied");
  ASSERT_NE(mustRun("readelf -rW " + dir.file("main")).find("_COPY"), std::string::npos);
  auto module = Module::open(dir.file("main"), "");
  const auto expect = [&](const char* symbol, const char* name, uint64_t size, const char* marker) {
    const uint64_t address = dataAddress(*module, symbol);
    const Variable found = variable(*module, address + size - 1);
    EXPECT_EQ(found.name, name);
    EXPECT_EQ(found.address, address) << name;
    EXPECT_EQ(found.size, size) << name;
    EXPECT_EQ(found.line, lineOf(source, marker)) << name;
  };
  expect("_ZN3lib5statsE", "lib::stats", 32, "stats");
  expect("_ZN4Stat5totalE", "Stat::total", 32, "total");
  expect("total", "total", 8, "plain_total");
  size_t globals = 0;
  for (const Symbol& symbol : module->image()->dataSymbols()) {
    if (symbol.name != "global") continue;
    globals++;
    // A file's own one is another variable, of which nothing is known.
    const auto found = module->variableAt(symbol.address);
    EXPECT_EQ(found ? found->size : 0, symbol.local ? 0u : 16u);
  }
  EXPECT_EQ(globals, 2u);
}

TEST(Module, LinkTimeOptimisationMovesFunctionsBetweenUnits) {
  TempDir dir;
  const std::string& source = scopesSource();
  auto module = Module::open(compile(dir, "lto", "cpp", source, "-g -O2 -flto"), "");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  bool chain = false;
  for (const Segment& segment : module->image()->segments())
    for (uint64_t a = segment.address; segment.executable && a < segment.address + segment.memorySize; a++) {
      const auto frames = module->framesAt(a);
      if (frames.size() < 4 || frames[1].function != "app::Counter::bump(long)") continue;
      EXPECT_EQ(frames[1].line, lineOf(source, "fetch_add"));
      EXPECT_EQ(frames[2].function, "app::twice(app::Counter&)");
      EXPECT_EQ(frames[3].line, lineOf(source, "twice"));
      EXPECT_TRUE(frames[3].function.starts_with("app::work(")) << frames[3].function;
      chain = true;
    }
  EXPECT_TRUE(chain);
  EXPECT_EQ(variable(*module, dataAddress(*module, "shared")).line, lineOf(source, "shared"));
}

TEST(Module, UnoptimisedCallsAreFramesOfTheirOwn) {
  TempDir dir;
  const std::string& source = scopesSource();
  auto module = Module::open(compile(dir, "scopes", "cpp", source, "-g -O0"), "");
  bool call = false;
  for (const auto& frames : framesOf(*module, "main")) {
    ASSERT_EQ(frames.size(), 1u) << text(frames);
    EXPECT_EQ(frames[0].function, "main");
    call |= frames[0].line == lineOf(source, "main_call");
  }
  EXPECT_TRUE(call);
}

TEST(Module, PlainCNamesHaveNoDecoration) {
  TempDir dir;
  const std::string source =
      "static int twice(int x) { return x * 2; }\n"
      "int bump(int x) { static int calls; calls += x; return twice(calls); }  // @calls\n"
      "int main(int c, char** v) { (void)v; return bump(c); }\n";
  auto module = Module::open(compile(dir, "plain", "c", source, "-g -O0"), "");
  const auto address = addressOf(*module->image(), "bump");
  ASSERT_TRUE(address);
  const auto frames = module->framesAt(*address);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "bump");
  EXPECT_EQ(frames[0].line, lineOf(source, "calls"));
  bool found = false;
  for (const Segment& segment : module->image()->segments())
    for (uint64_t a = segment.address; a < segment.address + segment.memorySize; a++)
      if (auto v = module->variableAt(a); v && v->name == "bump()::calls") found = true;
  EXPECT_TRUE(found);
}

TEST(Module, RelativeFoldersInTheLineTableBecomeAbsolute) {
  TempDir dir;
  writeFile(dir.file("inc/sub/h.h"), "inline int helper(int x) { return x + 1; }\n");
  writeFile(dir.file("src/a.cpp"),
            "#include \"../inc/./sub/h.h\"\nint main(int c, char**) { return helper(c); }\n");
  for (const char* dwarf : {"-gdwarf-4", "-gdwarf-5"}) {
    mustRun("cd " + dir.file("src") + " && " + CACHELINE_TEST_CXX + " -O0 -g " + dwarf + " -o ../a a.cpp");
    auto module = Module::open(dir.file("a"), "");
    const auto helper = addressOf(*module->image(), "_Z6helperi");
    const auto main = addressOf(*module->image(), "main");
    ASSERT_TRUE(helper && main);
    EXPECT_EQ(module->framesAt(*helper).at(0).file, dir.file("inc/sub/h.h")) << dwarf;
    EXPECT_EQ(module->framesAt(*main).at(0).file, dir.file("src/a.cpp")) << dwarf;
  }
}

TEST(Module, SplitDwarfIsReadFromTheDwoFiles) {
  TempDir dir;
  const std::string& source = scopesSource();
  const std::string binary = compile(dir, "split", "cpp", source, "-g -gdwarf-5 -gsplit-dwarf -O2");
  auto module = Module::open(binary, "");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  size_t deepest = 0;
  for (const auto& frames : framesOf(*module, "_ZN3app4workEPNS_7CounterEi")) {
    deepest = std::max(deepest, frames.size());
    EXPECT_EQ(frames.back().function, "app::work(app::Counter*, int)");
    EXPECT_EQ(frames.back().file, dir.file("split.cpp"));
  }
  EXPECT_EQ(deepest, 4u);
  const Variable total = variable(*module, dataAddress(*module, "_ZN3app7Counter5totalE"));
  EXPECT_EQ(total.name, "app::Counter::total");
  EXPECT_EQ(total.line, lineOf(source, "total"));
  EXPECT_EQ(total.file, dir.file("split.cpp"));
}

class CompressedWithZstd : public testing::Test {
 protected:
  void SetUp() override {
    const std::string probe = compile(dir, "probe", "c", "int main(void) { return 0; }\n", "-g");
    if (run("objcopy --compress-debug-sections=zstd " + probe + " 2>/dev/null").status != 0)
      GTEST_SKIP() << "needs objcopy of binutils 2.40";
  }
  std::string build(const std::string& flags) {
    const std::string plain = compile(dir, "plain", "cpp", scopesSource(), flags);
    mustRun("objcopy --compress-debug-sections=zstd " + plain + " " + dir.file("packed"));
    return dir.file("packed");
  }
  TempDir dir;
};

TEST_F(CompressedWithZstd, DebugSectionsAreReadLikePlainOnes) {
  for (const char* flags : {"-g -gdwarf-4 -O2", "-g -gdwarf-5 -O2", "-c -g -O2"}) {
    auto packed = Module::open(build(flags), ""), plain = Module::open(dir.file("plain"), "");
    ASSERT_NE(packed->image()->section(".debug_info")->size, plain->image()->section(".debug_info")->size);
    ASSERT_EQ(packed->status(), ModuleStatus::ok) << flags << ": " << packed->detail();
    const auto expected = framesOf(*plain, "_ZN3app4workEPNS_7CounterEi");
    const auto frames = framesOf(*packed, "_ZN3app4workEPNS_7CounterEi");
    ASSERT_EQ(frames.size(), expected.size());
    for (size_t i = 0; i < frames.size(); i++) EXPECT_EQ(text(frames[i]), text(expected[i])) << flags;
    EXPECT_EQ(variable(*packed, dataAddress(*packed, "_ZN3app5pairsE") + 199).name, "app::pairs") << flags;
  }
}

TEST_F(CompressedWithZstd, WhatCannotBeInflatedIsSaid) {
  build("-g -O2");
  const std::string whole = readFile(dir.file("packed"));
  const ElfFile file =
      ElfFile::parse({reinterpret_cast<const uint8_t*>(whole.data()), whole.size()}, "packed");
  const uint64_t header = file.section(".debug_info")->header.sh_offset;
  const auto detailOf = [&](size_t offset, char value) {
    std::string bytes = whole;
    bytes[header + offset] = value;
    writeFile(dir.file("packed"), bytes);
    auto module = Module::open(dir.file("packed"), "");
    EXPECT_EQ(module->status(), ModuleStatus::noDebugInfo);
    return module->detail();
  };
  EXPECT_NE(detailOf(0, 77).find("compressed in an unknown way, number 77; objcopy "
                                 "--decompress-debug-sections can make a file that is not"),
            std::string::npos)
      << detailOf(0, 77);
  const size_t size = 15, zstdMagic = 24;
  for (const size_t damaged : {size, zstdMagic})
    EXPECT_NE(detailOf(damaged, 1).find("compressed with zstd, and damaged"), std::string::npos)
        << detailOf(damaged, 1);
}

TEST(Module, ReopenedItAnswersTheSameInAnotherThread) {
  TempDir dir;
  const std::string binary = compile(dir, "twin", "cpp", scopesSource(), "-g -O2");
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug twin twin.debug && objcopy -g " +
          "--add-gnu-debuglink=twin.debug twin");
  auto module = Module::open(binary, "");
  ASSERT_EQ(module->debugFile(), dir.file("twin.debug"));
  const auto reopened = module->reopened();
  EXPECT_EQ(reopened->image(), module->image());
  EXPECT_EQ(reopened->status(), module->status());
  EXPECT_EQ(reopened->debugFile(), module->debugFile());
  const auto textOf = [](Module& of) {
    std::string all;
    for (const auto& frames : framesOf(of, "_ZN3app4workEPNS_7CounterEi")) all += text(frames) + "\n";
    const auto shared = of.variableAt(*addressOf(*of.image(), "shared"));
    return all + (shared ? shared->file + ":" + std::to_string(shared->line) : "none");
  };
  auto inThread = std::async(std::launch::async, [&] { return textOf(*reopened); });
  const std::string own = textOf(*module);
  EXPECT_NE(own.find("app::Counter::bump"), std::string::npos);
  EXPECT_EQ(inThread.get(), own);
  std::filesystem::remove(dir.file("twin.debug"));
  EXPECT_THROW(module->reopened(), Error);
}

TEST(Module, WithoutDebugInformationFunctionsAreStillNamed) {
  TempDir dir;
  auto module = Module::open(compile(dir, "nodebug", "cpp", scopesSource(), "-O1"), "");
  EXPECT_EQ(module->status(), ModuleStatus::noDebugInfo);
  EXPECT_NE(module->detail().find("no debug information"), std::string::npos);
  const auto frames = module->framesAt(*addressOf(*module->image(), "_ZN3app4workEPNS_7CounterEi") + 3);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "app::work(app::Counter*, int)");
  EXPECT_EQ(frames[0].file, "");
  EXPECT_EQ(frames[0].line, 0u);
}

TEST(Module, StrippedHasNeither) {
  TempDir dir;
  auto module = Module::open(compile(dir, "stripped", "cpp", scopesSource(), "-O1 -s -static"), "");
  EXPECT_EQ(module->status(), ModuleStatus::noSymbols);
  EXPECT_NE(module->detail().find("stripped"), std::string::npos);
  EXPECT_TRUE(module->framesAt(module->image()->segments()[0].address).empty());
  EXPECT_FALSE(module->variableAt(module->image()->segments()[0].address));
}

TEST(Module, DamagedDebugInformationNeverStopsTheAnswers) {
  TempDir dir;
  const std::string whole = readFile(compile(dir, "p", "cpp", scopesSource(), "-g -O2"));
  const auto image = ElfImage::open(dir.file("p"));
  const uint64_t work = *addressOf(*image, "_ZN3app4workEPNS_7CounterEi");
  const uint64_t total = *addressOf(*image, "_ZN3app7Counter5totalE");
  // The debug sections follow the last byte that is loaded.
  uint64_t begin = 0;
  for (const Segment& segment : image->segments())
    begin = std::max(begin, segment.fileOffset + segment.fileSize);
  std::mt19937_64 random(11);
  size_t named = 0;
  for (int round = 0; round < 300; round++) {
    std::string bytes = whole;
    for (int i = 0; i < 40; i++)
      bytes[begin + random() % (bytes.size() - begin)] =
          static_cast<char>(random() % 4 == 0 ? 0xff : random());
    writeFile(dir.file("damaged"), bytes);
    auto module = Module::open(dir.file("damaged"), "");
    if (module->image() == nullptr) continue;
    for (uint64_t offset = 0; offset < 64; offset += 3) named += !module->framesAt(work + offset).empty();
    module->variableAt(total);
  }
  EXPECT_GT(named, 300u) << "most damage leaves most names";
}

TEST(Module, MissingAndForeignFiles) {
  TempDir dir;
  auto missing = Module::open(dir.file("nothing"), "");
  EXPECT_EQ(missing->status(), ModuleStatus::missing);
  EXPECT_NE(missing->detail().find("No such file"), std::string::npos) << missing->detail();
  EXPECT_EQ(missing->image(), nullptr);
  EXPECT_TRUE(missing->framesAt(0x1000).empty());
  EXPECT_FALSE(missing->variableAt(0x1000));
  writeFile(dir.file("script"), "#!/bin/sh\necho\n");
  auto script = Module::open(dir.file("script"), "");
  EXPECT_EQ(script->status(), ModuleStatus::missing);
  EXPECT_NE(script->detail().find("not an ELF file"), std::string::npos) << script->detail();
}

TEST(Module, ARebuiltBinaryGivesAddressesOnly) {
  TempDir dir;
  const std::string binary =
      compile(dir, "a", "c", "int main(void) { return 0; }\n", "-g -Wl,--build-id=0x0123456789abcdef");
  EXPECT_EQ(Module::open(binary, "0123456789abcdef")->status(), ModuleStatus::ok);
  EXPECT_EQ(Module::open(binary, "0123456789ABCDEF000000")->status(), ModuleStatus::ok)
      << "padded by an old perf";
  auto changed = Module::open(binary, "ffff456789abcdef");
  EXPECT_EQ(changed->status(), ModuleStatus::changed);
  EXPECT_EQ(changed->image(), nullptr);
  EXPECT_EQ(changed->detail(), binary +
                                   " was rebuilt since it was recorded: build id ffff456789abcdef recorded, "
                                   "0123456789abcdef now; addresses only.");
  EXPECT_TRUE(changed->framesAt(0x1139).empty());
  const std::string none = compile(dir, "b", "c", "int main(void) { return 0; }\n", "-g -Wl,--build-id=none");
  EXPECT_EQ(Module::open(none, "0123456789abcdef")->status(), ModuleStatus::changed);
  auto told = Module::changed(binary, "It was replaced.");
  EXPECT_EQ(told->status(), ModuleStatus::changed);
  EXPECT_EQ(told->detail(), "It was replaced.");
  EXPECT_EQ(told->image(), nullptr);
}

}  // namespace
}  // namespace cacheline::symbols
