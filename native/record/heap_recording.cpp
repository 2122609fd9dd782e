// The recorder's part in recording heap blocks; the agent in the program does the rest.
#include "record/heap_recording.h"

#include <unistd.h>

#include <cstdint>

#include "base/error.h"
#include "record/preloading.h"

namespace cacheline::record {
namespace {

constexpr const char* kGoAllocator = "Go has an allocator of its own, which the agent does not see";

void checkProgram(const Program& program) {
  if (program.info.go && program.info.staticallyLinked)
    throw Error(ErrorKind::impossible,
                "heap blocks of " + program.name + " cannot be recorded: " + kGoAllocator,
                "Record without --heap");
  if (const std::optional<Blocker> blocker = whyNotPreloaded(program))
    throw Error(ErrorKind::impossible,
                "heap blocks of " + program.name + " cannot be recorded: " + blocker->value,
                blocker->fix + ", or record without --heap");
}

std::string whyNoPlace(const heap::RecordingCounts& counts) {
  if (counts.diskFull) return "the disk is full";
  if (counts.limitReached) return "`allocations` has its 256 MiB";
  return "a process could not open `allocations`, or write to it";
}

/// One sentence for each reason that there was.
std::vector<std::string> lossesOf(const heap::RecordingCounts& counts) {
  std::vector<std::string> list;
  const auto lost = [&](uint64_t count, const std::string& reason) {
    if (count > 0)
      list.push_back(std::to_string(count) + (count == 1 ? " heap block was" : " heap blocks were") +
                     " not recorded beside " + std::to_string(counts.blocks) + ": " + reason);
  };
  lost(
      counts.lostRate,
      "a thread has room for 20,000 at once and 10,000 a second of its CPU time, and half of that for blocks "
      "below 64 bytes");
  lost(counts.lostTable, "too many of them lie close together for the agent's table");
  lost(counts.lostNested, "allocated while another was being recorded, for example in a signal handler");
  lost(counts.lost - counts.lostRate - counts.lostTable - counts.lostNested, whyNoPlace(counts));
  return list;
}

}  // namespace

HeapRecording::HeapRecording(const HeapOptions& options, const std::string& outputDirectory,
                             const Program& program)
    : options_(options), path_(outputDirectory + "/allocations") {
  checkProgram(program);
  heap::RecordingLimits limits;
  limits.sampling = options.sampling;
  file_ = heap::RecordingFile::create(outputDirectory, limits);
}

HeapRecording::~HeapRecording() {
  if (!keep_) ::unlink(path_.c_str());
}

std::vector<std::string> HeapRecording::environment(std::vector<std::string> environment) const {
  return withEntries(environment, file_->preload(options_.agent, environment));
}

HeapCounts HeapRecording::counts() const {
  const heap::RecordingCounts counts = file_->counts();
  return {options_.sampling, counts.blocks, counts.lost};
}

std::vector<std::string> HeapRecording::warnings(const Program& program) const {
  const heap::RecordingCounts counts = file_->counts();
  if (counts.processes == 0)
    return {"no heap blocks were recorded: the agent was not loaded into " + program.name +
            " (a program that it starts may be statically linked, or lose LD_PRELOAD)"};
  std::vector<std::string> list = lossesOf(counts);
  if (program.info.go)
    list.push_back(std::string(kGoAllocator) + ": only what C code in " + program.name +
                   " allocates is recorded");
  else if (counts.blocks == 0 && counts.lost == 0)
    list.push_back("no heap blocks were recorded: " + program.name +
                   " allocates nothing through libc's malloc, or has a malloc of its own");
  return list;
}

}  // namespace cacheline::record
