// Functions whose rare cases compilers moved elsewhere: these jump back into the middle of them.
#include "analysis/function_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "../perfdata/test_support.h"

namespace cacheline::analysis {
namespace {

const char* const kRareCases = R"code(
struct Table { long a[8]; };
[[gnu::cold, gnu::noipa]] void rare(long) {}
[[gnu::noipa]] void mayThrow(long i) { if (i == 1000000) throw 7; }
extern "C" [[gnu::noipa]] long branches(Table* t, int n, long key) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    long* p = &t->a[i & 7];
    if (__builtin_expect(*p == key, 0)) { rare(i); sum = key; }
    sum += *p;
  }
  return sum;
}
extern "C" [[gnu::noipa]] long handles(Table* t, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    try { mayThrow(i); } catch (int thrown) { sum += thrown; }
    sum += t->a[i & 7];
  }
  return sum;
}
extern "C" [[gnu::noipa]] long calls(Table* t, int n) { return n == 0 ? t->a[1] : branches(t, n, 1); }
int main(int argc, char**) { Table t{}; return static_cast<int>(branches(&t, argc, 5) + handles(&t, argc) + calls(&t, argc)); }
)code";

class RareCases : public testing::Test {
 protected:
  RareCases() {
    std::ofstream(folder_ / "rare.cpp") << kRareCases;
    run("g++ -O2 -o " + path_ + " " + (folder_ / "rare.cpp"));
    image_ = symbols::ElfImage::open(path_);
  }
  static void run(const std::string& command) {
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
  symbols::Section section(const char* name) const {
    const auto address = image_->addressOfSymbol(name);
    return address ? functionAround(*image_, *address).value_or(symbols::Section{}) : symbols::Section{};
  }
  decode::Code swept(const char* name) {
    const symbols::Section function = section(name);
    return sweptCode(*image_, function, function.address, sweeps_);
  }
  /// Whether the part jumps back to a place that is known as the beginning of a block.
  static bool isEntered(const decode::Code& code) {
    const decode::Code& part = code.parts[0];
    return std::ranges::any_of(part.sweep.leaving(), [&](const auto& jump) {
      const uint64_t offset = part.start + jump.target - code.start;
      return offset > 0 && offset < code.bytes.size() && code.sweep.isTarget(offset);
    });
  }

  const perfdata::testing::TempFolder folder_;
  const std::string path_ = folder_ / "rare";
  std::shared_ptr<const symbols::ElfImage> image_;
  Sweeps sweeps_;
};

TEST_F(RareCases, ThePartThatIsJumpedToIsKnown) {
  ASSERT_NE(section("branches.cold").size, 0u) << "the compiler has not split the function";
  const decode::Code code = swept("branches");
  EXPECT_TRUE(code.sweep.closed());
  ASSERT_EQ(code.parts.size(), 1u);
  EXPECT_EQ(code.parts[0].start, section("branches.cold").address);
  EXPECT_TRUE(isEntered(code));
}

TEST_F(RareCases, AJumpToThePartIsNoCallOfAnotherFunction) {
  ASSERT_NE(section("handles.cold").size, 0u) << "the compiler has not split the function";
  const decode::Code code = swept("handles");
  ASSERT_EQ(code.sweep.leaving().size(), 1u);
  EXPECT_FALSE(code.sweep.leaving()[0].conditional) << "as a call at the end is";
  EXPECT_TRUE(code.sweep.closed());
  ASSERT_EQ(code.parts.size(), 1u);
  EXPECT_EQ(code.parts[0].start, section("handles.cold").address);
  EXPECT_TRUE(isEntered(code));
}

TEST_F(RareCases, WhereItCannotBeKnownNotAllWaysAre) {
  EXPECT_FALSE(swept("branches.cold").sweep.closed()) << "a part is no whole function";
  const symbols::Section handles = section("handles"), branches = section("branches");
  run("strip " + path_);
  image_ = symbols::ElfImage::open(path_);
  Sweeps sweeps;
  const auto strippedCode = [&](const symbols::Section& function) {
    EXPECT_EQ(functionAround(*image_, function.address)->size, function.size);
    return sweptCode(*image_, function, function.address, sweeps);
  };
  EXPECT_FALSE(strippedCode(handles).sweep.closed()) << "a handler of what it calls may be anywhere";
  EXPECT_TRUE(strippedCode(branches).sweep.closed()) << "it calls nothing, and jumps to its part";
  EXPECT_EQ(strippedCode(branches).parts.size(), 1u);
}

TEST_F(RareCases, ACallAtTheEndIsNoPart) {
  const decode::Code code = swept("calls");
  EXPECT_FALSE(code.sweep.leaving().empty());
  EXPECT_TRUE(code.sweep.closed());
  EXPECT_TRUE(code.parts.empty());
}

TEST_F(RareCases, InStrippedCodeWithoutExceptionsThePartIsFoundByItsJumps) {
  const std::string source = folder_ / "plain.cpp";
  std::ofstream(source)
      << "[[gnu::cold, gnu::noipa]] void rare(long) {}\n"
         "extern \"C\" [[gnu::noipa]] long branches(long* a, int n, long key) {\n"
         "  long sum = 0;\n"
         "  for (int i = 0; i < n; i++) {\n"
         "    long* p = &a[i & 7];\n"
         "    if (__builtin_expect(*p == key, 0)) { rare(i); sum = key; }\n"
         "    sum += *p;\n"
         "  }\n"
         "  return sum;\n"
         "}\n"
         "int main(int argc, char**) { long a[8] = {}; return (int)branches(a, argc, 5); }\n";
  run("g++ -O2 -fno-exceptions -o " + path_ + " " + source);
  image_ = symbols::ElfImage::open(path_);
  const symbols::Section function = section("branches"), cold = section("branches.cold");
  ASSERT_NE(cold.size, 0u);
  run("strip " + path_);
  image_ = symbols::ElfImage::open(path_);
  const decode::Code code = sweptCode(*image_, function, function.address, sweeps_);
  EXPECT_TRUE(code.sweep.closed());
  ASSERT_EQ(code.parts.size(), 1u);
  EXPECT_EQ(code.parts[0].start, cold.address);
}

}  // namespace
}  // namespace cacheline::analysis
