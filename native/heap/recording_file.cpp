// Making an `allocations` file, and the environment of a program that writes into it.
#include "heap/recording_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "base/error.h"
#include "base/unique_fd.h"
#include "heap/format.h"
#include "heap/preload.h"

namespace cacheline::heap {
namespace {

/// The kernel takes the time stamp counter for its own clock only where all CPUs agree on it.
bool kernelTrustsTsc() {
#ifdef __x86_64__
  std::string name;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> name;
  return name == "tsc";
#else
  return false;
#endif
}

uint64_t monotonicNs() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t ticksNow(bool tsc) {
#ifdef __x86_64__
  if (tsc) {
    unsigned cpu = 0;
    return __rdtscp(&cpu);
  }
#endif
  return monotonicNs();
}

heap_anchor anchorNow(bool tsc) {
  heap_anchor best{};
  uint64_t narrowest = ~uint64_t{0};
  for (int i = 0; i < 5; i++) {
    const uint64_t before = ticksNow(tsc), ns = monotonicNs(), after = ticksNow(tsc);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, ns};
  }
  return best;
}

class MappedRecordingFile final : public RecordingFile {
 public:
  MappedRecordingFile(std::string path, UniqueFd fd, heap_file_header* header)
      : path_(std::move(path)), fd_(std::move(fd)), header_(header) {}
  ~MappedRecordingFile() override { ::munmap(header_, HEAP_PAGE); }

  void tick() override { header_->end = anchorNow(header_->tsc == 1); }

  RecordingCounts counts() const override {
    const uint64_t pages = std::atomic_ref(header_->next_page).load();
    RecordingCounts counts{.processes = header_->processes,
                           .limitReached = pages >= header_->limit_pages,
                           .diskFull = header_->full != 0};
    for (uint64_t page = 1; page < pages;) {
      heap_chunk_header chunk;
      const ssize_t size = ::pread(fd_.get(), &chunk, sizeof chunk, static_cast<off_t>(page * HEAP_PAGE));
      if (size != sizeof chunk || chunk.magic != HEAP_CHUNK_MAGIC || chunk.pages == 0) {
        page++;
        continue;
      }
      counts.blocks += chunk.blocks;
      counts.lostRate += chunk.lost_rate;
      counts.lostTable += chunk.lost_table;
      counts.lostNested += chunk.lost_nested;
      page += chunk.pages;
    }
    counts.lost = header_->lost + counts.lostRate + counts.lostTable + counts.lostNested;
    return counts;
  }

  std::vector<std::string> preload(const std::string& agent,
                                   const std::vector<std::string>& environment) override {
    preload_.emplace(agent, "the agent for heap blocks", "record without --heap");
    return {preload_->entry(environment), "CACHELINE_HEAP=" + path_};
  }

 private:
  std::string path_;
  std::optional<Preload> preload_;
  UniqueFd fd_;
  heap_file_header* header_;
};

}  // namespace

std::unique_ptr<RecordingFile> RecordingFile::create(const std::string& folder,
                                                     const RecordingLimits& limits) {
  const std::unique_ptr<char, decltype(&std::free)> absolute(::realpath(folder.c_str(), nullptr), &std::free);
  const std::string path = std::string(absolute ? absolute.get() : folder.c_str()) + "/allocations";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd)
    throw Error(ErrorKind::io, describeErrno("cannot create " + path, errno), "Choose another output folder");
  if (const int errnum = ::posix_fallocate(fd.get(), 0, HEAP_PAGE); errnum != 0)
    throw Error(ErrorKind::io, describeErrno("cannot write " + path, errnum),
                "Free space on that disk, or record into another folder");
  void* memory = ::mmap(nullptr, HEAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorKind::io, describeErrno("cannot map " + path + ", which heap blocks need", errno),
                "Record into a folder on a local disk, or without --heap");
  auto* header = static_cast<heap_file_header*>(memory);
  header->version = HEAP_VERSION;
  header->page = HEAP_PAGE;
  header->sampling = limits.sampling;
  header->always_from = limits.alwaysFrom;
  header->rate = limits.rate;
  header->burst = limits.burst;
  header->limit_pages = limits.fileBytes / HEAP_PAGE;
  header->tsc = kernelTrustsTsc() ? 1 : 0;
  header->start = anchorNow(header->tsc == 1);
  header->next_page = 1;
  header->magic = HEAP_FILE_MAGIC;
  return std::make_unique<MappedRecordingFile>(path, std::move(fd), header);
}

}  // namespace cacheline::heap
