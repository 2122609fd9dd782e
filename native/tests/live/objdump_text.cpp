// Parses objdump's Intel-syntax listing, line by line.
#include "tests/live/objdump_text.h"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace cacheline::decode {
namespace {

constexpr std::array<std::string_view, 16> kPrefixes = {
    "lock", "rep", "repz", "repnz", "bnd", "notrack", "data16",   "addr32",
    "cs",   "ds",  "es",   "ss",    "fs",  "gs",      "xacquire", "xrelease"};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> splitOperands(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == '{')) ++depth;
    if (i < text.size() && (text[i] == ']' || text[i] == '}')) --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i > from) parts.push_back(trim(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  return parts;
}

void parseOperand(std::string_view text, int position, ListedInstruction& listed) {
  std::string size, segment;
  for (const std::string_view word : {" PTR ", " BCST "}) {
    const size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    size = std::string(text.substr(0, at));
    text.remove_prefix(at + word.size());
  }
  if (text.size() > 3 && text[2] == ':' && text[1] == 's') {
    segment = std::string(text.substr(0, 2));
    text.remove_prefix(3);
  }
  const size_t open = text.find('[');
  if (open == std::string_view::npos && segment.empty()) return;
  // movs names two: objdump writes the destination first, which is the one to charge; cmps: the first too.
  if (listed.memory) return;
  listed.memory = true;
  listed.position = position;
  listed.size = size;
  listed.segment = segment;
  listed.operand =
      std::string(open == std::string_view::npos ? text : text.substr(open + 1, text.rfind(']') - open - 1));
}

void parseText(std::string_view text, ListedInstruction& listed) {
  const size_t hash = text.find(" # ");
  if (hash != std::string_view::npos) {
    char* end = nullptr;
    const std::string comment(trim(text.substr(hash + 3)));
    listed.comment = std::strtoull(comment.c_str(), &end, 16);
    listed.hasComment = end != comment.c_str();
    text = text.substr(0, hash);
  }
  text = trim(text);
  listed.text = std::string(text);
  for (;;) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    bool prefix = word.substr(0, 4) == "rex." || word == "rex";
    for (const std::string_view known : kPrefixes) prefix = prefix || word == known;
    if (!prefix || space == std::string_view::npos) {
      listed.mnemonic = std::string(word);
      text = space == std::string_view::npos ? std::string_view{} : trim(text.substr(space));
      break;
    }
    listed.prefixes += std::string(word) + ' ';
    text = trim(text.substr(space));
  }
  int position = 0;
  for (const std::string_view operand : splitOperands(text)) parseOperand(operand, position++, listed);
  const bool branches = listed.mnemonic[0] == 'j' || listed.mnemonic == "call" ||
                        listed.mnemonic.rfind("loop", 0) == 0 || listed.mnemonic == "xbegin";
  if (branches && !listed.memory && !text.empty() &&
      std::isxdigit(static_cast<unsigned char>(text[0])) != 0) {
    const size_t name = text.find('<');
    const std::string digits(trim(text.substr(0, name)));
    char* end = nullptr;
    listed.target = std::strtoull(digits.c_str(), &end, 16);
    listed.hasTarget = *end == '\0';
  }
}

}  // namespace

std::vector<std::string> judgedBinaries() {
  std::vector<std::string> present;
  for (const char* path :
       {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/bin/bash",
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libx265.so.199"}) {
    if (::access(path, R_OK) == 0) present.emplace_back(path);
  }
  return present;
}

bool haveObjdump() {
  return std::system("objdump --version >/dev/null 2>&1") == 0;
}

void listFunctions(const std::string& path, const std::function<bool(const ListedFunction&)>& visit) {
  const std::string command = "objdump -d -w -M intel '" + path + "' 2>/dev/null";
  const auto close = [](FILE* f) { ::pclose(f); };
  const std::unique_ptr<FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  if (!pipe) throw std::runtime_error("cannot run objdump");
  ListedFunction function;
  char* line = nullptr;
  size_t capacity = 0;
  bool more = true;
  const auto flush = [&] {
    if (more && !function.instructions.empty()) more = visit(function);
    function = {};
  };
  while (::getline(&line, &capacity, pipe.get()) > 0) {
    const std::string_view view(line);
    const size_t firstTab = view.find('\t');
    if (firstTab == std::string_view::npos) {
      const size_t open = view.find('<');
      if (open != std::string_view::npos && view.find(">:") != std::string_view::npos) {
        flush();
        if (!more) break;
        function.name = std::string(view.substr(open + 1, view.rfind(">:") - open - 1));
      }
      continue;
    }
    const size_t secondTab = view.find('\t', firstTab + 1);
    if (secondTab == std::string_view::npos) continue;
    ListedInstruction listed;
    listed.address = std::strtoull(line, nullptr, 16);
    const char* cursor = line + firstTab + 1;
    for (char* end = nullptr; cursor < line + secondTab; cursor = end) {
      const unsigned long byte = std::strtoul(cursor, &end, 16);
      if (end == cursor || end > line + secondTab) break;
      listed.bytes.push_back(static_cast<uint8_t>(byte));
    }
    const std::string_view text = view.substr(secondTab + 1);
    if (text.find("(bad)") != std::string_view::npos) function.hasBadBytes = true;
    parseText(text, listed);
    function.instructions.push_back(std::move(listed));
  }
  std::free(line);
  flush();
}

}  // namespace cacheline::decode
