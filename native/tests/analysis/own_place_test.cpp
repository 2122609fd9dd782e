// The program's own function and line of code into which a library's was inlined, and the other way round.
#include "analysis/own_place.h"

#include <gtest/gtest.h>

#include "analysis/report.h"

namespace cacheline::analysis {
namespace {

constexpr const char* kAtomic =
    "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/sync/atomic.rs";
constexpr const char* kThreadSource =
    "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/std/src/thread/mod.rs";
constexpr const char* kOwn = "/home/me/src/main.rs";

/// An atomic in a closure of the program's, in what starts a thread.
CodeName closure() {
  CodeName code;
  code.symbol = "std::sys::backtrace::__rust_begin_short_backtrace";
  code.file = kAtomic;
  code.line = 3000;
  code.inlined = {{"core::sync::atomic::atomic_add", kAtomic, 3000},
                  {"main::count", kOwn, 12},
                  {"main::main::{{closure}}", kOwn, 30},
                  {"std::sys::backtrace::__rust_begin_short_backtrace", kThreadSource, 152}};
  return code;
}

/// "FUNCTION FILE:LINE".
std::string toldOf(const CodeName& code) {
  const OwnCode told = ownCode(code);
  return *told.function + ' ' + *told.file + ':' + std::to_string(told.line);
}

CodeName inlinedCode(std::vector<symbols::SourceFrame> frames) {
  CodeName code;
  code.symbol = frames.back().function;
  code.file = frames.front().file;
  code.line = frames.front().line;
  code.inlined = std::move(frames);
  return code;
}

TEST(OwnPlace, IsTheInnermostOfTheProgramAndItsFunction) {
  const CodeName code = closure();
  EXPECT_EQ(toldOf(code), std::string("main::count ") + kOwn + ":12");
  const std::vector<const std::string*> functions = ownFunctions(code);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(*functions[1], "main::main::{{closure}}");
}

TEST(OwnPlace, IsOfWhoCallsAWrapperOfAtomics) {
  const auto stepIn = [](uint32_t bytes) {
    return inlinedCode({{"atomic_step", "/home/me/atomics.h", 20, 3, bytes},
                        {"Queue::push", "/home/me/queue.h", 40, 5, 300},
                        {"main", "/home/me/main.cpp", 9, 1}});
  };
  EXPECT_EQ(toldOf(stepIn(9)), "Queue::push /home/me/queue.h:40");
  EXPECT_EQ(toldOf(stepIn(120)), "atomic_step /home/me/atomics.h:20");
  EXPECT_EQ(ownFunctions(stepIn(9)).size(), 2u);
  EXPECT_EQ(toldOf(inlinedCode({{"Queue::size", "/home/me/queue.h", 20, 3, 9},
                                {"Queue::push", "/home/me/queue.h", 40, 5, 300}})),
            "Queue::size /home/me/queue.h:20")
      << "of the same file";
  // Rather the wrapper than what is not the program's.
  EXPECT_EQ(toldOf(inlinedCode({{"atomic_step", "/home/me/atomics.h", 20, 3, 9},
                                {"std::thread::run", "/usr/include/c++/14/thread", 5, 1}})),
            "atomic_step /home/me/atomics.h:20");
}

TEST(OwnPlace, IsTheProgramsInAHeaderOnlyLibraryInTheProgram) {
  EXPECT_EQ(toldOf(inlinedCode(
                {{"std::__atomic_base<int>::fetch_add", "/usr/include/c++/14/bits/atomic_base.h", 631},
                 {"boost::lockfree::queue<int>::push", "/usr/include/boost/lockfree/queue.hpp", 308},
                 {"Worker::offer", "/home/me/worker.cpp", 17},
                 {"Worker::run", "/home/me/worker.cpp", 40}})),
            "Worker::offer /home/me/worker.cpp:17");
}

/// Each has a line of a language's library inside, and one of what starts threads around it.
TEST(OwnPlace, IsAnotherLibrarysBeforeTheLanguages) {
  const std::string crate =
      "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/queue-0.3.11/src/array.rs";
  EXPECT_EQ(toldOf(inlinedCode({{"core::sync::atomic::atomic_load", kAtomic, 3908},
                                {"queue::array::push_or_else", crate, 121},
                                {"queue::array::push", crate, 170},
                                {"std::sys::backtrace::__rust_begin_short_backtrace", kThreadSource, 152}})),
            "queue::array::push_or_else " + crate + ":121");
  const std::string header = "/usr/local/include/tbb/concurrent_queue.h";
  EXPECT_EQ(toldOf(inlinedCode(
                {{"std::atomic<long>::store", "/opt/llvm/include/c++/v1/__atomic/atomic.h", 60},
                 {"tbb::concurrent_queue<int>::push", header, 80},
                 {"std::thread::_State_impl<int>::_M_run", "/usr/include/c++/14/bits/std_thread.h", 9}})),
            "tbb::concurrent_queue<int>::push " + header + ":80");
  const std::string module = "/home/me/go/pkg/mod/github.com/foo/ring@v1.2.0/ring.go";
  EXPECT_EQ(toldOf(inlinedCode({{"internal/sync.(*Mutex).Lock", "internal/sync/mutex.go", 70},
                                {"sync.(*Mutex).Lock", "sync/mutex.go", 46},
                                {"ring.(*Ring).Put", module, 12}})),
            "ring.(*Ring).Put " + module + ":12");
}

TEST(OwnPlace, IsWhatWasCalledOfALanguagesLibrary) {
  EXPECT_EQ(toldOf(inlinedCode({{"internal/sync.(*Mutex).Lock", "internal/sync/mutex.go", 70},
                                {"sync.(*Mutex).Lock", "sync/mutex.go", 46},
                                {"nothing known", "", 0}})),
            "sync.(*Mutex).Lock sync/mutex.go:46");
}

TEST(OwnPlace, IsThatOfTheCodeWhereNothingWasInlined) {
  CodeName code;
  code.symbol = "count";
  code.file = "/src/a.c";
  code.line = 7;
  EXPECT_EQ(toldOf(code), "count /src/a.c:7");
  code.file = "/usr/include/c++/14/atomic";
  EXPECT_EQ(toldOf(code), "count /usr/include/c++/14/atomic:7");
  EXPECT_EQ(ownFunctions(code).size(), 1u);
}

TEST(OwnPlace, IsWhatTheJsonOfAnAccessSays) {
  Report report;
  Access& access = report.lines.emplace_back().accesses.emplace_back();
  access.code = std::make_shared<const CodeName>(closure());
  const std::string json = reportJson(report);
  EXPECT_NE(json.find(R"("symbol":"main::count")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("file":"/home/me/src/main.rs","line":12,"inlined":[{)"), std::string::npos) << json;
}

TEST(LanguageSources, AreThoseOfTheLibraryThatComesWithTheLanguage) {
  for (const char* file :
       {"/usr/include/bits/struct_mutex.h", "/usr/include/x86_64-linux-gnu/bits/struct_rwlock.h",
        "/usr/include/c++/12/bits/shared_ptr_base.h", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h",
        "/opt/gcc-14/include/c++/14/atomic", "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h",
        "/usr/lib/llvm-14/include/c++/v1/mutex", "/usr/include/linux/futex.h",
        "/rustc/0123456789abcdef/library/std/src/sync/mutex.rs", "/usr/local/go/src/sync/mutex.go"})
    EXPECT_EQ(ownerOf(file), SourceOwner::language) << file;
  for (const char* file :
       {"/usr/include/cds/container/queue.hpp", "/usr/include/boost/lockfree/queue.hpp",
        "/usr/include/queue.hpp", "/usr/local/include/moodycamel/concurrentqueue.h",
        "/usr/include/tbb/bits/queue.h", "/src/bits/mine.h",
        "/home/me/.cargo/registry/src/x/crossbeam/src/lib.rs", "/root/go/pkg/mod/x/sync/sync.go", ""})
    EXPECT_NE(ownerOf(file), SourceOwner::language) << file;
}

}  // namespace
}  // namespace cacheline::analysis
