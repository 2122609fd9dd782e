// Separate debug files: debug links, build-id folders, and those that must be refused.
#include "symbols/debug_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// A stripped program `dir/bin/p` with a debug link to p.debug, which is made at dir/p.debug.
struct Stripped {
  explicit Stripped(const std::string& flags = "-g -O1") {
    const std::string whole = compile(dir, "whole", "cpp", scopesSource(), flags);
    buildId = readBuildId(whole);
    fs::create_directories(dir.file("bin/.debug"));
    mustRun("cd " + dir.path() + " && objcopy --only-keep-debug whole p.debug && objcopy --strip-all" +
            " --add-gnu-debuglink=p.debug whole bin/p && rm whole");
  }
  std::string program() const { return dir.file("bin/p"); }
  std::string idPath() const { return ".build-id/" + buildId.substr(0, 2) + "/" + buildId.substr(2); }
  void moveDebugFileTo(const std::string& path) const {
    fs::create_directories(fs::path(path).parent_path());
    fs::rename(dir.file("p.debug"), path);
  }
  DebugFile find(const std::string& root) const {
    SymbolOptions options;
    options.home.clear();
    options.debugRoots = {root};
    SymbolSearch search(options);
    const auto image = ElfImage::open(program());
    const MappedFile mapped = MappedFile::open(program());
    return findDebugFile(*image, ElfFile::parse(mapped.bytes(), program()), program(), search);
  }
  TempDir dir;
  std::string buildId;
};

/// Address of app::work, which only the debug file can tell.
uint64_t workAddress(const std::string& debugFile) {
  return *addressOf(*ElfImage::open(debugFile), "_ZN3app4workEPNS_7CounterEi");
}

void expectComplete(const std::string& program, const std::string& debugFile) {
  auto module = Module::open(program, readBuildId(program));
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  EXPECT_EQ(module->debugFile(), debugFile);
  const uint64_t work = workAddress(debugFile);
  const auto frames = module->framesAt(work);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "app::work(app::Counter*, int)");
  EXPECT_GT(frames.back().line, 0u);
  const Symbol* symbol = module->image()->functionAt(work);
  ASSERT_NE(symbol, nullptr) << "the debug file's symbols serve the stripped binary";
  EXPECT_EQ(symbol->name, "_ZN3app4workEPNS_7CounterEi");
  EXPECT_FALSE(module->image()->bytesAt(work, 4).empty()) << "bytes come from the program itself";
}

class DebugFiles : public testing::Test {
 protected:
  void SetUp() override { NEED_TOOL("objcopy", "binutils"); }
};

TEST_F(DebugFiles, DebugLinkBesideTheProgram) {
  Stripped s;
  s.moveDebugFileTo(s.dir.file("bin/p.debug"));
  expectComplete(s.program(), s.dir.file("bin/p.debug"));
}

TEST_F(DebugFiles, DebugLinkInTheDebugFolder) {
  Stripped s("-g -O1 -Wl,--build-id=none");
  s.moveDebugFileTo(s.dir.file("bin/.debug/p.debug"));
  expectComplete(s.program(), s.dir.file("bin/.debug/p.debug"));
}

TEST_F(DebugFiles, DebugLinkUnderARoot) {
  Stripped s;
  const std::string root = s.dir.file("usr-lib-debug");
  const std::string path = root + s.dir.file("bin") + "/p.debug";
  s.moveDebugFileTo(path);
  const DebugFile found = s.find(root);
  ASSERT_TRUE(found.image) << found.reason;
  EXPECT_EQ(found.image->path(), path);
}

TEST_F(DebugFiles, BuildIdUnderARoot) {
  Stripped s;
  const std::string root = s.dir.file("root");
  s.moveDebugFileTo(root + "/" + s.idPath() + ".debug");
  const DebugFile found = s.find(root);
  ASSERT_TRUE(found.image) << found.reason;
  EXPECT_EQ(found.image->buildId(), s.buildId);
}

TEST_F(DebugFiles, PerfsCacheInTheHomeFolder) {
  for (const char* layout : {"/elf", "/debug", ""}) {
    Stripped s;
    const std::string cache = s.dir.file("home/.debug");
    const std::string target = cache + "/usr/bin/p/" + s.buildId + layout;
    s.moveDebugFileTo(target);
    const fs::path link = cache + "/" + s.idPath();
    fs::create_directories(link.parent_path());
    fs::create_symlink("../../usr/bin/p/" + s.buildId, link);
    const char* home = std::getenv("HOME");
    const std::string saved = home == nullptr ? "" : home;
    ::setenv("HOME", s.dir.file("home").c_str(), 1);
    expectComplete(s.program(), cache + "/" + s.idPath() + layout);
    ::setenv("HOME", saved.c_str(), 1);
  }
}

TEST_F(DebugFiles, AnotherBuildIsRefusedByItsBuildId) {
  Stripped s;
  const std::string root = s.dir.file("root");
  const std::string path = root + "/" + s.idPath() + ".debug";
  fs::create_directories(fs::path(path).parent_path());
  fs::copy(compile(s.dir, "other", "c", "int main(void) { return 1; }\n", "-g"), path);
  const DebugFile found = s.find(root);
  EXPECT_FALSE(found.image);
  EXPECT_NE(found.reason.find("another build"), std::string::npos) << found.reason;
  EXPECT_NE(found.reason.find(s.buildId), std::string::npos) << found.reason;
}

TEST_F(DebugFiles, AChangedDebugLinkTargetIsRefusedByItsCrc) {
  Stripped s("-g -O1 -Wl,--build-id=none");
  std::string bytes = readFile(s.dir.file("p.debug"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  writeFile(s.dir.file("bin/p.debug"), bytes);
  auto module = Module::open(s.program(), "");
  EXPECT_EQ(module->debugFile(), "");
  EXPECT_EQ(module->status(), ModuleStatus::noSymbols);
  EXPECT_NE(module->detail().find("CRC-32"), std::string::npos) << module->detail();
}

TEST_F(DebugFiles, ADebugFileWithoutDwarfServesItsSymbols) {
  Stripped s("-O1");
  s.moveDebugFileTo(s.dir.file("bin/p.debug"));
  auto module = Module::open(s.program(), "");
  EXPECT_EQ(module->status(), ModuleStatus::noDebugInfo) << module->detail();
  const auto frames = module->framesAt(workAddress(s.dir.file("bin/p.debug")));
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "app::work(app::Counter*, int)");
}

TEST(DebugLinkCrc, KnownValues) {
  const auto crc = [](const std::string& text) {
    return debugLinkCrc({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(crc(""), 0u);
  EXPECT_EQ(crc("123456789"), 0xCBF43926u);  // the check value of CRC-32/ISO-HDLC
  EXPECT_EQ(crc("The quick brown fox jumps over the lazy dog"), 0x414FA339u);
}

}  // namespace
}  // namespace cacheline::symbols
