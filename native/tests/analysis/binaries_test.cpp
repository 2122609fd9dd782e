// Binaries that lie elsewhere, are another build or are gone: what is still named, and the reason for the
// rest.
#include "analysis/binaries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/code_names.h"
#include "analysis/data_names.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

namespace fs = std::filesystem;
using namespace test;

/// The program as a recording names it, at a path that this machine has not.
class RecordedBinary : public testing::Test {
 protected:
  RecordedBinary() {
    options.home = folder / "home";
    options.debugRoots = {folder / "debug"};
    id = symbols::readBuildId(program());
  }
  Backing backing(const std::string& buildId) const {
    Backing result;
    result.name = "/opt/recorded/server";
    result.buildId = buildId;
    return result;
  }
  std::string put(const std::string& to) const {
    fs::create_directories(fs::path(folder / to).parent_path());
    fs::copy(program(), folder / to);
    return folder / to;
  }
  void objcopy(const std::string& flags, const std::string& to) const {
    fs::create_directories(fs::path(folder / to).parent_path());
    const std::string command = "objcopy " + flags + " " + program() + " " + (folder / to);
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
  static uint64_t offsetOf(uint64_t address) {
    const auto image = symbols::ElfImage::open(program());
    for (const symbols::Segment& segment : image->segments())
      if (address - segment.address < segment.memorySize)
        return address - segment.address + segment.fileOffset;
    throw std::runtime_error("outside the program");
  }
  std::string idPath() const { return ".build-id/" + id.substr(0, 2) + "/" + id.substr(2); }

  perfdata::testing::TempFolder folder;
  perfdata::Features features;
  Meta meta;
  symbols::SymbolOptions options;
  std::string id;
};

TEST_F(RecordedBinary, GoneIsNamedByItsPathAndTheReason) {
  Binaries binaries(features, meta, options);
  CodeNames names(binaries);
  const uint32_t binary = binaries.of(backing(id));
  const SharedName name = names.atOffset(binary, offsetOf(kLoad));
  EXPECT_EQ(name->object, "server");
  EXPECT_EQ(name->symbol, "");
  EXPECT_EQ(name->why, Unnamed::noBinary);
  EXPECT_EQ(name->elfAddress, 0u);
  EXPECT_EQ(names.atOffset(binary, 0x99), name) << "one entry for all of it";
  binaries.countSample(binary);
  const auto states = binaries.states();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].buildId, id) << "what the recording itself says stays";
  EXPECT_EQ(states[0].status, "missing");
  EXPECT_NE(states[0].detail.find("--symfs"), std::string::npos) << states[0].detail;
}

TEST_F(RecordedBinary, UnderSymfsItIsNamedAndDecoded) {
  options.symfs = folder / "target";
  put("target/opt/recorded/server");
  Binaries binaries(features, meta, options);
  CodeNames names(binaries);
  const uint32_t binary = binaries.of(backing(""));
  EXPECT_NE(binaries.codeImage(binary), nullptr);
  const SharedName name = names.atOffset(binary, offsetOf(kLoad));
  EXPECT_EQ(name->symbol, symbols::ElfImage::open(program())->functionAt(kLoad)->name);
  EXPECT_EQ(name->object, "server");
  EXPECT_EQ(name->why, Unnamed::named);
  EXPECT_EQ(name->elfAddress, kLoad);
  EXPECT_GT(name->line, 0u);
  EXPECT_EQ(names.at(binary, kLoad), name);
  EXPECT_EQ(names.atOffset(binary, 1 << 30)->why, Unnamed::outsideFile);
  EXPECT_EQ(names.atOffset(kNone, 0)->why, Unnamed::generated);
}

TEST_F(RecordedBinary, AnotherBuildGivesAddressesOnly) {
  options.symfs = folder / "target";
  put("target/opt/recorded/server");
  Binaries binaries(features, meta, options);
  CodeNames names(binaries);
  const uint32_t binary = binaries.of(backing(std::string(40, 'd')));
  EXPECT_EQ(names.atOffset(binary, offsetOf(kLoad))->why, Unnamed::changedBinary);
  EXPECT_EQ(binaries.codeImage(binary), nullptr);
  EXPECT_EQ(binaries.module(binary).status(), symbols::ModuleStatus::changed);
}

TEST_F(RecordedBinary, ADebugFileAloneNamesCodeAndDataButIsNotDecoded) {
  objcopy("--only-keep-debug", "debug/" + idPath() + ".debug");
  Binaries binaries(features, meta, options);
  CodeNames names(binaries);
  const uint32_t binary = binaries.of(backing(id));
  EXPECT_EQ(binaries.codeImage(binary), nullptr) << "there is no code in it";
  const SharedName name = names.atOffset(binary, offsetOf(kLoad));
  EXPECT_EQ(name->symbol, symbols::ElfImage::open(program())->functionAt(kLoad)->name);
  EXPECT_EQ(name->elfAddress, kLoad);
  EXPECT_GT(name->line, 0u);
  uint64_t address = 0;
  ASSERT_TRUE(binaries.elfAddress(binary, offsetOf(kData), address));
  EXPECT_EQ(address, kData);
}

TEST_F(RecordedBinary, WhatIsMissingFirstIsSaid) {
  struct Case {
    const char* flags;
    Unnamed why;
    bool symbol;
  };
  for (const Case& each :
       {Case{"--strip-debug", Unnamed::noDebugInfo, true}, Case{"--strip-all", Unnamed::noSymbols, false}}) {
    const std::string place = std::string("home/.debug/opt/recorded/server/") + id + "/elf";
    fs::remove_all(folder / "home");
    objcopy(each.flags, place);
    Binaries binaries(features, meta, options);
    CodeNames names(binaries);
    const uint32_t binary = binaries.of(backing(id));
    const SharedName name = names.atOffset(binary, offsetOf(kLoad));
    EXPECT_EQ(name->why, each.why) << each.flags << " " << unnamedReason(name->why);
    EXPECT_EQ(!name->symbol.empty(), each.symbol) << each.flags;
    EXPECT_EQ(name->line, 0u);
    EXPECT_NE(binaries.codeImage(binary), nullptr) << "stripped code can still be decoded";
  }
}

TEST_F(RecordedBinary, SplitDebugInformationThatIsGoneIsAWarning) {
  std::ofstream(folder / "split.c") << "int one; int main(void) { return one; }\n";
  const std::string command =
      "cd " + (folder / "") + " && " + CACHELINE_TEST_CC + " -g -gsplit-dwarf -o server split.c && rm *.dwo";
  ASSERT_EQ(std::system(command.c_str()), 0);
  Backing split;
  split.name = folder / "server";
  Binaries binaries(features, meta, options);
  const uint32_t binary = binaries.of(split);
  const auto main = binaries.image(binary)->addressOfSymbol("main");
  binaries.countSample(binary);
  EXPECT_TRUE(binaries.warnings(1).empty()) << "nothing was asked of it";
  binaries.module(binary).framesAt(*main);
  const auto warnings = binaries.warnings(1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("names are missing (The debug information of "), std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("1 .dwo file that was not found"), std::string::npos) << warnings[0];
}

TEST_F(RecordedBinary, ACommonFileOfDwzThatIsGoneIsAWarning) {
  std::ofstream(folder / "link") << std::string("nowhere.debug\0", 14) << std::string(20, 'x');
  options.symfs = folder / "target";
  objcopy("--add-section .gnu_debugaltlink=" + (folder / "link"), "target/opt/recorded/server");
  Binaries binaries(features, meta, options);
  const uint32_t binary = binaries.of(backing(id));
  EXPECT_EQ(binaries.module(binary).status(), symbols::ModuleStatus::ok);
  EXPECT_TRUE(binaries.warnings(1).empty()) << "nothing was sampled in it";
  binaries.countSample(binary);
  const auto warnings = binaries.warnings(1);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("nowhere.debug, which was not found"), std::string::npos) << warnings[0];
}

TEST_F(RecordedBinary, WithoutABuildIdAFileOfAnotherArchitectureIsNotTaken) {
  features.arch = "aarch64";
  Binaries binaries(features, meta, options);
  Backing here;
  here.name = program();
  const uint32_t binary = binaries.of(here);
  EXPECT_EQ(binaries.module(binary).status(), symbols::ModuleStatus::changed);
  EXPECT_NE(binaries.module(binary).detail().find("aarch64"), std::string::npos)
      << binaries.module(binary).detail();
  here.buildId = id;
  EXPECT_EQ(binaries.module(binaries.of(here)).status(), symbols::ModuleStatus::ok) << "the id proves it";
}

TEST(Unnamed, EveryReasonIsAClause) {
  for (int why = 1; why <= static_cast<int>(Unnamed::noKernel); why++) {
    const std::string reason = unnamedReason(static_cast<Unnamed>(why));
    EXPECT_GT(reason.size(), 20u) << why;
    EXPECT_FALSE(reason.ends_with(".")) << reason;
  }
  EXPECT_STREQ(unnamedReason(Unnamed::named), "");
}

}  // namespace
}  // namespace cacheline::analysis
