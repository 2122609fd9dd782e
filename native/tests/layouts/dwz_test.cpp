// Debug information that dwz has made smaller: partial units, references of other forms, a file that programs
// share. What is known of a program is the same before and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "layouts/layout.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using symbols::test::mustRun;
using symbols::test::writeFile;
using types::test::Program;
using types::test::TempDir;

constexpr const char* kHeader = R"code(
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
typedef struct { int x, y; } Point;
typedef struct { Point from, to; union { long id; char tag[8]; }; unsigned open : 3, done : 5; } Edge;
template <class T, int N> struct Pool {
  struct Slot { T* at; bool free; };
  T items[N];
  std::atomic<long> used;
  Slot slots[N];
};
struct Base { virtual ~Base() {} long spare; };
struct Derived : virtual Base { std::map<std::string, Edge> edges; enum { kOne, kTwo } kind; };
inline long helper(Derived* of) { struct Local { long sum; int count; } local{of->spare, 1}; return local.sum; }
}
)code";
constexpr const char* kFirstSource = R"code(
#include "common.h"
app::Pool<app::Point, 4> pool;
app::Derived derived;
std::vector<app::Edge> edges;
namespace { struct Hidden { int h; char c; } hidden; }
long other(app::Derived*);
int main() { edges.push_back({}); hidden.h = 1; return app::helper(&derived) + other(&derived); }
)code";
constexpr const char* kSecondSource = R"code(
#include "common.h"
app::Pool<app::Edge, 8> pool2;
std::shared_ptr<app::Derived> shared;
long other(app::Derived* of) { pool2.used++; return app::helper(of); }
)code";

/// All that can be asked: types, layouts, what the header declares, variables, names and lines of the code.
std::vector<std::string> everythingIn(const std::string& binary, const std::string& header) {
  Program program(binary);
  std::vector<std::string> lines;
  for (const TypeSummary& type : program.types().list())
    lines.push_back(type.kind + " " + type.name + " " + type.file + ":" + std::to_string(type.line));
  for (const TypeId type : program.types().all())
    lines.push_back(layoutJson(layoutOf(program.table(), type, {.expand = true})));
  for (const Declared& declared : program.types().declaredIn(header))
    lines.push_back("at " + std::to_string(declared.line) + " " + declared.variable + " " +
                    program.table().nameOf(declared.type));
  const symbols::ElfImage& image = *program.module().image();
  for (const symbols::Symbol& symbol : image.dataSymbols())
    if (const auto variable = program.types().variableAt(symbol.address))
      lines.push_back(variable->name + " is a " + program.table().nameOf(variable->type));
  const auto text = image.section(".text");
  for (uint64_t at = text->address; at < text->address + text->size; at += 4) {
    std::string frames;
    for (const symbols::SourceFrame& frame : program.module().framesAt(at))
      frames += frame.function + " " + frame.file + ":" + std::to_string(frame.line) + " < ";
    lines.push_back(frames);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class Dwz : public testing::TestWithParam<const char*> {
 protected:
  void inFolder(const std::string& command) { mustRun("cd " + dir_.path() + " && " + command + " 2>&1"); }
  std::vector<std::string> everything(const std::string& program) {
    return everythingIn(dir_.file(program), dir_.file("common.h"));
  }
  std::string problem(const std::string& program) {
    try {
      layoutsJson(dir_.file(program), "app::Edge", {});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return {};
  }
  TempDir dir_;
};

TEST_P(Dwz, ChangesNothing) {
  NEED_TOOL("dwz", "dwz");
  NEED_TOOL("clang++", "clang");
  writeFile(dir_.file("common.h"), kHeader);
  writeFile(dir_.file("one.cpp"), kFirstSource);
  writeFile(dir_.file("two.cpp"), kSecondSource);
  inFolder(std::string(GetParam()) + " -g -O1 -std=c++17 -Wl,--build-id -o program one.cpp two.cpp");
  inFolder("cp program alone && dwz alone");
  inFolder("cp program first && cp program second && dwz -m common first second");
  const std::vector<std::string> before = everything("program");
  ASSERT_GT(before.size(), 500u);
  const auto size = [&](const char* name) { return std::filesystem::file_size(dir_.file(name)); };
  EXPECT_LT(size("alone"), size("program"));
  EXPECT_EQ(everything("alone"), before);
  EXPECT_LT(size("first"), size("alone"));
  // Declarations in the common file are not searched for what libraries define.
  std::vector<std::string> withoutDeclared = before;
  std::erase(withoutDeclared, "__libc_single_threaded is a char");
  EXPECT_EQ(everything("first"), withoutDeclared);

  // A common file of another build, and none.
  std::string common = symbols::test::readFile(dir_.file("common"));
  const size_t id = common.find(std::string("GNU\0", 4)) + 4;
  common[id] ^= 1;
  writeFile(dir_.file("common"), common);
  EXPECT_NE(problem("first").find("common, and the file there belongs to another build"), std::string::npos);
  std::filesystem::remove(dir_.file("common"));
  EXPECT_NE(problem("first").find("common, which was not found"), std::string::npos);
  const auto module = symbols::Module::open(dir_.file("first"), "");
  EXPECT_EQ(module->status(), symbols::ModuleStatus::ok);
  EXPECT_NE(module->detail().find("common, which was not found"), std::string::npos) << module->detail();
}

TEST_P(Dwz, ACommonFileIsFoundOnTheRecordedMachinesFiles) {
  NEED_TOOL("dwz", "dwz");
  NEED_TOOL("clang++", "clang");
  writeFile(dir_.file("common.h"), kHeader);
  writeFile(dir_.file("one.cpp"), kFirstSource);
  writeFile(dir_.file("two.cpp"), kSecondSource);
  inFolder(std::string(GetParam()) + " -g -O1 -std=c++17 -Wl,--build-id -o first one.cpp two.cpp");
  inFolder("cp first second && cp first plain && dwz -m common -M /no/such/folder/common first second");
  inFolder("mkdir -p machine/opt machine/no/such/folder && mv first machine/opt");
  const size_t all = Program(dir_.file("plain")).types().list().size();
  const auto missing = [&] {
    symbols::SymbolOptions options;
    options.symfs = dir_.file("machine");
    symbols::SymbolSearch search(options);
    const auto module = symbols::Module::open("/opt/first", "", search);
    EXPECT_EQ(BinaryTypes(*module).list().size() == all, module->dwarf()->missingSupplement().name.empty());
    EXPECT_EQ(module->reopened()->dwarf()->missingSupplement().name,
              module->dwarf()->missingSupplement().name);
    return module->dwarf()->missingSupplement().name;
  };
  EXPECT_EQ(missing(), "/no/such/folder/common");
  inFolder("cp second machine/no/such/folder/common");
  EXPECT_EQ(missing(), "/no/such/folder/common") << "it is of another build";
  inFolder("cp common machine/no/such/folder/common");
  EXPECT_EQ(missing(), "");
  const std::string id = symbols::ElfImage::open(dir_.file("common"))->buildId();
  const std::string byId = "machine/usr/lib/debug/.build-id/" + id.substr(0, 2);
  inFolder("rm machine/no/such/folder/common && mkdir -p " + byId + " && mv common " + byId + "/" +
           id.substr(2) + ".debug");
  EXPECT_EQ(missing(), "");
}

// Of clang's DWARF 5, dwz 0.15 knows not all sections.
INSTANTIATE_TEST_SUITE_P(Compilers, Dwz,
                         testing::Values("g++ -gdwarf-5", "g++ -gdwarf-4", "clang++ -gdwarf-4"));

}  // namespace
}  // namespace cacheline::layouts
