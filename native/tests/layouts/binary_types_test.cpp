// BinaryTypes and the questions of the command line: names, duplicates, incomplete types, places in the
// source, split DWARF, and the index on disk.
#include "layouts/binary_types.h"

#include <elfutils/version.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "layouts/layout.h"
#include "layouts/queries.h"
#include "layouts/type_index_cache.h"
#include "symbols/dwarf_index.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::lineOf;
using symbols::test::mustRun;
using symbols::test::writeFile;

/// An environment variable that gets its old value back.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_)
      ::setenv(name_, old_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// Two sources in one library, compiled with `flags`.
std::string library(const TempDir& dir, const std::string& first, const std::string& second,
                    const std::string& flags) {
  writeFile(dir.file("one.cpp"), first);
  writeFile(dir.file("two.cpp"), second);
  mustRun("cd " + dir.path() + " && g++ -std=c++20 -shared -fPIC " + flags + " -o lib.so one.cpp two.cpp");
  return dir.file("lib.so");
}

std::vector<std::string> namesOf(Program& program, const std::vector<TypeId>& types) {
  std::vector<std::string> names;
  for (const TypeId type : types)
    names.push_back(program.table().nameOf(type) + " " +
                    std::to_string(program.table().sizeOf(type).value_or(0)));
  return names;
}

const char* const kOne = R"code(
struct Twin { int a; };
struct Same { long s; };
struct Alike { char a[3]; long b; };
namespace ns { struct Hidden { char c; long l; };  struct Worker { long count; Hidden* hidden; }; }
struct Elsewhere;
struct Nowhere;
typedef struct { short a, b; } pair_t;
struct Uses { Elsewhere* there; Nowhere* nowhere; pair_t pair; ns::Worker worker; };
Twin one; Same sameOne; Uses uses; Alike alikeOne;
)code";
const char* const kTwo = R"code(
struct Twin { long a, b; };
struct Same { long s; };
struct Alike { char a[5]; long b; };
struct Elsewhere { char where; long field; };
namespace other { struct Worker { char name[3]; }; }
Twin two; Same sameTwo; Alike alikeTwo; Elsewhere elsewhere; other::Worker worker;
)code";

std::vector<Declared> declaredAt(BinaryTypes& types, const std::string& file, uint32_t line) {
  std::vector<Declared> found = types.declaredIn(file);
  std::erase_if(found, [&](const Declared& one) { return one.line != line; });
  return found;
}

TEST(BinaryTypes, NamesAreWholeOrTails) {
  TempDir dir;
  Program program(library(dir, kOne, kTwo, "-g"));
  const auto named = [&](const char* name) { return namesOf(program, program.types().named(name)); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(named("ns::Worker"), Names{"ns::Worker 16"});
  EXPECT_EQ(named("Worker"), (Names{"ns::Worker 16", "other::Worker 3"}));
  EXPECT_EQ(named("struct Uses"), Names{"Uses 40"});
  EXPECT_EQ(named("pair_t"), Names{"pair_t 4"}) << "a typedef names an anonymous structure";
  EXPECT_EQ(named("orker"), Names{});
  EXPECT_EQ(named(""), Names{});
  EXPECT_EQ(named("Same"), Names{"Same 8"}) << "one layout in two units";
  EXPECT_EQ(named("Twin"), (Names{"Twin 4", "Twin 16"}));
  EXPECT_EQ(program.types().named("Alike").size(), 2u) << "duplicates that differ only in a member's type";
  const auto duplicates = program.types().named("Twin");
  EXPECT_EQ(program.table()[duplicates[0]].file, dir.file("one.cpp"));
  EXPECT_EQ(program.table()[duplicates[1]].file, dir.file("two.cpp"));
  EXPECT_EQ(namesOf(program, program.types().all()),
            (Names{"Alike 16", "Alike 16", "Elsewhere 16", "Same 8", "Twin 4", "Twin 16", "Uses 40",
                   "ns::Hidden 16", "ns::Worker 16", "other::Worker 3", "pair_t 4"}));
  Names listed;
  for (const TypeSummary& type : program.types().list())
    listed.push_back(type.name + " " + std::to_string(type.size));
  EXPECT_EQ(listed, namesOf(program, program.types().all()));
}

TEST(BinaryTypes, DeclarationsMeetTheirDefinitionInAnotherUnit) {
  TempDir dir;
  Program program(library(dir, kOne, kTwo, "-g"));
  const TypeId there = program.table().pointee(program.typeOf("uses").members[0].type);
  EXPECT_EQ(membersText(program.table()[there]), "where@0:1 field@8:8");
  EXPECT_EQ(there, program.table().strip(program.variable("elsewhere")));
  EXPECT_TRUE(program.types().isDeclared("Nowhere"));
  EXPECT_FALSE(program.types().isDeclared("Elsewhere"));
  EXPECT_NE(layoutsJson(dir.file("lib.so"), "ns::Worker", {}).find("\"name\":\"count\""), std::string::npos);
  try {
    layoutsJson(dir.file("lib.so"), "Nowhere", {});
    ADD_FAILURE() << "an incomplete type has no layout";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    EXPECT_NE(std::string(error.what()).find("incomplete"), std::string::npos) << error.what();
    EXPECT_FALSE(error.nextStep().empty());
  }
  EXPECT_EQ(layoutsJson(dir.file("lib.so"), "NoSuchType", {}), R"({"layouts":[],"missing":[]})");
}

TEST(BinaryTypes, PlacesInTheSource) {
  const std::string source = R"code(
struct Clock {  // @clock
  long now;
};
struct Worker {
  Clock clock;  // @member
  long count;
  Worker* next;  // @next
};
Worker workers[4];  // @workers
long sum(const Worker& from) {  // @parameter
  Clock local = from.clock;  // @local
  return local.now;
}
)code";
  TempDir dir;
  Program program(dir, "cpp", source);
  const auto at = [&](const char* marker, const std::string& file) {
    std::string text;
    for (const Declared& one : declaredAt(program.types(), file, lineOf(source, marker)))
      text += one.variable + ":" + program.table().nameOf(one.type) + " ";
    return text;
  };
  const std::string path = dir.file("program.cpp");
  EXPECT_EQ(at("clock", path), ":Clock ");
  EXPECT_EQ(at("member", path), "clock:Clock ");
  EXPECT_EQ(at("next", path), "next:Worker * ");
  EXPECT_EQ(at("workers", path), "workers:Worker[4] ");
  EXPECT_EQ(at("parameter", path), "from:const Worker & ");
  EXPECT_EQ(at("local", "program.cpp"), "local:Clock ") << "a tail of the path";
  EXPECT_EQ(at("local", "/elsewhere" + path), "local:Clock ") << "DWARF's path is the tail";
  EXPECT_EQ(at("local", "ram.cpp"), "");
  const std::string json = declarationsJson(dir.file("program"), path, {});
  EXPECT_NE(json.find("\"variable\":\"workers\""), std::string::npos);
}

TEST(BinaryTypes, PlacesInIncludedFiles) {
  const std::string header = R"code(
struct Base { long inherited; };  // @base
struct Pair { long left, right; };
struct Worker : Base {
  long own;  // @own
  long method(const Pair& given) {  // @given
    Pair kept = given;  // @kept
    return kept.left;
  }
};
inline long both(Pair& first) {  // @first
  Pair second = first;  // @second
  return second.right;
}
template <typename T> long generic(T value) { Pair inside{value, 1}; return inside.left; }  // @generic
struct Odd {  // @odd
#ifdef TWIN
  long more;
#endif
  long common;
};
)code";
  const std::string list = "long listed;  // @listed\nPair twice;  // @twice\n";
  const std::string one = R"code(#include "work.h"
struct Listing {
#include "list.inc"
} listing;
struct Derived : Worker { Pair last; } derived;  // @last
Odd odd;
long useOne(Pair& pair) { return both(pair) + generic(3) + derived.method(pair); }
)code";
  // The second unit has functions of the header that the first one lacks, and some that it has, too.
  const std::string two =
      "#define TWIN\n#include \"work.h\"\nOdd twin;\ninline long three(Pair& p) { return both(p); }\n"
      "long useTwo(Pair& pair) { return three(pair) + generic('c'); }\n";
  for (const char* flags :
       {"-g", "-gdwarf-4 -fdebug-types-section", "-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf",
        "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section"}) {
    TempDir dir;
    writeFile(dir.file("work.h"), header);
    writeFile(dir.file("list.inc"), list);
    Program program(library(dir, one, two, flags));
    const auto at = [&](const char* marker) {
      std::string text;
      for (const Declared& found : declaredAt(program.types(), dir.file("work.h"), lineOf(header, marker)))
        text += found.variable + ":" + program.table().nameOf(found.type) + " ";
      return text;
    };
    EXPECT_EQ(at("given"), "given:const Pair & ") << flags;
    EXPECT_EQ(at("kept"), "kept:Pair ") << flags;
    EXPECT_EQ(at("first"), "first:Pair & ") << flags;
    EXPECT_EQ(at("second"), "second:Pair ") << flags;
    EXPECT_EQ(at("generic"), "inside:Pair ") << flags;
    EXPECT_EQ(at("odd"), ":Odd :Odd ") << "duplicates, " << flags;
    EXPECT_EQ(namesOf(program, program.types().named("Odd")), (std::vector<std::string>{"Odd 8", "Odd 16"}))
        << flags;
    const auto placeOf = [&](const char* type, const char* member) {
      for (const LayoutMember& row :
           layoutOf(program.table(), program.types().named(type).at(0), {64, true}).members)
        if (row.name == member)
          return std::filesystem::path(row.file).filename().string() + ":" + std::to_string(row.line);
      return std::string("none");
    };
    EXPECT_EQ(placeOf("Derived", "inherited"), "work.h:" + std::to_string(lineOf(header, "base"))) << flags;
    EXPECT_EQ(placeOf("Derived", "own"), "work.h:" + std::to_string(lineOf(header, "own"))) << flags;
    EXPECT_EQ(placeOf("Derived", "last"), ":" + std::to_string(lineOf(one, "last")))
        << "its own file, " << flags;
    EXPECT_EQ(placeOf("Listing", "listed"), "list.inc:" + std::to_string(lineOf(list, "listed"))) << flags;
    EXPECT_EQ(placeOf("Listing", "twice"), "list.inc:" + std::to_string(lineOf(list, "twice"))) << flags;
    EXPECT_EQ(placeOf("Listing", "twice.left"), "work.h:3") << flags;
  }
}

/// Type units and what is in .dwo files have no folder of their own.
TEST(BinaryTypes, FilesAreAbsolute) {
  const TempDir dir;
  mustRun("mkdir -p " + dir.file("src") + " " + dir.file("include"));
  writeFile(dir.file("include/worker.h"), "struct Worker { long count; };\n");
  writeFile(dir.file("src/main.cpp"),
            "#include \"worker.h\"\nstruct Local { Worker worker; };\nLocal local;\n"
            "int main() { return static_cast<int>(local.worker.count); }\n");
  for (const std::string command :
       {"g++ -gdwarf-4 -fdebug-types-section", "g++ -gdwarf-5 -fdebug-types-section",
        "g++ -gdwarf-4 -gsplit-dwarf", "g++ -gdwarf-4 -fdebug-types-section -gsplit-dwarf",
        "g++ -gdwarf-5 -fdebug-types-section -gsplit-dwarf", "clang++ -gdwarf-4 -fdebug-types-section",
        "clang++ -gdwarf-5 -fdebug-types-section", "clang++ -gdwarf-5 -fdebug-types-section -gsplit-dwarf",
        "clang++ -gdwarf-4 -fdebug-types-section -gsplit-dwarf"}) {
    if (!haveTool(command.substr(0, command.find(' ')))) continue;
    mustRun("cd " + dir.path() + " && " + command + " -Iinclude src/main.cpp -o program");
    Program program(dir.file("program"));
    const auto expectFile = [&](const char* name, const char* file) {
      const auto found = program.types().named(name);
      ASSERT_EQ(found.size(), 1u) << command;
      EXPECT_EQ(program.table()[found[0]].file, dir.file(file)) << command;
      const auto declared = program.types().declaredIn(dir.file(file));
      EXPECT_TRUE(std::any_of(declared.begin(), declared.end(), [&](const Declared& one) {
        return one.type == found[0] && one.variable.empty() && one.file == dir.file(file);
      })) << command;
    };
    expectFile("Worker", "include/worker.h");
    expectFile("Local", "src/main.cpp");
  }
}

/// Other units have a stub there with a signature and no name, which may be that of a typedef or not.
TEST(BinaryTypes, TypedefsOfTypeUnitsNameWhatHasNoNameThere) {
  const char* source =
      "#include <cstdio>\ntypedef struct { int a; long b; } Anonymous;\n"
      "Anonymous one; FILE* file;\n";
  for (const char* compiler : {"g++", "clang++"})
    for (const char* version : {"-gdwarf-4", "-gdwarf-5"}) {
      if (!haveTool(compiler)) continue;
      TempDir dir;
      Program program(dir, "cpp", source, std::string("-fdebug-types-section ") + version, compiler);
      std::string found;
      for (const TypeSummary& type : program.types().list())
        if (type.name == "Anonymous" || type.name == "FILE" || type.size == 0)
          found += type.name + " " + std::to_string(type.size) + "; ";
      EXPECT_EQ(found, "Anonymous 16; ") << compiler << " " << version;
    }
}

TEST(BinaryTypes, SplitDwarfIsFollowedAndItsAbsenceSaid) {
  for (const char* version : {"-gdwarf-5", "-gdwarf-4"}) {
    TempDir dir;
    const std::string binary = library(dir, kOne, kTwo, std::string(version) + " -gsplit-dwarf");
    {
      Program program(binary);
      EXPECT_EQ(program.types().named("Twin").size(), 2u) << version;
      EXPECT_TRUE(program.types().missing().empty());
      const auto found = declaredAt(program.types(), "one.cpp", 2);
      ASSERT_EQ(found.size(), 1u) << version;
      EXPECT_EQ(program.table().nameOf(found[0].type), "Twin");
    }
    mustRun("cd " + dir.path() + " && rm *.dwo");
    EXPECT_EQ(Program(binary).types().missing().size(), 2u);
    const auto problem = [&] {
      try {
        layoutsJson(binary, "Twin", {});
      } catch (const Error& error) {
        return std::string(error.what()) + " " + error.nextStep();
      }
      return std::string();
    };
    EXPECT_NE(problem().find("2 .dwo files that were not found"), std::string::npos) << problem();
  }
}

TEST(BinaryTypes, APackageOfSplitDwarfIsReadOrNamed) {
  NEED_TOOL("dwp", "binutils");
  TempDir dir;  // of DWARF 4: the dwp of binutils 2.40 crashes over that of DWARF 5
  const std::string binary = library(dir, kOne, kTwo, "-gdwarf-4 -gsplit-dwarf");
  mustRun("cd " + dir.path() + " && dwp -e lib.so && rm *.dwo");
  Program program(binary);
  if (_ELFUTILS_VERSION >= 191) {
    EXPECT_EQ(program.types().named("Twin").size(), 2u);
    return;
  }
  EXPECT_EQ(program.types().missing().size(), 2u);
  try {
    layoutsJson(binary, "Twin", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "The debug information of " + binary + " continues in " + binary +
                                ".dwp, which elfutils opens from 0.191 on, and this is built with 0." +
                                std::to_string(_ELFUTILS_VERSION) + ".");
  }
}

TEST(BinaryTypes, WhatCannotBeReadSaysWhy) {
  TempDir dir;
  const auto problem = [&](const std::string& path) {
    try {
      typesJson(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
      EXPECT_FALSE(error.nextStep().empty());
      return std::string(error.what());
    }
    return std::string();
  };
  writeFile(dir.file("text"), "no program");
  EXPECT_NE(problem(dir.file("text")).find("not an ELF file"), std::string::npos);
  EXPECT_NE(problem(dir.file("absent")).find("absent"), std::string::npos);
  EXPECT_NE(problem(library(dir, kOne, kTwo, "-g0")).find("no debug information"), std::string::npos);
}

TEST(BinaryTypes, AnObjectFileThatCannotBeReadIsToBeLinked) {
  TempDir dir;
  mustRun("cd " + dir.path() + " && echo 'struct one { int a; } it;' | gcc -m32 -g -c -o one.o -x c -");
  try {
    typesJson(dir.file("one.o"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not linked"), std::string::npos) << error.what();
    EXPECT_EQ(error.nextStep(), "Link it, and name the program or library instead.");
  }
}

TEST(BinaryTypes, AnObjectFileHasTheTypesOfTheProgramItIsLinkedInto) {
  TempDir dir;
  Program linked(library(dir, kOne, kTwo, "-g"));
  mustRun("cd " + dir.path() + " && g++ -g -c -o one.o one.cpp");
  Program object(dir.file("one.o"));
  EXPECT_EQ(namesOf(object, object.types().named("Uses")), namesOf(linked, linked.types().named("Uses")));
  EXPECT_EQ(object.types().named("Uses").size(), 1u);
}

TEST(BinaryTypes, AUnitWithoutARootIsSkipped) {
  TempDir dir;
  const std::string binary = library(dir, kOne, kTwo, "-g -gdwarf-4");
  const std::string dumped = dir.file("info");
  mustRun("objcopy --dump-section .debug_info=" + dumped + " " + binary + " " + dir.file("copy"));
  std::string info = symbols::test::readFile(dumped);
  constexpr size_t kRoot = 11;  // behind the header of a DWARF 4 unit
  info[kRoot] = 0;              // the code of the null entry
  writeFile(dumped, info);
  mustRun("objcopy --update-section .debug_info=" + dumped + " " + binary);
  Program program(binary);
  EXPECT_TRUE(program.types().named("Uses").empty());
  EXPECT_EQ(namesOf(program, program.types().named("Twin")), std::vector<std::string>{"Twin 16"});
}

TEST(TypeIndexCache, GivesBackWhatWasKeptAndRefusesAnythingElse) {
  TempDir dir;
  auto module = symbols::Module::open(library(dir, kOne, kTwo, "-g"), "");
  const TypeIndex index = buildTypeIndex(*module->dwarf());
  const std::string bytes = writeTypeIndex(index, 7);
  const auto back = readTypeIndex(bytes, 7);
  ASSERT_TRUE(back);
  EXPECT_EQ(writeTypeIndex(*back, 7), bytes);
  EXPECT_EQ(back->types.size(), 12u);
  EXPECT_EQ(back->declared, std::vector<std::string>{"Nowhere"});
  EXPECT_FALSE(readTypeIndex(bytes, 8)) << "of another file";
  for (size_t size = 0; size < bytes.size(); size++)
    EXPECT_FALSE(readTypeIndex(bytes.substr(0, size), 7)) << size;
  for (size_t at = 0; at < bytes.size(); at++) {
    std::string broken = bytes;
    broken[at] ^= 0x20;
    EXPECT_FALSE(readTypeIndex(broken, 7)) << at;
  }
}

/// Of which an index is worth keeping.
std::string largeSource() {
  std::string source =
      "template <int N> struct Numbered { int first; char buffer[N + 1]; long last[N + 2]; };\n";
  for (int i = 0; i < 5000; i++)
    source += "Numbered<" + std::to_string(i) + "> n" + std::to_string(i) + ";\n";
  return source;
}

TEST(TypeIndexCache, IsKeptByBuildIdWhereItIsWorthIt) {
  TempDir dir;
  const Environment cache("XDG_CACHE_HOME", dir.file("cache"));
  writeFile(dir.file("big.cpp"), largeSource());
  mustRun("cd " + dir.path() + " && g++ -g -shared -fPIC -Wl,--build-id -o big.so big.cpp");
  const auto kept = [&] {
    size_t count = 0;
    std::error_code ec;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(typeIndexFolder(), ec))
      count++;
    return count;
  };
  EXPECT_EQ(kept(), 0u);
  const std::string first = typesJson(dir.file("big.so"));
  EXPECT_EQ(kept(), 1u);
  EXPECT_EQ(typesJson(dir.file("big.so")), first) << "from disk";
  for (const auto& entry : std::filesystem::directory_iterator(typeIndexFolder()))
    writeFile(entry.path(), "broken");
  EXPECT_EQ(typesJson(dir.file("big.so")), first) << "built again";
  const Environment nowhere("XDG_CACHE_HOME", "/proc/nowhere");
  EXPECT_EQ(typesJson(dir.file("big.so")), first) << "without a folder to write";
}

TEST(TypeIndexCache, SaysWhatIsGoneSinceItWasKept) {
  TempDir dir;
  const Environment cache("XDG_CACHE_HOME", dir.file("cache"));
  writeFile(dir.file("big.cpp"), largeSource() + "struct Both { int a; } first;\n");
  writeFile(dir.file("split.cpp"),
            "struct Own { int a; long b; } own;\nstruct Both { long a, b; } second;\n");
  mustRun("cd " + dir.path() +
          " && g++ -g -fPIC -c big.cpp && g++ -g -gsplit-dwarf -fPIC -c split.cpp"
          " && g++ -shared -Wl,--build-id -o lib.so big.o split.o");
  const std::string binary = dir.file("lib.so"), layout = layoutsJson(binary, "Own", {});
  EXPECT_NE(layout.find("\"Own\""), std::string::npos);
  EXPECT_EQ(layoutsJson(binary, "Own", {}), layout) << "from disk";
  mustRun("rm " + dir.file("split.dwo"));
  std::string problem;
  try {
    problem = layoutsJson(binary, "Own", {});
  } catch (const Error& error) {
    problem = error.what();
  }
  EXPECT_NE(problem.find("1 .dwo file that was not found: split.dwo"), std::string::npos) << problem;
  const std::string both = layoutsJson(binary, "Both", {});
  EXPECT_NE(both.find("not found: split.dwo"), std::string::npos) << both;
}

}  // namespace
}  // namespace cacheline::layouts
