// The recorder's part in recording heap blocks; the agent in the program does the rest.
#include "record/heap_recording.h"

#include <unistd.h>

#include "base/error.h"
#include "record/preloading.h"

namespace cacheline::record {
namespace {

void checkProgram(const Program& program) {
  if (const std::optional<Blocker> blocker = whyNotPreloaded(program))
    throw Error(ErrorKind::impossible,
                "heap blocks of " + program.name + " cannot be recorded: " + blocker->value,
                blocker->fix + ", or record without --heap");
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
  const auto nameOf = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (const std::string& change : file_->preload(options_.agent, environment)) {
    std::erase_if(environment, [&](const std::string& entry) { return nameOf(entry) == nameOf(change); });
    environment.push_back(change);
  }
  return environment;
}

HeapCounts HeapRecording::counts() const {
  const heap::RecordingCounts counts = file_->counts();
  return {options_.sampling, counts.blocks, counts.lost};
}

std::vector<std::string> HeapRecording::warnings(const Program& program) const {
  const heap::RecordingCounts counts = file_->counts();
  if (counts.processes == 0)
    return {"no heap blocks were recorded: the agent did not get into " + program.name +
            " (a program that it starts may be statically linked, or lose LD_PRELOAD)"};
  if (counts.blocks == 0 && counts.lost == 0)
    return {"no heap blocks were recorded: " + program.name +
            " allocates none of 64 bytes or more through libc's malloc, or has a malloc of its own"};
  if (counts.lost > 0)
    return {
        std::to_string(counts.lost) + " heap blocks were not recorded beside " +
        std::to_string(counts.blocks) +
        ": more than 20,000 at once and 10,000 a second of a thread's CPU time, or more than the 256 MiB of "
        "`allocations` hold"};
  return {};
}

}  // namespace cacheline::record
