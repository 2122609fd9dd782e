// The recorder's part in recording heap blocks; the agent in the program does the rest.
#include "record/heap_recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace cacheline::record {
namespace {

/// ld.so preloads nothing into programs that change their user (ld.so(8), "Secure-execution mode").
bool changesUser(const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) return false;
  return ((info.st_mode & S_ISUID) != 0 && info.st_uid != ::geteuid()) ||
         ((info.st_mode & S_ISGID) != 0 && info.st_gid != ::getegid());
}

void checkProgram(const Program& program) {
  if (program.info.staticallyLinked)
    throw Error(
        ErrorKind::impossible,
        "heap blocks of " + program.name +
            " cannot be recorded: it is statically linked, and the agent comes in through the dynamic "
            "loader",
        "Link it dynamically, or record without --heap");
  if (changesUser(program.file))
    throw Error(ErrorKind::impossible,
                "heap blocks of " + program.name +
                    " cannot be recorded: it is set-user-ID or set-group-ID, and the dynamic loader preloads "
                    "nothing into such programs",
                "Record a copy without that mode, or record without --heap");
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
    return {std::to_string(counts.lost) + " heap blocks were not recorded beside " +
            std::to_string(counts.blocks) +
            ": more than 50,000 a second of a thread's CPU time, or more than the 256 MiB of `allocations` "
            "hold"};
  return {};
}

}  // namespace cacheline::record
