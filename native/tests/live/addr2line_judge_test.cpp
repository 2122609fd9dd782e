// Frames against `addr2line -i`, instruction by instruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

/// A program with containers, algorithms, lambdas and exceptions: many inlines, many units' worth of headers.
const std::string& containersSource() {
  static const std::string source = R"code(
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
    struct Shape {
      virtual ~Shape() = default;
      virtual double area() const = 0;
    };
    struct Square : Shape {
      double side = 2;
      double area() const override { return side * side; }
    };
    static std::atomic<unsigned long> hits{0};
    template <typename Container>
    long tally(const Container& c) {
      return std::accumulate(c.begin(), c.end(), 0L, [](long a, const auto& kv) {
        hits.fetch_add(1);
        return a + kv.second;
      });
    }
    static std::string join(const std::vector<std::string>& parts) {
      std::string all;
      for (const auto& part : parts) {
        if (!all.empty()) all += ", ";
        all += part;
      }
      if (all.empty()) throw std::runtime_error("nothing");
      return all;
    }
    int main(int argc, char** argv) {
      std::vector<std::string> words(argv, argv + argc);
      std::map<std::string, int> tree;
      std::unordered_map<std::string, int> table;
      for (const auto& word : words) {
        tree[word]++;
        table[word] += 2;
      }
      std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
      std::vector<std::unique_ptr<Shape>> shapes;
      shapes.push_back(std::make_unique<Square>());
      std::function<double(const Shape&)> measure = [](const Shape& s) { return s.area(); };
      std::thread worker([&] {
        for (int i = 0; i < 3; i++) hits++;
      });
      worker.join();
      try {
        join(words);
      } catch (const std::exception& e) {
        return static_cast<int>(std::string(e.what()).size());
      }
      return static_cast<int>(tally(tree) + tally(table) + static_cast<long>(measure(*shapes[0])));
    }
  )code";
  return source;
}

/// Addresses of all instructions of .text.
std::vector<uint64_t> instructions(const std::string& binary) {
  std::vector<uint64_t> addresses;
  std::istringstream lines(mustRun("objdump -d --no-show-raw-insn -j .text " + binary));
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(":\t");
    if (line.starts_with(" ") && colon != std::string::npos)
      addresses.push_back(std::stoull(line.substr(0, colon), nullptr, 16));
  }
  return addresses;
}

struct JudgeFrame {
  std::string file;
  uint32_t line = 0;
  bool operator==(const JudgeFrame&) const = default;
};

std::string show(uint64_t address, const std::vector<JudgeFrame>& ours,
                 const std::vector<JudgeFrame>& theirs) {
  std::ostringstream out;
  out << std::hex << address << std::dec << "\n  ours:";
  for (const auto& f : ours) out << " " << f.file << ":" << f.line;
  out << "\n  addr2line:";
  for (const auto& f : theirs) out << " " << f.file << ":" << f.line;
  return out.str();
}

uint32_t lineCount(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return 0;
  const std::string content = readFile(path);
  return static_cast<uint32_t>(std::count(content.begin(), content.end(), '\n'));
}

std::string textuallyNormal(const std::string& path) {
  return path.starts_with("??") ? "" : std::filesystem::path(path).lexically_normal().string();
}

std::vector<std::vector<JudgeFrame>> addr2line(const TempDir& dir, const std::string& binary,
                                               const std::vector<uint64_t>& addresses) {
  std::ostringstream list;
  for (uint64_t address : addresses) list << std::hex << "0x" << address << "\n";
  writeFile(dir.file("addresses"), list.str());
  std::istringstream lines(mustRun("addr2line -a -i -e " + binary + " < " + dir.file("addresses")));
  std::vector<std::vector<JudgeFrame>> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      all.emplace_back();
      continue;
    }
    line = line.substr(0, line.find(" (discriminator"));
    const size_t colon = line.rfind(':');
    all.back().push_back({textuallyNormal(line.substr(0, colon)),
                          static_cast<uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10))});
  }
  return all;
}

class AgainstAddr2line : public testing::TestWithParam<std::string> {};

TEST_P(AgainstAddr2line, EverySeventhInstruction) {
  NEED_TOOL("addr2line", "binutils");
  NEED_TOOL("objdump", "binutils");
  TempDir dir;
  for (const auto* source : {&scopesSource(), &containersSource()}) {
    const std::string binary = compile(dir, "judged", "cpp", *source, GetParam());
    std::vector<uint64_t> addresses;
    const auto all = instructions(binary);
    for (size_t i = 0; i < all.size(); i += 7) addresses.push_back(all[i]);
    ASSERT_GT(addresses.size(), 10u);
    const auto judged = addr2line(dir, binary, addresses);
    ASSERT_EQ(judged.size(), addresses.size());
    auto module = Module::open(binary, "");
    size_t different = 0, withLines = 0;
    for (size_t i = 0; i < addresses.size(); i++) {
      std::vector<JudgeFrame> ours;
      for (const auto& frame : module->framesAt(addresses[i])) ours.push_back({frame.file, frame.line});
      if (ours.empty() || (ours.size() == 1 && ours[0].file.empty())) ours = {JudgeFrame{}};
      withLines += ours[0].line != 0;
      if (ours == judged[i]) continue;
      // Code without DWARF (the C runtime's start-up): addr2line guesses a file from the symbol table, we do
      // not.
      const bool guessed =
          judged[i].size() == 1 && judged[i][0].line == 0 && !judged[i][0].file.starts_with("/");
      if (guessed && ours.size() == 1 && ours[0] == JudgeFrame{}) continue;
      // Some versions of addr2line name the wrong file for a header's line: a line behind that file's end.
      if (ours.size() == judged[i].size() && ours[0].line == judged[i][0].line &&
          ours[0].line > lineCount(judged[i][0].file) && ours[0].line <= lineCount(ours[0].file))
        continue;
      if (different++ < 8) ADD_FAILURE() << show(addresses[i], ours, judged[i]);
    }
    EXPECT_EQ(different, 0u) << "of " << addresses.size();
    EXPECT_GT(withLines, addresses.size() / 4);
    RecordProperty("addresses", static_cast<int>(addresses.size()));
  }
}
INSTANTIATE_TEST_SUITE_P(Flags, AgainstAddr2line,
                         testing::Values("-g -O2", "-g -O0", "-g -O3 -gdwarf-4", "-g -O2 -no-pie -gz=zlib"));

}  // namespace
}  // namespace cacheline::symbols
