// The recorded machine and its processes: who maps what where, and which cache lines there are to access.
#include "world.h"

#include <algorithm>

#include "random.h"

namespace cacheline::synth {
namespace {

using perfdata::testing::RecordBuilder;

constexpr uint64_t kHeap = 0x2000000, kAnonymous = 0x7f1000000000, kSharedMemory = 0x7f3000000000,
                   kSharedFile = 0x7f5000000000, kKernelImage = World::kKernelText + 0x1000000,
                   kKernelHeap = 0xffff888100000000;
constexpr uint64_t kOwnPlace = 0x100000000;  // from one executed process's shared mappings to the next's
constexpr uint64_t kSharedFileOffset = 0x3000;
constexpr uint64_t kMajor = 8, kProgramInode = 900, kSharedFileInode = 901, kSharedMemoryInode = 77;

uint64_t wholePages(uint64_t bytes) {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

bool isExecuted(uint32_t process) {
  return process % 2 == 0;
}

}  // namespace

World::World(const Options& options, const Scenario& scenario, const Binary& binary)
    : binary_(binary),
      cpus_(options.cpus),
      processes_(options.processes),
      threads_(options.threads),
      sysv_(scenario.sysv) {
  placeLines(options, scenario, binary);
  const bool movable = !binary.parts.empty() && binary.parts[0].address == 0;
  for (uint32_t process = 0; process < processes_; ++process) {
    const uint64_t own = process / 2 * kOwnPlace;
    const uint64_t moved = scenario.movedCode ? own : 0;
    codeBias_.push_back(movable ? 0x555555554000 + moved : 0);
    bases_.push_back({kAnonymous, kHeap, kSharedMemory + own, kSharedFile + own,
                      binary.dataAddress + codeBias_.back(), kKernelImage, kKernelHeap});
    const std::string self = "pid " + std::to_string(pid(process));
    spaces_.push_back({self, self, (sysv_ ? "file 0:1:" : "file 0:25:") + std::to_string(kSharedMemoryInode),
                       "file 8:1:" + std::to_string(kSharedFileInode), self, "kernel", "kernel"});
  }
}

void World::placeLines(const Options& options, const Scenario& scenario, const Binary& binary) {
  // Of 16 lines: private memory twice, shared memory, a shared file, static data, the kernel.
  static constexpr Region kRegionOf[16] = {
      Region::anonymous,    Region::anonymous,    Region::anonymous,    Region::anonymous,
      Region::heap,         Region::heap,         Region::sharedMemory, Region::sharedMemory,
      Region::sharedMemory, Region::sharedMemory, Region::sharedFile,   Region::sharedFile,
      Region::staticData,   Region::staticData,   Region::kernelImage,  Region::kernelHeap};
  std::vector<std::vector<uint32_t>> next(processes_, std::vector<uint32_t>(kRegions));
  for (uint64_t i = 0; i < options.lines; ++i) {
    const uint64_t dice = mix(options.seed, i);
    Region region = kRegionOf[dice % 16];
    uint8_t process = kAnyProcess;
    if (region == Region::staticData) {
      const bool full = next[0][static_cast<size_t>(region)] >= binary.dataLines;
      if (full) region = Region::anonymous;
      if (!full && !scenario.privateFile) process = 0;
    }
    if (region == Region::anonymous || region == Region::heap)
      process = static_cast<uint8_t>((dice >> 8) % processes_);
    const bool fullImage = next[0][static_cast<size_t>(region)] * kLine >= kKernelBytes / 2;
    if (region == Region::kernelImage && fullImage) region = Region::kernelHeap;
    const uint32_t index = next[process == kAnyProcess ? 0 : process][static_cast<size_t>(region)]++;
    lines_.push_back({region, process, (dice >> 16) % 3 != 0, index});
    uint64_t& most = linesIn_[static_cast<size_t>(region)];
    most = std::max<uint64_t>(most, index + 1);
  }
}

uint64_t World::key(const Line& line, uint32_t process) const {
  const uint64_t offset = uint64_t{line.index} * kLine;
  if (line.region == Region::sharedMemory) return offset;
  if (line.region == Region::sharedFile) return kSharedFileOffset + offset;
  return address(line, process);
}

void World::map(RecordBuilder& records, uint32_t process) const {
  for (const Part& part : binary_.parts) {
    const bool code = (part.protection & PROT_EXEC) != 0;
    records.mmap2(
        {.address = part.address + codeBias_[process],
         .length = part.length,
         .pageOffset = part.pageOffset,
         .major = kMajor,
         .minor = 1,
         .inode = kProgramInode,
         .generation = 1,
         .protection = part.protection,
         .flags = MAP_PRIVATE,
         .misc = static_cast<uint16_t>(PERF_RECORD_MISC_USER | (code ? 0 : PERF_RECORD_MISC_MMAP_DATA)),
         .file = binary_.path});
  }
  const auto data = [&](Region region, uint64_t pageOffset, uint32_t flags, uint32_t major, uint32_t minor,
                        uint64_t inode, const std::string& file) {
    const uint64_t length = wholePages(linesIn_[static_cast<size_t>(region)] * kLine);
    if (length == 0) return;
    records.mmap2({.address = bases_[process][static_cast<size_t>(region)],
                   .length = length,
                   .pageOffset = pageOffset,
                   .major = major,
                   .minor = minor,
                   .inode = inode,
                   .protection = PROT_READ | PROT_WRITE,
                   .flags = flags,
                   .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                   .file = file});
  };
  data(Region::anonymous, 0, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0, 0, "//anon");
  data(Region::heap, 0, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0, 0, "[heap]");
  if (sysv_) {
    data(Region::sharedMemory, 0, MAP_SHARED, 0, 1, kSharedMemoryInode, "/SYSV00000000 (deleted)");
  } else {
    data(Region::sharedMemory, 0, MAP_SHARED, 0, 25, kSharedMemoryInode, "/dev/shm/board");
  }
  data(Region::sharedFile, kSharedFileOffset, MAP_SHARED, kMajor, 1, kSharedFileInode,
       "/srv/synthetic/table.db");
}

void World::announce(RecordBuilder& records, uint64_t time) const {
  const auto next = [&time]() { return time += 1000; };
  records.cpu(0)
      .thread(UINT32_MAX, 0)
      .at(0)
      .mmap({.address = kKernelText,
             .length = kKernelBytes,
             .pageOffset = kKernelText,
             .misc = PERF_RECORD_MISC_KERNEL,
             .file = "[kernel.kallsyms]_text"});
  for (uint32_t process = 0; process < processes_; ++process) {
    if (isExecuted(process)) {
      records.thread(pid(process), pid(process)).at(next()).comm("worker", true);
      records.at(next());
      map(records, process);
    } else {
      records.thread(pid(process - 1), pid(process - 1)).at(next()).fork(pid(process), pid(process));
      records.thread(pid(process), pid(process)).at(next()).comm("clerk");
    }
    for (uint32_t thread = 1; thread < threads_; ++thread) {
      records.thread(pid(process), pid(process)).at(next()).fork(pid(process), tid(process, thread));
      records.thread(pid(process), tid(process, thread)).at(next()).comm("thread-" + std::to_string(thread));
    }
  }
}

void World::leave(RecordBuilder& records, uint64_t time) const {
  const uint32_t last = processes_ - 1;
  for (uint32_t thread = threads_; thread-- > 0;)
    records.thread(pid(last), tid(last, thread)).at(time += 1000).exit();
}

}  // namespace cacheline::synth
