// libFuzzer over blocked.jsonl, with the C library as the code that threads are blocked in. Any bytes give
// looks that are sorted, do not end before they begin, and belong to a call, and nothing else.
#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "analysis/recording.h"
#include "analysis/timeline.h"
#include "fuzz/perfdata_seeds.h"
#include "perfdata/reader.h"
#include "scheduling/lock_waits.h"

namespace {

using namespace cacheline;
using perfdata::testing::Bytes;

constexpr uint64_t kCode = 0x10000000;  // where the C library lies in the made process
constexpr uint64_t kCodeBytes = uint64_t{1} << 26;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Of this process: its path, and how far behind its start a function lies. The sanitizers' own functions of
/// the same names are not in it.
struct CLibrary {
  std::string path;
  uint64_t lock = 0;
};

CLibrary findCLibrary() {
  Dl_info info{};
  require(::dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &info) != 0);
  void* const library = ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  require(library != nullptr);
  void* const lock = ::dlsym(library, "pthread_mutex_lock");
  require(lock != nullptr);
  return {info.dli_fname, reinterpret_cast<uint64_t>(lock) - reinterpret_cast<uint64_t>(info.dli_fbase)};
}

/// One process that has the C library mapped.
class Process {
 public:
  Process() : file_(made()), reader_(perfdata::Reader::fromBytes(file_, "fuzz")) {}

  scheduling::LockWaits read(const std::string& text) {
    std::istringstream lines(text);
    return scheduling::lockWaitsIn(lines, timeline_, binaries_);
  }

 private:
  static Bytes made() {
    perfdata::testing::RecordBuilder builder;
    builder.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME));
    builder.thread(5, 5).at(1).comm("worker", true);
    builder.mmap2({.address = kCode, .length = kCodeBytes, .file = findCLibrary().path}).at(9).exit();
    return perfdata::testing::fileBytes(builder);
  }

  Bytes file_;
  std::unique_ptr<perfdata::Reader> reader_;
  analysis::Timeline timeline_ = analysis::Timeline::of(*reader_);
  analysis::Meta meta_;
  analysis::Binaries binaries_{reader_->features(), meta_};
};

}  // namespace

/// Looks at a thread in a lock, at one elsewhere, and lines that say nothing.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string corpus = perfdata::testing::emptyCorpus(*argc, *argv);
  if (corpus.empty()) return 0;
  std::ostringstream lock;
  lock << std::hex << kCode + findCLibrary().lock + 1;
  const std::string stack = std::string(R"("sp":"7ff0","stack":")") + std::string(256, '1') + "\"";
  std::ofstream(corpus + "/looks") << R"({"pid":5,"tid":5,"ip":")" << lock.str() << "\"," << stack
                                   << R"(,"looks":[4,5,2,3]})" << '\n'
                                   << R"({"pid":5,"tid":6,"ip":"10000100",)" << stack
                                   << R"(,"looks":[4,5]})" << "\n{}\n[]\n";
  // Else a seed that proves no lock would go unseen.
  std::ifstream file(corpus + "/looks");
  require(Process().read({std::istreambuf_iterator<char>(file), {}}).looks.contains({5, 5}));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Process process;
  const scheduling::LockWaits waits = process.read({reinterpret_cast<const char*>(data), size});
  for (const auto& [thread, looks] : waits.looks) {
    require(std::ranges::is_sorted(looks));
    for (const scheduling::LockLook& look : looks)
      require(look.begin <= look.end && look.call < waits.calls.size());
  }
  return 0;
}
