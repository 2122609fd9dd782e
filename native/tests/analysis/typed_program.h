// A small program whose accesses are marked, and recordings of samples at them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../heap/file_builder.h"
#include "scenario.h"

namespace cacheline::analysis::test {

inline constexpr uint64_t kHeap = 0x5000000;
inline constexpr uint32_t kMain = 100, kThread = 101;

class Program {
 public:
  Program(const std::string& flags, const char* text, bool cpp = false) {
    const std::string source = folder_ / (cpp ? "typed.cpp" : "typed.c");
    std::ofstream(source) << text;
    path_ = folder_ / "typed";
    const std::string command = std::string(cpp ? CACHELINE_TEST_CXX : CACHELINE_TEST_CC) + " " + flags +
                                " -O1 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector"
                                " -Wl,--build-id=sha1 -o " +
                                path_ + " " + source;
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
    image_ = symbols::ElfImage::open(path_);
  }
  const std::string& path() const { return path_; }
  uint64_t address(const std::string& name) const { return image_->addressOfSymbol(name).value(); }
  /// Where samples of the marked access arrive: the instruction after it.
  uint64_t after(const std::string& access) const {
    const auto bytes = image_->bytesAt(address(access), 16);
    size_t length = 0;
    while (length < bytes.size() && bytes[length] != 0x90) ++length;
    return address(access) + length;
  }
  /// Where a call of `callee` in `function` returns to.
  uint64_t afterCall(const std::string& function, const std::string& callee) const {
    const auto code = image_->bytesAt(address(function), 64);
    for (size_t i = 0; i + 5 <= code.size(); ++i) {
      int32_t distance = 0;
      std::memcpy(&distance, &code[i + 1], sizeof distance);
      const uint64_t after = address(function) + i + 5;
      if (code[i] == 0xe8 && after + static_cast<int64_t>(distance) == address(callee)) return after;
    }
    throw std::runtime_error(function + " does not call " + callee);
  }

 private:
  perfdata::testing::TempFolder folder_;
  std::string path_;
  std::shared_ptr<const symbols::ElfImage> image_;
};

class Recorded : public testing::Test {
 protected:
  void begin(const Program& program) {
    program_ = &program;
    scenario_.startFile(kMain, program.path());
    scenario_.anonymous(kMain, kHeap, 0x10000, "[heap]");
    scenario_.thread(kMain, kThread);
  }
  /// `access` by a thread, with its argument.
  void touch(uint32_t tid, const std::string& access, uint64_t argument = 0) {
    scenario_.sample(kMain, tid, program_->after(access), {{kRegDi, argument}});
  }
  const Access& accessAt(uint64_t address) {
    for (const Line& line : report_.lines)
      for (const Access& access : line.accesses)
        if (line.address + access.offset == address) return access;
    throw std::runtime_error("nothing was accessed at " + std::to_string(address));
  }
  /// A heap block of the recording; `caller`: where the call that allocated it returns to, 0: not known.
  struct TimedBlock {
    uint64_t address = 0, size = 0, caller = 0;
    uint64_t allocated = 1, freed = 0;  ///< ns; 0: never
  };
  void analyzeWithTimedBlocks(const std::vector<TimedBlock>& blocks) {
    heap::test::FileBuilder file;
    auto& chunk = file.chunk(kMain, kMain, 1 + static_cast<uint32_t>(blocks.size() / 40));
    for (const TimedBlock& block : blocks) {
      if (block.caller != 0) chunk.record(HEAP_STACK, 1, {block.caller, block.caller});
      chunk.allocate(block.allocated, block.address, block.size, block.caller);
      if (block.freed != 0) chunk.free(block.freed, block.address);
    }
    analyzeWithHeap(file);
  }
  /// Blocks of these addresses and sizes were allocated before, by the call that returns to `caller`.
  void analyzeWithBlocks(const std::vector<std::pair<uint64_t, uint64_t>>& blocks,
                         const std::vector<uint64_t>& callers = {}) {
    heap::test::FileBuilder file;
    auto& chunk = file.chunk(kMain, kMain);
    uint64_t time = 0;
    constexpr uint64_t kStack = 77;
    std::vector<uint64_t> stack{kStack};
    stack.insert(stack.end(), callers.begin(), callers.end());
    if (!callers.empty()) chunk.record(HEAP_STACK, static_cast<uint32_t>(callers.size()), stack);
    for (const auto& [address, size] : blocks)
      chunk.allocate(++time, address, size, callers.empty() ? 0 : kStack);
    analyzeWithHeap(file);
  }
  void analyzeWithHeap(const heap::test::FileBuilder& file) {
    const std::string folder = scenario_.write();
    const std::vector<uint8_t> bytes = file.bytes();
    std::ofstream(folder + "/allocations", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    report_ = analyzeAt(folder, true);
  }
  void analyze() { report_ = scenario_.report(true); }
  /// Of the row of the instruction at `code`.
  const DataName& dataAt(uint64_t address, const std::string& code) {
    for (const Line& line : report_.lines)
      for (const Access& access : line.accesses)
        if (line.address + access.offset == address && access.elfAddress == program_->address(code))
          return access.data;
    throw std::runtime_error(code + " did not access " + std::to_string(address));
  }
  const TypeHeat& typeNamed(const std::string& name, bool nested) {
    for (const TypeHeat& type : report_.types)
      if (type.name == name && type.nested == nested) return type;
    throw std::runtime_error("no sum of " + name);
  }

  const Program* program_ = nullptr;
  Scenario scenario_;
  Report report_;
};

}  // namespace cacheline::analysis::test
