// Helpers shared by the symbol tests.
#include "fixture.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace cacheline::symbols::test {

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "cacheline-symbols-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
  path_ = std::filesystem::canonical(pattern).string();
}
TempDir::~TempDir() {
  std::error_code ec;
  std::filesystem::remove_all(path_, ec);
}

void writeFile(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::stringstream content;
  content << in.rdbuf();
  return content.str();
}

CommandResult run(const std::string& command) {
  CommandResult result;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[65536];
  for (size_t n; (n = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  result.status = ::pclose(pipe);
  return result;
}

std::string mustRun(const std::string& command) {
  CommandResult result = run(command);
  if (result.status != 0)
    throw std::runtime_error("status " + std::to_string(result.status) + " of " + command);
  return result.output;
}

bool haveTool(const std::string& name) {
  return run("command -v " + name + " >/dev/null 2>&1").status == 0;
}

std::string compile(const TempDir& dir, const std::string& name, const std::string& extension,
                    const std::string& source, const std::string& flags, std::string compiler) {
  const std::string file = dir.file(name + "." + extension), binary = dir.file(name);
  writeFile(file, source);
  if (compiler.empty()) compiler = extension == "c" ? CACHELINE_TEST_CC : CACHELINE_TEST_CXX;
  if (extension == "cpp") compiler += " -std=c++20";
  mustRun("cd " + dir.path() + " && " + compiler + " " + flags + " -o " + binary + " " + file);
  return binary;
}

uint32_t lineOf(const std::string& source, const std::string& marker) {
  std::istringstream lines(source);
  std::string line;
  uint32_t number = 0, found = 0;
  while (std::getline(lines, line)) {
    number++;
    const size_t at = line.find("// @" + marker);
    if (at == std::string::npos || at + 4 + marker.size() != line.size()) continue;
    EXPECT_EQ(found, 0u) << "marker " << marker << " twice";
    found = number;
  }
  EXPECT_NE(found, 0u) << "no marker " << marker;
  return found;
}

std::optional<uint64_t> addressOf(const ElfImage& image, const std::string& mangledName) {
  if (image.isRelocatable()) return image.addressOfSymbol(mangledName);  // no segments yet
  for (const Segment& segment : image.segments())
    for (uint64_t address = segment.address; address < segment.address + segment.memorySize; address++) {
      const Symbol* symbol = segment.executable ? image.functionAt(address) : image.dataAt(address);
      if (symbol != nullptr && symbol->name == mangledName) return symbol->address;
    }
  return std::nullopt;
}

void expectSymbolsOfNm(const std::string& binary, size_t fewest) {
  auto image = ElfImage::open(binary);
  struct At {
    uint64_t largest = 0;
    std::map<std::string, uint64_t> names;
  };
  std::map<uint64_t, At> functions, data;
  std::istringstream lines(mustRun("nm -f sysv --defined-only " + binary));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> columns;  // Name|Value|Class|Type|Size|Line|Section
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '|');) {
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      columns.push_back(cell);
    }
    if (columns.size() < 6 || (columns[3] != "FUNC" && columns[3] != "OBJECT" && columns[3] != "GNU_IFUNC" &&
                               columns[3] != "<OS specific>: 10"))
      continue;
    const uint64_t address = std::stoull(columns[1], nullptr, 16);
    const uint64_t size = columns[4].empty() ? 0 : std::stoull(columns[4], nullptr, 16);
    if (size == 0) continue;
    At& at = (columns[3] == "OBJECT" ? data : functions)[address];
    at.largest = std::max(at.largest, size);
    at.names[columns[0]] = size;
  }
  ASSERT_GT(functions.size(), 1u);
  ASSERT_GT(data.size(), fewest);
  for (bool isData : {false, true}) {
    uint64_t coveredTo = 0;  // symbols inside of an earlier one are covered by it
    for (const auto& [address, at] : isData ? data : functions) {
      if (address >= coveredTo) {
        const Symbol* first = isData ? image->dataAt(address) : image->functionAt(address);
        const Symbol* last =
            isData ? image->dataAt(address + at.largest - 1) : image->functionAt(address + at.largest - 1);
        ASSERT_NE(first, nullptr) << std::hex << address << " " << at.names.begin()->first;
        EXPECT_EQ(first->address, address);
        EXPECT_EQ(first->size, at.largest);
        EXPECT_TRUE(at.names.count(std::string(first->name))) << first->name;
        EXPECT_EQ(first, last);
      }
      coveredTo = std::max(coveredTo, address + at.largest);
    }
  }
}

const std::string& scopesSource() {
  static const std::string source = R"code(
#include <atomic>
#include <cstdio>
    namespace app {
    struct Counter {
      std::atomic<long> value{0};
      static long total;  // @total_declared
      static inline int instances = 3;  // @instances
      inline long bump(long by) {
        return value.fetch_add(by);  // @fetch_add
      }
    };
    long Counter::total = 7;  // @total
    namespace {
    long hidden[12] = {1};  // @hidden
    }
    template <typename T>
    struct Box {
      static T last;  // @last_declared
    };
    template <typename T>
    T Box<T>::last = 5;  // @last
    struct Pair {
      char tag;
      struct {
        int x, y;
      } points[3][4];
    } pairs[2] = {{'a', {}}};  // @pairs
    thread_local long perThread = 9;
    inline long twice(Counter& counter) {
      return counter.bump(1) +  // @bump1
             counter.bump(2);   // @bump2
    }
    __attribute__((noinline)) long work(Counter* counter, int n) {
      static long calls = 1;  // @calls
      calls += n;
      {
        static short inner = 2;  // @inner
        inner = static_cast<short>(inner + n);
      }
      long sum = twice(*counter);  // @twice
      Box<int>::last += n;
      hidden[n & 7] += sum;
      perThread += sum;
      return sum + Counter::total + Counter::instances + pairs[n & 1].points[1][2].x;
    }
    }  // namespace app
    extern "C" { int plain_c_variable = 4; }  // @plain_c_variable
app::Counter shared;  // @shared
    int main(int argc, char**) {
      long sum = app::work(&shared, argc);  // @main_call
      std::printf("%ld %d\n", sum, plain_c_variable);
      return 0;
    }
  )code";
  return source;
}

}  // namespace cacheline::symbols::test
