// What gcc writes with -gsplit-dwarf -fdebug-types-section: in a .dwo file each type has a section of its
// own, all of one name. The same source compiled without -gsplit-dwarf is the judge.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "inference/live_variables.h"
#include "layouts/layout.h"
#include "layouts/queries.h"
#include "symbols/elf_file.h"
#include "symbols/joined_sections.h"
#include "types_fixture.h"

namespace cacheline::inference {
namespace {

using namespace types;
using namespace layouts;
using namespace types::test;
using symbols::test::lineOf;
using symbols::test::mustRun;
using symbols::test::readFile;
using symbols::test::writeFile;

constexpr const char* kHeader = R"code(
namespace pool {
struct Inner { int a, b; };
struct Later;  // defined in one of the units
template <class T> struct Box { T value; Inner in; long n; };
struct Worker { virtual void run(); Box<int> box; union { long whole; char half; }; Worker* next; Later* later; };
enum class State { idle, busy };
struct Long {
  long first, second, third, fourth, fifth, sixth, seventh, eighth, ninth, tenth, eleventh, twelfth, thirteenth;
  struct { int one, two, three, four, five, six; } inner[3];
};
struct Job : Worker { State state; Inner parts[3]; unsigned flag : 3; static Job last; Long numbers; };
}  // namespace pool
inline long sum(const pool::Job& job) {
  long all = 0;
  for (const pool::Inner& part : job.parts) all += part.b;  // @sum
  return all;
}
)code";
constexpr const char* kOneSource = R"code(#include "pool.h"
namespace pool { void Worker::run() { box.n++; } }
pool::Job job;
thread_local pool::Inner mine;
long work(pool::Job* given) { given->run(); return sum(*given) + mine.a; }
)code";
constexpr const char* kTwoSource = R"code(#include "pool.h"
struct Own { pool::Box<long> box; struct { short s; } unnamed; };
namespace pool { struct Later { int x; } later; }
pool::Job pool::Job::last;
Own own;
__attribute__((cold)) long seldom(Own* given) { return given->box.in.b; }
long use() { return sum(pool::Job::last) + own.unnamed.s; }
)code";

/// In `folder`, as a build system calls it: the .dwo files are named from there.
std::string libraryOf(const std::string& folder, const std::string& flags) {
  mustRun("mkdir -p " + folder);
  writeFile(folder + "/pool.h", kHeader);
  writeFile(folder + "/a.cpp", kOneSource);
  writeFile(folder + "/b.cpp", kTwoSource);
  mustRun("cd " + folder + " && g++ -fPIC " + flags + " -c a.cpp b.cpp && g++ -shared " + flags +
          " -o lib.so a.o b.o");
  return folder + "/lib.so";
}

/// All that is said of it.
std::string described(const std::string& binary, const std::string& folder) {
  std::string text = typesJson(binary) + "\n";
  for (const char* name : {"pool::Inner", "pool::Box<int>", "pool::Box<long>", "pool::Worker", "pool::Job",
                           "pool::Later", "Own"})
    text += layoutsJson(binary, name, {64, true}) + "\n";
  for (const char* file : {"pool.h", "a.cpp", "b.cpp"})
    text += declarationsJson(binary, folder + "/" + file, {}) + "\n";
  Program program(binary);
  for (const char* variable : {"job", "_ZN4pool3Job4lastE", "own"})
    for (const uint64_t offset : {0, 12, 24, 48, 60}) text += program.fields(variable, offset, 4) + "\n";
  LiveVariables live(program.module(), program.types());
  for (const char* function : {"_Z4workPN4pool3JobE", "_Z6seldomP3Own", "_Z3usev"}) {
    const uint64_t begin = program.module().image()->addressOfSymbol(function).value();
    for (uint64_t address = begin; address < begin + 32; address++) {
      if (const auto operand = live.operandType(address))
        text += program.table().nameOf(operand->type) + " at " + std::to_string(operand->offset) + "\n";
      for (const auto& frame : program.module().framesAt(address))
        text += frame.function + " " + frame.file + ":" + std::to_string(frame.line) + "\n";
    }
  }
  return text;
}

TEST(SplitTypes, AreReadAsIfTheyWereInTheBinary) {
  for (const std::string flags :
       {"-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -O2", "-gdwarf-5 -O2", "-gdwarf-5 -gz", "-gdwarf-4 -gz",
        "-gdwarf-4 -gz=zlib-gnu", "-gdwarf-5 -gz=zlib-gnu", "-gdwarf-5 -Wa,--compress-debug-sections=zstd",
        "-gdwarf-5 -m32 -nostdlib -Wl,--unresolved-symbols=ignore-all"}) {
    TempDir dir;
    const std::string whole = described(libraryOf(dir.path(), flags), dir.path());
    EXPECT_NE(whole.find("pool::Job"), std::string::npos);
    const std::string split = libraryOf(dir.path(), flags + " -gsplit-dwarf -fdebug-types-section");
    EXPECT_EQ(described(split, dir.path()), whole) << flags;
    mustRun("mkdir " + dir.file("in") + " && mv " + split + " " + dir.file("in/lib.so"));
    EXPECT_EQ(described(dir.file("in/lib.so"), dir.path()), whole) << flags << ", from the compiler's folder";
  }
}

TEST(SplitTypes, AreReadFromObjectFilesToo) {
  for (const std::string flags : {"-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -gz", "-gdwarf-4 -gz=zlib-gnu",
                                  "-gdwarf-5 -gz=zlib-gnu", "-gdwarf-5 -O2"}) {
    TempDir dir;
    const auto object = [&](const std::string& more) {
      libraryOf(dir.path(), flags + more);
      mustRun("cd " + dir.path() + " && ld -r a.o b.o -o both.o");
      return described(dir.file("both.o"), dir.path());
    };
    const std::string whole = object(" -gz=none");
    EXPECT_NE(whole.find("pool::Job"), std::string::npos);
    EXPECT_EQ(object(""), whole) << flags;
    EXPECT_EQ(object(" -fdebug-types-section"), whole) << flags;
  }
}

TEST(SplitTypes, OfADamagedObjectFileAreSaidToBeDamaged) {
  TempDir dir;
  libraryOf(dir.path(), "-gdwarf-5 -gz=zlib-gnu");
  std::string bytes = readFile(dir.file("a.o"));
  const size_t at = bytes.find("ZLIB");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + 14, 8, 8, 'x');
  writeFile(dir.file("a.o"), bytes);
  try {
    ADD_FAILURE() << typesJson(dir.file("a.o"));
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos) << error.what();
  }
}

/// Makes the debug information of a .dwo file say that it is compressed, which it is not.
void damage(const std::string& path) {
  std::string bytes = readFile(path);
  const auto file =
      symbols::ElfFile::parse({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, path);
  for (size_t i = 0; i < file.sections.size(); i++) {
    if (file.sections[i].name != ".debug_info.dwo" && file.sections[i].name != ".debug_types.dwo") continue;
    Elf64_Shdr header = file.sections[i].header;
    header.sh_flags |= SHF_COMPRESSED;
    std::memcpy(bytes.data() + file.header.e_shoff + i * sizeof header, &header, sizeof header);
  }
  writeFile(path, bytes);
}

TEST(SplitTypes, ThatCannotBeReadAreSaidToBeThere) {
  for (const std::string version : {"-gdwarf-5", "-gdwarf-4"}) {
    TempDir dir;
    const std::string binary = libraryOf(dir.path(), version + " -gsplit-dwarf -fdebug-types-section");
    damage(dir.file("b.dwo"));
    const auto problem = [&] {
      try {
        layoutsJson(binary, "Own", {});
      } catch (const Error& error) {
        return std::string(error.what()) + " " + error.nextStep();
      }
      return std::string("none");
    };
    EXPECT_EQ(problem(),
              "The debug information of " + binary +
                  " continues in 1 .dwo file that has a section for each type, which could not be read: "
                  "b.dwo. Compile without -fdebug-types-section, or without -gsplit-dwarf.")
        << version;
    EXPECT_NE(typesJson(binary).find("\"pool::Worker\""), std::string::npos) << "the other one is read";
    mustRun("rm " + dir.file("a.dwo"));
    EXPECT_NE(problem().find("1 .dwo file that was not found: a.dwo"), std::string::npos) << problem();
  }
}

/// Two units define a structure, each in its own way.
class SplitDuplicates : public testing::Test {
 protected:
  void SetUp() override {
    writeFile(dir_.file("a.c"), "struct conn { int one; } a; typedef struct later late; late* next;\n");
    writeFile(dir_.file("b.c"), "struct conn { long one, two; } b; struct later { int x; } later;\n");
    mustRun("cd " + dir_.path() +
            " && gcc -g -gsplit-dwarf -fPIC -c a.c b.c && gcc -shared -o split.so a.o b.o"
            " && gcc -g -fPIC -shared -o whole.so a.c b.c");
  }
  TempDir dir_;
};

TEST_F(SplitDuplicates, MissNothingWhereAllIsRead) {
  for (const char* name : {"split.so", "whole.so"}) {
    const std::string layouts = layoutsJson(dir_.file(name), "conn", {});
    EXPECT_NE(layouts.find(R"("size":4)"), std::string::npos) << layouts;
    EXPECT_NE(layouts.find(R"("size":16)"), std::string::npos) << layouts;
    EXPECT_TRUE(layouts.ends_with(R"(}],"missing":[]})")) << layouts;
    const std::string declared = declarationsJson(dir_.file(name), dir_.file("a.c"), {});
    EXPECT_TRUE(declared.ends_with(R"(}],"missing":[]})")) << declared;
  }
}

TEST_F(SplitDuplicates, SayWhereTheOtherDefinitionMayBe) {
  mustRun("rm " + dir_.file("b.dwo"));
  const std::string binary = dir_.file("split.so");
  const std::string
      what = "The debug information of " + binary + " continues in 1 .dwo file that was not found: b.dwo.",
      next = "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.",
      end = R"(}],"missing":[{"message":")" + what + R"(","nextStep":")" + next + R"("}]})";
  const std::string layouts = layoutsJson(binary, "conn", {});
  EXPECT_TRUE(layouts.starts_with(R"({"layouts":[{"name":"conn")")) << layouts;
  EXPECT_TRUE(layouts.ends_with(end)) << layouts;
  EXPECT_EQ(layouts.find(R"("missing":{)"), std::string::npos) << "the layout itself is whole";
  const std::string declared = declarationsJson(binary, dir_.file("a.c"), {});
  EXPECT_TRUE(declared.starts_with(R"({"declarations":[{"variable":"")")) << declared;
  EXPECT_TRUE(declared.ends_with(end)) << declared;
  for (const char* name : {"later", "late"}) {
    try {
      ADD_FAILURE() << layoutsJson(binary, name, {});
    } catch (const Error& error) {
      EXPECT_EQ(error.what() + (" " + error.nextStep()), what + " " + next) << name;
    }
  }
}

class SplitTypesCompressed : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Ways, SplitTypesCompressed, testing::Values("-gz", "-gz=zlib-gnu"));

/// Every byte of the section headers, and every end of the file.
TEST_P(SplitTypesCompressed, OfDamagedFilesEndNothing) {
  TempDir dir;
  libraryOf(dir.path(), std::string("-gdwarf-5 -gsplit-dwarf -fdebug-types-section ") + GetParam());
  const std::string whole = readFile(dir.file("a.dwo")), path = dir.file("damaged.dwo");
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  constexpr uint64_t kMost = 1 << 20;
  int needed = 0;
  const auto join = [&](const std::string& bytes) {
    writeFile(path, bytes);
    uint64_t left = kMost;
    needed += symbols::joinSections(path, left).needed ? 1 : 0;
    EXPECT_LE(left, kMost);
  };
  for (size_t at = header.e_shoff; at < header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr); at++) {
    std::string bytes = whole;
    bytes.at(at) = "\x00\x08\xff"[at % 3];
    join(bytes);
  }
  EXPECT_GT(needed, header.e_shnum);
  for (size_t size = 0; size < whole.size(); size += 61) join(whole.substr(0, size));
}

TEST(SplitTypes, AreJoinedWithinALimit) {
  TempDir dir;
  libraryOf(dir.path(), "-gdwarf-5 -gsplit-dwarf -fdebug-types-section");
  uint64_t left = 1 << 20;
  EXPECT_TRUE(symbols::joinSections(dir.file("a.dwo"), left).file);
  const uint64_t used = (1 << 20) - left;
  left = used;
  EXPECT_TRUE(symbols::joinSections(dir.file("a.dwo"), left).file);
  EXPECT_EQ(left, 0u);
  left = used - 1;
  const symbols::JoinedSections joined = symbols::joinSections(dir.file("a.dwo"), left);
  EXPECT_TRUE(joined.needed);
  EXPECT_FALSE(joined.file);
  EXPECT_FALSE(symbols::joinSections(dir.file("lib.so"), left).needed);
  EXPECT_FALSE(symbols::joinSections(dir.file("pool.h"), left).needed);
}

}  // namespace
}  // namespace cacheline::inference
