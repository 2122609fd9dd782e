// FIFOs in the places of files that debug information continues in: opening one waits for ever.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/error.h"
#include "layouts/queries.h"
#include "types_fixture.h"

namespace cacheline::layouts {
namespace {

using namespace types;
using namespace types::test;
using symbols::test::mustRun;
using symbols::test::writeFile;

/// A FIFO that notices who waits for it, and lets them go on.
class WatchedFifo {
 public:
  explicit WatchedFifo(const std::string& path) : path_(path) {
    std::filesystem::remove(path);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    watcher_ = std::thread([this] {
      while (!ends_) {
        // Without a reader this fails.
        if (const int fd = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC); fd >= 0) {
          opened_ = true;
          ::close(fd);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  ~WatchedFifo() {
    ends_ = true;
    watcher_.join();
    std::filesystem::remove(path_);
  }
  WatchedFifo(const WatchedFifo&) = delete;
  WatchedFifo& operator=(const WatchedFifo&) = delete;
  bool wasOpened() const { return opened_; }

 private:
  std::string path_;
  std::atomic<bool> ends_ = false, opened_ = false;
  std::thread watcher_;
};

/// What is said of a type, or why nothing can be.
std::string waitedFor(const std::string& binary, const std::string& type) {
  try {
    return layoutsJson(binary, type, {64, true});
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.nextStep();
  }
}

class WaitingFiles : public testing::Test {
 protected:
  void inFolder(const std::string& command) { mustRun("cd " + dir_.path() + " && " + command + " 2>&1"); }
  TempDir dir_;
};

TEST_F(WaitingFiles, InPlaceOfSplitDebugInformationAreNotOpened) {
  writeFile(dir_.file("a.c"), "struct Own { int a; long b; } own; int main(void) { return own.a; }\n");
  for (const char* version : {"-gdwarf-5", "-gdwarf-4"}) {
    inFolder("rm -f a.dwo && gcc -gsplit-dwarf -c a.c " + std::string(version) + " && gcc -o a a.o");
    inFolder("mkdir -p bin && cp a bin/a && cp a.dwo bin/a.dwo && rm -f a.dwo");
    const WatchedFifo fifo(dir_.file("a.dwo"));
    EXPECT_NE(waitedFor(dir_.file("a"), "Own").find("a.dwo"), std::string::npos);
    EXPECT_NE(typesJson(dir_.file("bin/a")).find("\"Own\""), std::string::npos) << "that beside it is read";
    const WatchedFifo beside(dir_.file("bin/a.dwo"));
    EXPECT_NE(waitedFor(dir_.file("bin/a"), "Own").find("a.dwo"), std::string::npos);
    EXPECT_FALSE(fifo.wasOpened() || beside.wasOpened()) << version;
  }
}

TEST_F(WaitingFiles, BesideTheBinaryDoNotHideTheOneInTheCompilersFolder) {
  writeFile(dir_.file("a.c"), "struct Own { int a; long b; } own; int main(void) { return own.a; }\n");
  inFolder("gcc -gdwarf-5 -gsplit-dwarf -c a.c && gcc -o a a.o && mkdir bin && cp a bin/a");
  const WatchedFifo fifo(dir_.file("bin/a.dwo"));
  EXPECT_NE(waitedFor(dir_.file("bin/a"), "Own").find("\"size\":16"), std::string::npos);
  EXPECT_FALSE(fifo.wasOpened());
}

TEST_F(WaitingFiles, InPlaceOfAPackageAreNotOpened) {
  writeFile(dir_.file("a.c"), "struct Own { int a; long b; } own; int main(void) { return own.a; }\n");
  inFolder("gcc -gdwarf-5 -gsplit-dwarf -c a.c && gcc -o a a.o");
  const WatchedFifo fifo(dir_.file("a.dwp"));
  waitedFor(dir_.file("a"), "Own");
  EXPECT_FALSE(fifo.wasOpened());
}

TEST_F(WaitingFiles, InPlaceOfDwzsCommonFileAreNotOpened) {
  NEED_TOOL("dwz", "dwz");
  writeFile(dir_.file("a.c"), "struct Own { int a; long b[40]; } own; int main(void) { return own.a; }\n");
  inFolder("gcc -g -o a a.c && cp a b && dwz -m common -M common a b");
  const WatchedFifo fifo(dir_.file("common"));
  const std::string said = waitedFor(dir_.file("a"), "Own");
  EXPECT_NE(said.find("continues in common, which is not a regular file"), std::string::npos) << said;
  EXPECT_FALSE(fifo.wasOpened());
}

}  // namespace
}  // namespace cacheline::layouts
