// Widths, shortening, wrapping, rounding and making untrusted names harmless.
#include "text/terminal_text.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "base/utf8.h"

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
      for (const Shorten shorten : {Shorten::middle, Shorten::start, Shorten::end, Shorten::members}) {
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
  EXPECT_EQ(shortened("Padded.desc.content_lock.state", 22, Shorten::members), "….content_lock.state");
  EXPECT_EQ(shortened("Padded.desc.content_lock.state", 6, Shorten::members), "Pad…te") << "no name fits";
  EXPECT_EQ(shortened("Pool<a.b>.slots[2].first | raw[8]", 24, Shorten::members), "….first | raw[8]");
  EXPECT_EQ(shortened("function(a.b, c.d)", 12, Shorten::members), "functi… c.d)") << "no members";
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
  EXPECT_EQ(breakText(",a計", 2), (Pieces{",", "a", "計"}));
  EXPECT_EQ(breakText("計算計算", 3), (Pieces{"計", "算", "計", "算"}));
}

/// Bytes of every kind, often of UTF-8.
std::string randomName(std::mt19937& random) {
  const std::vector<std::string> parts{"a",    " ",       ",",      "\x1b", "é",        "計",
                                       "🦀", "e\u0301", "\u202e", "\xff", "\xe8\xa8", "\xed\xa0\x80"};
  std::string name;
  for (size_t length = random() % 30; length > 0; --length)
    name += random() % 4 == 0 ? std::string(1, static_cast<char>(random())) : parts[random() % parts.size()];
  return name;
}

TEST(AnyName, BecomesHarmlessAndFits) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = printable(randomName(random));
    EXPECT_EQ(validUtf8(text), text);
    EXPECT_EQ(printable(text), text);
    for (const char byte : text) EXPECT_FALSE(static_cast<uint8_t>(byte) < 0x20 || byte == 0x7f);
    const size_t width = 2 + random() % 20;
    for (const Shorten shorten : {Shorten::middle, Shorten::start, Shorten::end, Shorten::members}) {
      const std::string shown = shortened(text, width, shorten);
      EXPECT_LE(displayWidth(shown), width);
      EXPECT_EQ(validUtf8(shown), shown);
    }
    std::string joined;
    for (const std::string& piece : breakText(text, width)) {
      EXPECT_LE(displayWidth(piece), width);
      joined += piece;
    }
    EXPECT_EQ(std::regex_replace(joined, std::regex(" "), ""), std::regex_replace(text, std::regex(" "), ""));
  }
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
