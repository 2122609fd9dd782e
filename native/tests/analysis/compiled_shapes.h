// Tests of the code that compilers make of small functions, at several levels.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "../perfdata/test_support.h"
#include "analysis/function_code.h"
#include "decode/instruction.h"

namespace cacheline::analysis {

/// By compiler and level. Skipped where the compiler is not installed.
class CompiledShapes : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 public:
  static std::string nameOf(const testing::TestParamInfo<ParamType>& info) {
    return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) + 1);
  }

 protected:
  /// Of a program in C.
  explicit CompiledShapes(const char* source) {
    const auto [compiler, level] = GetParam();
    if (std::system(("command -v " + std::string(compiler) + " > /dev/null").c_str()) != 0) return;
    std::ofstream(folder_ / "shapes.c") << source;
    const std::string path = folder_ / "shapes";
    const std::string command =
        std::string(compiler) + " -w " + level + " -g -o " + path + " " + (folder_ / "shapes.c");
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
    image_ = symbols::ElfImage::open(path);
  }

  void SetUp() override {
    if (image_ == nullptr) GTEST_SKIP() << "install " << std::get<0>(GetParam());
  }

  /// Calls `visit(instruction, code, address)` for each instruction of a function that accesses memory
  /// elsewhere than in its frame.
  template <typename Visit>
  void eachAccess(const std::string& name, Visit&& visit) const {
    const uint64_t start = image_->addressOfSymbol(name).value();
    Sweeps sweeps;
    const decode::Code code = sweptCode(*image_, functionAround(*image_, start).value(), start, sweeps);
    for (size_t at = 0; at < code.bytes.size(); ++at) {
      decode::Instruction instruction;
      if (!code.sweep.startsAt(at) ||
          !decode::decodeInstruction(code.bytes.subspan(at), start + at, instruction) ||
          !instruction.accesses || instruction.operand.base == kRegBp || instruction.operand.base == kRegSp)
        continue;
      visit(instruction, code, start + at);
    }
  }

 private:
  perfdata::testing::TempFolder folder_;
  std::shared_ptr<const symbols::ElfImage> image_;
};

}  // namespace cacheline::analysis
