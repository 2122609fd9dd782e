// Escapes, widths and cuts of terminal text.
#include "text/terminal_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "base/utf8.h"
#include "text/unicode_ranges.h"

namespace cacheline::text {

namespace {

constexpr std::string_view kEllipsis = "…";
/// Prose is hard to read beyond this, however wide the terminal is.
constexpr size_t kProseWidth = 100;

struct Character {
  char32_t code = 0;
  std::string_view bytes;
};

/// The character that begins at `at` of valid UTF-8.
Character characterAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  char32_t code = length == 1 ? byte(0) : byte(0) & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3fU);
  return {code, text.substr(at, length)};
}

bool isIn(std::span<const CodeRange> ranges, char32_t code) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code,
                       [](char32_t value, const CodeRange& range) { return value < range.first; });
  return after != ranges.begin() && code <= std::prev(after)->last;
}

size_t widthOf(char32_t code) {
  if (code >= 0x20 && code < 0x7f) return 1;
  if (isIn(kZeroWidth, code)) return 0;
  return isIn(kDoubleWidth, code) ? 2 : 1;
}

void appendEscape(std::string& out, char32_t code) {
  std::array<char, 8> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), uint32_t{code}, 16).ptr;
  const std::string_view hex(digits.data(), end);
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x100) {
    out.append(hex.size() == 1 ? "\\x0" : "\\x").append(hex);
  } else {
    out.append("\\u{").append(hex) += '}';
  }
}

/// The longest beginning that takes at most so many columns.
std::string_view clipEnd(std::string_view text, size_t width) {
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const Character next = characterAt(text, at);
    used += widthOf(next.code);
    if (used > width) break;
    at += next.bytes.size();
  }
  return text.substr(0, at);
}

/// The longest end.
std::string_view clipStart(std::string_view text, size_t width) {
  size_t used = 0, from = text.size();
  while (from > 0) {
    size_t at = from - 1;
    while ((static_cast<uint8_t>(text[at]) & 0xc0U) == 0x80) --at;
    used += widthOf(characterAt(text, at).code);
    if (used > width) break;
    from = at;
  }
  return text.substr(from);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool isPlain(std::string_view text) {
  // Eight bytes at a time: the top bit of each that is none of 0x20 to 0x7e; beside such a byte maybe of
  // others, too.
  constexpr uint64_t kEach = 0x0101010101010101, kTop = 0x80 * kEach;
  uint64_t word = 0, odd = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    odd |= ((word - 0x20 * kEach) | (word + kEach) | word) & kTop;
  }
  for (const char byte : text) odd |= static_cast<uint8_t>(byte - 0x20) < 0x5f ? 0 : 1;
  return odd == 0;
}

void appendPrintable(std::string& out, std::string_view name) {
  if (isPlain(name)) {
    out += name;
    return;
  }
  const std::string text = validUtf8(name);
  for (size_t at = 0; at < text.size();) {
    const Character next = characterAt(text, at);
    if (isIn(kUnprintable, next.code))
      appendEscape(out, next.code);
    else
      out += next.bytes;
    at += next.bytes.size();
  }
}

std::string printable(std::string_view name) {
  std::string text;
  appendPrintable(text, name);
  return text;
}

size_t displayWidth(std::string_view text) {
  if (isPlain(text)) return text.size();
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Character next = characterAt(text, at);
    width += widthOf(next.code);
    at += next.bytes.size();
  }
  return width;
}

namespace {

/// Where the longest path of members begins that is no wider than `width`, at its dot; npos: there is none.
size_t fittingMember(std::string_view text, size_t width) {
  constexpr std::string_view kOpening = "<([{", kClosing = ">)]}", kAlternative = " | ";
  int depth = 0;
  for (size_t at = 0; at < text.size() && !text.substr(at).starts_with(kAlternative); ++at) {
    if (kOpening.find(text[at]) != std::string_view::npos) ++depth;
    if (kClosing.find(text[at]) != std::string_view::npos) --depth;
    if (text[at] == '.' && depth == 0 && displayWidth(text.substr(at)) <= width) return at;
  }
  return std::string_view::npos;
}

}  // namespace

void appendShortened(std::string& out, std::string_view text, size_t width, Shorten shorten) {
  appendShortened(out, text, displayWidth(text), width, shorten);
}

void appendShortened(std::string& out, std::string_view text, size_t columns, size_t width, Shorten shorten) {
  if (columns <= width) {
    out += text;
    return;
  }
  const size_t room = width - 1;
  if (shorten == Shorten::members) {
    const size_t member = fittingMember(text, room);
    if (member == std::string_view::npos) return appendShortened(out, text, columns, width, Shorten::middle);
    out += kEllipsis;
    out += text.substr(member);
    return;
  }
  const size_t tail = shorten == Shorten::middle ? room / 2 : room;
  const size_t front = shorten == Shorten::middle ? room - tail : room;
  const bool single = columns == text.size();  // only characters of one byte have as many columns as bytes
  if (shorten != Shorten::start) out += single ? text.substr(0, front) : clipEnd(text, front);
  out += kEllipsis;
  if (shorten != Shorten::end) out += single ? text.substr(text.size() - tail) : clipStart(text, tail);
}

std::vector<std::string> breakText(std::string_view text, size_t width) {
  if (displayWidth(text) <= width) return {std::string(text)};
  std::vector<std::string> pieces;
  const auto add = [&](std::string_view piece) {
    piece = trimmed(piece);
    if (!piece.empty()) pieces.emplace_back(piece);
  };
  size_t from = 0, used = 0;
  for (size_t at = 0; at < text.size();) {
    const Character next = characterAt(text, at);
    const size_t columns = widthOf(next.code);
    while (used + columns > width) {
      const std::string_view piece = text.substr(from, at - from);
      const size_t last = piece.find_last_of(", ");
      const size_t end = last == std::string_view::npos ? piece.size() : last + 1;
      add(piece.substr(0, end));
      from += end;
      used = displayWidth(piece.substr(end));
    }
    used += columns;
    at += next.bytes.size();
  }
  add(text.substr(from));
  return pieces;
}

std::vector<std::string> wrap(std::string_view text, size_t width, std::string_view first,
                              std::string_view rest) {
  const size_t most = std::min(width, kProseWidth), indent = displayWidth(rest);
  const size_t room = most > indent ? most - indent : 1;
  std::vector<std::string> lines{std::string(first)};
  size_t used = 0;  // behind the indent
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string word;
    appendShortened(word, text.substr(0, end), room, Shorten::middle);
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
    const size_t columns = displayWidth(word);
    if (used > 0 && used + 1 + columns > room) {
      lines.emplace_back(rest);
      used = 0;
    }
    if (used > 0) lines.back() += ' ';
    lines.back() += word;
    used += (used > 0 ? 1 : 0) + columns;
  }
  return lines;
}

void appendFixed(std::string& out, double value, int digits) {
  // Only a number of this form lies exactly in the middle of two others; to_chars would take the even one.
  const double half = std::ldexp(value, digits + 1);
  if (half == std::floor(half) && std::fmod(half, 2) == 1)
    value = std::nextafter(value, std::numeric_limits<double>::infinity());
  std::array<char, 400> text{};  // the largest number has 309 digits
  out.append(
      text.data(),
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits).ptr);
}

void appendNumber(std::string& out, uint64_t number) {
  std::array<char, 20> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void appendRanges(std::string& out, const std::vector<uint32_t>& numbers) {
  for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    for (end = begin + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1;) ++end;
    if (begin > 0) out += ',';
    appendNumber(out, numbers[begin]);
    if (end - begin == 1) continue;
    out += '-';
    appendNumber(out, numbers[end - 1]);
  }
}

void appendHex(std::string& out, uint64_t number) {
  std::array<char, 18> text{'0', 'x'};
  out.append(text.data(), std::to_chars(text.data() + 2, text.data() + text.size(), number, 16).ptr);
}

}  // namespace cacheline::text
