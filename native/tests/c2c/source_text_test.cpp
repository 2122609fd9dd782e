// Which source place of an access the tables show.
#include "c2c/source_text.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cacheline::c2c::test {

namespace {

std::string placeOf(const std::string& file, const std::vector<symbols::SourceFrame>& inlined) {
  analysis::CodeName code;
  code.file = file;
  code.line = file.empty() ? 0 : 1;
  code.inlined = inlined;
  std::string text;
  SourceText("").append(text, code);
  return text;
}

symbols::SourceFrame frame(const std::string& file, uint32_t line) {
  symbols::SourceFrame made;
  made.file = file;
  made.line = line;
  return made;
}

/// The editor's side reads the same file: test/unit/report-text.test.ts.
TEST(SourceTexts, AreOfWhoseSourceItIs) {
  std::ifstream files(CACHELINE_FIXTURES "/source-files.txt");
  size_t asked = 0;
  for (std::string whose, file; files >> whose >> file; ++asked) {
    const analysis::SourceOwner owner = analysis::ownerOf(file);
    EXPECT_EQ(whose, owner == analysis::SourceOwner::program   ? "own"
                     : owner == analysis::SourceOwner::library ? "library"
                                                               : "language")
        << file;
    EXPECT_EQ(analysis::isForeignSource(file), whose != "own") << file;
  }
  EXPECT_GT(asked, 20u);
}

TEST(SourceTexts, NameWhatIsToldOfCode) {
  EXPECT_EQ(placeOf("/usr/include/c++/14/atomic",
                    {frame("/usr/include/c++/14/atomic", 1), frame("/src/a.cpp", 22)}),
            "/src/a.cpp:22");
  EXPECT_EQ(placeOf("/src/a.c", {}), "/src/a.c:1");
  EXPECT_EQ(placeOf("", {frame("", 0)}), "unknown");
}

}  // namespace

}  // namespace cacheline::c2c::test
