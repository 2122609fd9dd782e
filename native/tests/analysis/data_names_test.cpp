// Variables whose symbols alone do not say what they are, or whose types do not say how large.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kSource = R"(
struct tail { long n; long d[]; };
static struct tail tail __attribute__((used)) = {1, {1, 2, 3, 4}};
extern long unknown[] __attribute__((visibility("hidden")));
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
__attribute__((noinline)) void work(void) {
  static long calls;
  ACCESS(access_calls, calls);
  { static long calls; ACCESS(access_inner, calls); }
  ACCESS(access_tail, tail.d[2]);
  ACCESS(access_unknown, unknown[3]);
}
void _start(void) { work(); }
)";
constexpr const char* kUndescribed = "long unknown[10] = {1};\n";

class SymbolsAndTypes : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string path = folder_ / "program", source = folder_ / "program.c", other = folder_ / "other.c";
    std::ofstream(source) << kSource;
    std::ofstream(other) << kUndescribed;
    const std::string compiler = GetParam();
    const std::string flags = " -O1 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector -w ";
    if (std::system(("command -v " + compiler + " >/dev/null").c_str()) != 0)
      GTEST_SKIP() << "needs " << compiler << ": apt-get install " << compiler;
    const std::string object = other + ".o";
    const std::string command = compiler + flags + "-c -o " + object + " " + other + " && " + compiler +
                                flags + "-g -o " + path + " " + source + " " + object;
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
    image_ = symbols::ElfImage::open(path);
    scenario_.startFile(kProcess, path);
    scenario_.thread(kProcess, kThread);
  }
  /// The data of a marked access.
  DataName named(const std::string& access) {
    const uint64_t at = image_->addressOfSymbol(access).value();
    const auto bytes = image_->bytesAt(at, 16);
    size_t length = 0;
    while (length < bytes.size() && bytes[length] != 0x90) ++length;
    for (int i = 0; i < 10; ++i)
      for (const uint32_t tid : {kProcess, kThread})
        scenario_.sample(kProcess, tid, at + length, {{kRegDi, 0}});
    const Report report = scenario_.report(true);
    for (const Line& line : report.lines)
      for (const Access& row : line.accesses)
        if (row.codeAddress == at) return row.data;
    throw std::runtime_error("nothing was accessed at " + access);
  }

  static constexpr uint32_t kProcess = 100, kThread = 101;
  perfdata::testing::TempFolder folder_;
  std::shared_ptr<const symbols::ElfImage> image_;
  Scenario scenario_;
};

TEST_P(SymbolsAndTypes, VariablesOfFunctionsHaveTheNamesOfTheSource) {
  EXPECT_EQ(named("access_calls").object, "work()::calls");
  EXPECT_EQ(named("access_inner").object, "work()::calls");
}

TEST_P(SymbolsAndTypes, ElementsBehindTheTypeAreNamed) {
  const DataName tail = named("access_tail");
  EXPECT_EQ(tail.object, "tail");
  EXPECT_EQ(tail.type, "tail");
  EXPECT_EQ(tail.field, "d[2]");
  EXPECT_EQ(tail.fieldOffset, 24u);
  if (GetParam() != std::string("gcc")) return;  // clang does not describe what a unit only declares
  const DataName unknown = named("access_unknown");
  EXPECT_EQ(unknown.object, "unknown");
  EXPECT_TRUE(unknown.type.ends_with("[]")) << unknown.type;
  EXPECT_EQ(unknown.index, 3u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, SymbolsAndTypes, testing::Values("gcc", "clang"));

}  // namespace
}  // namespace cacheline::analysis
