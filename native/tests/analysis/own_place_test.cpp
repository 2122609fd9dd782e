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

TEST(OwnPlace, IsTheInnermostThatIsNoLibrarys) {
  const CodeName code = closure();
  const SourceLine place = ownPlace(code, isForeignSource);
  EXPECT_EQ(*place.file, kOwn);
  EXPECT_EQ(place.line, 12u);
  EXPECT_EQ(ownFunction(code), "main::main::{{closure}}");
}

TEST(OwnPlace, IsTheInnermostWhereAllAreALibrarys) {
  CodeName code = closure();
  code.inlined = {code.inlined.front(), code.inlined.back()};
  const SourceLine place = ownPlace(code, isForeignSource);
  EXPECT_EQ(*place.file, kAtomic);
  EXPECT_EQ(place.line, 3000u);
  EXPECT_EQ(ownFunction(code), code.symbol);
}

TEST(OwnPlace, IsThatOfTheCodeWhereNothingWasInlined) {
  CodeName code;
  code.symbol = "count";
  code.file = "/src/a.c";
  code.line = 7;
  EXPECT_EQ(*ownPlace(code, isForeignSource).file, "/src/a.c");
  EXPECT_EQ(ownFunction(code), "count");
}

TEST(OwnPlace, IsWhatTheJsonOfAnAccessSays) {
  Report report;
  Access& access = report.lines.emplace_back().accesses.emplace_back();
  access.code = std::make_shared<const CodeName>(closure());
  const std::string json = reportJson(report);
  EXPECT_NE(json.find(R"("symbol":"main::main::{{closure}}")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("file":"/home/me/src/main.rs","line":12,"inlined":[{)"), std::string::npos) << json;
}

TEST(LanguageSources, AreThoseOfTheLibraryThatComesWithTheLanguage) {
  for (const char* file :
       {"/usr/include/bits/struct_mutex.h", "/usr/include/x86_64-linux-gnu/bits/struct_rwlock.h",
        "/usr/include/c++/12/bits/shared_ptr_base.h", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h",
        "/opt/gcc-14/include/c++/14/atomic", "/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h",
        "/usr/lib/llvm-14/include/c++/v1/mutex", "/usr/include/linux/futex.h",
        "/rustc/0123456789abcdef/library/std/src/sync/mutex.rs", "/usr/local/go/src/sync/mutex.go"})
    EXPECT_TRUE(isLanguageSource(file)) << file;
  for (const char* file :
       {"/usr/include/cds/container/queue.hpp", "/usr/include/boost/lockfree/queue.hpp",
        "/usr/include/queue.hpp", "/usr/local/include/moodycamel/concurrentqueue.h",
        "/usr/include/tbb/bits/queue.h", "/src/bits/mine.h",
        "/home/me/.cargo/registry/src/x/crossbeam/src/lib.rs", "/root/go/pkg/mod/x/sync/sync.go", ""})
    EXPECT_FALSE(isLanguageSource(file)) << file;
}

}  // namespace
}  // namespace cacheline::analysis
