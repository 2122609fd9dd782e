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
TEST(SourceTexts, NameTheProgramBeforeWhatLanguagesAndPackagesBring) {
  std::ifstream files(CACHELINE_FIXTURES "/source-files.txt");
  size_t asked = 0;
  for (std::string whose, file; files >> whose >> file; ++asked)
    EXPECT_EQ(placeOf(file, {frame("/home/ada/main.rs", 22)}),
              whose == "own" ? file + ":1" : "/home/ada/main.rs:22");
  EXPECT_GT(asked, 20u);
}

TEST(SourceTexts, NameTheInnermostPlaceWhereAllAreForeign) {
  EXPECT_EQ(placeOf("sync/a.go", {frame("", 0), frame("sync/b.go", 2)}), "sync/a.go:1");
  EXPECT_EQ(placeOf("", {frame("sync/a.go", 1), frame("sync/b.go", 2)}), "sync/a.go:1");
  EXPECT_EQ(placeOf("", {frame("", 0)}), "unknown");
}

}  // namespace

}  // namespace cacheline::c2c::test
