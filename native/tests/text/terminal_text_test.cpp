// Widths, shortening, wrapping, rounding and making untrusted names harmless.
#include "text/terminal_text.h"

#include <gtest/gtest.h>

namespace cacheline::text {

namespace {

std::string shortened(std::string_view text, size_t width, Shorten shorten) {
  std::string out;
  appendShortened(out, text, width, shorten);
  return out;
}

std::string fixed(double value, int digits) {
  std::string out;
  appendFixed(out, value, digits);
  return out;
}

TEST(Printable, MakesControlsAndInvisibleCharactersVisible) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\u009b0m\x7f"), "a\\x1b[31mb\\x07\\x9b0m\\x7f");
  EXPECT_EQ(printable("x\ny\tz\r"), "x\\ny\\tz\\x0d");
  EXPECT_EQ(printable("\u202egnp.exe\u2066\u200b\ufeff"), "\\u{202e}gnp.exe\\u{2066}\\u{200b}\\u{feff}");
  EXPECT_EQ(printable("\U000e0041 \u2028"), "\\u{e0041} \\u{2028}");
  EXPECT_EQ(printable("Ünïcode 計算 🦀 std::vector<int>"), "Ünïcode 計算 🦀 std::vector<int>");
  EXPECT_EQ(printable("cut \xe8\xa8 \xff"), "cut \ufffd \ufffd");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable(""), "");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(displayWidth(""), 0u);
  EXPECT_EQ(displayWidth("plain"), 5u);
  EXPECT_EQ(displayWidth("計算"), 4u);
  EXPECT_EQ(displayWidth("e\u0301"), 1u);
  EXPECT_EQ(displayWidth("…"), 1u);
  EXPECT_EQ(displayWidth("🦀"), 2u);
}

TEST(Shortened, TakesAtMostTheWidthWhateverIsInTheText) {
  for (const std::string_view text : {"std::vector<Histogram<long>>::add(long)", "計算スレッド計算スレッド",
                                      "e\u0301e\u0301e\u0301e\u0301e\u0301", "", "abc"}) {
    for (size_t width = 1; width < 45; ++width) {
      for (const Shorten shorten : {Shorten::middle, Shorten::start, Shorten::end}) {
        const std::string shown = shortened(text, width, shorten);
        EXPECT_LE(displayWidth(shown), width) << text;
        if (displayWidth(text) <= width) {
          EXPECT_EQ(shown, text);
        }
      }
    }
  }
  EXPECT_EQ(shortened("Worker::run(unsigned long)", 13, Shorten::middle), "Worker… long)");
  EXPECT_EQ(shortened("/home/ada/src/main.cpp:12", 13, Shorten::start), "…/main.cpp:12");
  EXPECT_EQ(shortened("abcdef", 4, Shorten::end), "abc…");
}

TEST(Wrapped, BreaksAtSpacesHangsTheRestAndShortensLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrap("one two three four", 9), (Lines{"one two", "three", "four"}));
  EXPECT_EQ(wrap("one two  three", 12, "name: ", "      "), (Lines{"name: one", "      two", "      three"}));
  EXPECT_EQ(wrap("", 10), Lines{""});
  EXPECT_EQ(wrap("abcdefghijklmnop", 9), Lines{"abcd…mnop"});
  for (const std::string& line : wrap(std::string(300, 'a') + " b", 500)) EXPECT_LE(displayWidth(line), 100u);
}

TEST(Broken, KeepsAllOfATextInPieces) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(breakText("short", 9), Pieces{"short"});
  EXPECT_EQ(breakText("0,2,4,6,8", 5), (Pieces{"0,2,", "4,6,8"}));
  EXPECT_EQ(breakText("pair<int, long>", 11), (Pieces{"pair<int,", "long>"}));
  EXPECT_EQ(breakText("計算計算", 3), (Pieces{"計", "算", "計", "算"}));
}

TEST(Fixed, RoundsTheMiddleUpAndNothingElse) {
  EXPECT_EQ(fixed(0.125, 2), "0.13");
  EXPECT_EQ(fixed(12.625, 2), "12.63");
  EXPECT_EQ(fixed(0.375, 2), "0.38");
  EXPECT_EQ(fixed(1.005, 2), "1.00");  // the double is below
  EXPECT_EQ(fixed(62.25, 1), "62.3");
  EXPECT_EQ(fixed(100, 2), "100.00");
  EXPECT_EQ(fixed(1.0 / 3 * 100, 1), "33.3");
}

TEST(Numbers, AreDecimalOrHex) {
  std::string out;
  appendNumber(out, ~uint64_t{0});
  out += ' ';
  appendHex(out, ~uint64_t{0});
  out += ' ';
  appendHex(out, 0);
  EXPECT_EQ(out, "18446744073709551615 0xffffffffffffffff 0x0");
}

}  // namespace

}  // namespace cacheline::text
