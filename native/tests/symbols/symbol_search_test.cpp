// Where binaries, kernels and modules are found when they are not, or no longer, at their recorded path.
#include "symbols/symbol_search.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// A recorded program at /opt/recorded/p, which is nowhere on this machine.
class SymbolSearchTest : public testing::Test {
 protected:
  static constexpr const char* kPath = "/opt/recorded/p";
  SymbolSearchTest() {
    whole = compile(dir, "whole", "cpp", scopesSource(), "-g -O1 -Wl,--build-id=sha1");
    id = readBuildId(whole);
    idPath = ".build-id/" + id.substr(0, 2) + "/" + id.substr(2);
    options.home = dir.file("home");
    options.debugRoots = {dir.file("debug")};
  }
  std::string put(const std::string& from, const std::string& to) const {
    fs::create_directories(fs::path(to).parent_path());
    fs::copy(from, to);
    return to;
  }
  FoundBinary find() const { return SymbolSearch(options).binary(kPath, id); }
  void expectFound(const std::string& file) const {
    const FoundBinary found = find();
    ASSERT_TRUE(found.image) << found.detail;
    EXPECT_EQ(found.image->path(), file);
    EXPECT_EQ(found.detail, "");
  }
  TempDir dir;
  std::string whole, id, idPath;
  SymbolOptions options;
};

TEST_F(SymbolSearchTest, NowhereSaysWhereItWasLookedFor) {
  const FoundBinary found = find();
  EXPECT_FALSE(found.image);
  EXPECT_FALSE(found.changed);
  EXPECT_NE(found.detail.find(std::string("open ") + kPath), std::string::npos) << found.detail;
  EXPECT_NE(found.detail.find(id), std::string::npos) << found.detail;
  EXPECT_NE(found.detail.find("--symfs"), std::string::npos) << found.detail;
}

TEST_F(SymbolSearchTest, UnderSymfs) {
  options.symfs = dir.file("target");
  const std::string file = put(whole, dir.file("target/opt/recorded/p"));
  expectFound(file);
  id.clear();
  expectFound(file);
}

TEST_F(SymbolSearchTest, APathCannotLeadOutOfSymfs) {
  options.symfs = dir.file("target");
  fs::create_directories(dir.file("target"));
  EXPECT_FALSE(SymbolSearch(options).binary("/../whole", "").image);
}

TEST_F(SymbolSearchTest, WithSymfsThisMachinesFileMustProveItself) {
  options.symfs = dir.file("target");
  EXPECT_FALSE(SymbolSearch(options).binary(whole, "").image) << "it may be another program of the same name";
  EXPECT_TRUE(SymbolSearch(options).binary(whole, id).image);
}

TEST_F(SymbolSearchTest, InPerfsCache) {
  for (const std::string& place :
       {idPath + "/elf", idPath + "/debug", idPath, std::string("opt/recorded/p/") + id + "/elf"}) {
    const std::string file = put(whole, dir.file("home/.debug/" + place));
    expectFound(file);
    fs::remove_all(dir.file("home"));
  }
}

TEST_F(SymbolSearchTest, InTheBuildIdFolders) {
  expectFound(put(whole, dir.file("debug/" + idPath)));
  options.symfs = dir.file("target");
  expectFound(put(whole, dir.file("target") + dir.file("debug/" + idPath)));
}

TEST_F(SymbolSearchTest, IdsOfOldRecordingsArePadded) {
  whole = compile(dir, "md5", "c", "int main(void) { return 0; }\n", "-Wl,--build-id=md5");
  id = readBuildId(whole);
  ASSERT_EQ(id.size(), 32u);
  const std::string file =
      put(whole, dir.file("debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug"));
  id += "00000000";
  expectFound(file);
}

TEST_F(SymbolSearchTest, AChangedFileIsPassedOverForTheRecordedOne) {
  options.symfs = dir.file("target");
  put(compile(dir, "other", "c", "int main(void) { return 1; }\n", "-g"), dir.file("target/opt/recorded/p"));
  const FoundBinary changed = find();
  EXPECT_FALSE(changed.image);
  EXPECT_TRUE(changed.changed);
  EXPECT_NE(changed.detail.find("another build"), std::string::npos) << changed.detail;
  expectFound(put(whole, dir.file("home/.debug/" + idPath + "/elf")));
}

TEST_F(SymbolSearchTest, ADebugFileAloneGivesNamesAndLines) {
  NEED_TOOL("objcopy", "binutils");
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug whole p.debug");
  const std::string file = put(dir.file("p.debug"), dir.file("debug/" + idPath + ".debug"));
  SymbolSearch search(options);
  const auto module = Module::open(kPath, id, search);
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  EXPECT_EQ(module->path(), kPath);
  EXPECT_EQ(module->file(), file);
  EXPECT_NE(module->detail().find("itself was not found"), std::string::npos) << module->detail();
  const uint64_t work = *ElfImage::open(whole)->addressOfSymbol("_ZN3app4workEPNS_7CounterEi");
  EXPECT_EQ(module->framesAt(work).back().function, "app::work(app::Counter*, int)");
  // The binary itself is preferred once it is there.
  put(whole, dir.file("home/.debug/" + idPath + "/elf"));
  EXPECT_FALSE(find().image->isDebugOnly());
}

TEST_F(SymbolSearchTest, AStrippedCopyFollowsTheDebugLinkFromItsRecordedFolder) {
  NEED_TOOL("objcopy", "binutils");
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug whole p.debug && objcopy --strip-all" +
          " --add-gnu-debuglink=p.debug whole stripped");
  options.symfs = dir.file("target");
  put(dir.file("stripped"), dir.file("home/.debug/" + idPath + "/elf"));
  const std::string debug = put(dir.file("p.debug"), dir.file("debug/opt/recorded/p.debug"));
  SymbolSearch search(options);
  const auto module = Module::open(kPath, id, search);
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  EXPECT_EQ(module->debugFile(), debug);
}

TEST_F(SymbolSearchTest, VmlinuxByPathAndByBuildId) {
  const auto find = [&](const std::string& buildId) {
    return SymbolSearch(options).vmlinux("6.1.0-test", buildId);
  };
  EXPECT_NE(find(id).detail.find("--vmlinux"), std::string::npos);
  EXPECT_NE(find("").detail.find("no build id"), std::string::npos);
  options.vmlinux = whole;
  EXPECT_TRUE(find("").image) << "the user vouches for it";
  EXPECT_TRUE(find(id).image);
  const FoundBinary other = find(std::string(40, 'a'));
  EXPECT_FALSE(other.image);
  EXPECT_NE(other.detail.find("another build"), std::string::npos) << other.detail;
  options.vmlinux.clear();
  options.symfs = dir.file("target");
  const std::string file = put(whole, dir.file("target/boot/vmlinux-6.1.0-test"));
  EXPECT_FALSE(find("").image) << "a release name proves nothing";
  ASSERT_TRUE(find(id).image);
  EXPECT_EQ(find(id).image->path(), file);
}

TEST_F(SymbolSearchTest, KernelModulesByPathAndByBuildId) {
  const std::string path = "/lib/modules/6.1.0-test/kernel/fs/m.ko";
  const auto find = [&](const std::string& at, const std::string& buildId) {
    return SymbolSearch(options).kernelModule(at, buildId);
  };
  EXPECT_NE(find(path, id).detail.find("--symfs"), std::string::npos);
  EXPECT_NE(find(path + ".xz", id).detail.find("Compressed"), std::string::npos);
  options.symfs = dir.file("target");
  put(whole, dir.file("target") + path);
  EXPECT_TRUE(find(path, "").image);
  EXPECT_TRUE(find(path + ".zst", id).image) << "the decompressed file beside it";
  EXPECT_TRUE(find(path, std::string(40, 'a')).changed);
  put(whole, dir.file("debug/" + idPath + ".debug"));
  EXPECT_TRUE(find("[m]", id).image);
  EXPECT_FALSE(find("[m]", "").image);
}

}  // namespace
}  // namespace cacheline::symbols
