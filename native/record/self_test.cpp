// The self-test's recording and its temporary folder.
#include "record/self_test.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace cacheline::record {
namespace {

// The built-in program ends after a second of CPU time: only a machine that has none for it reaches this.
constexpr double kMostSeconds = 30;

std::string temporaryFolder() {
  std::error_code none;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(none);
  std::string name = (none ? std::filesystem::path("/tmp") : parent) / "cacheline-self-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(ErrorKind::io, describeErrno("cannot create " + name, errno),
                "Set TMPDIR to a folder that can be written to");
  return name;
}

void removeAll(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

/// Not everybody who unpacks a package gives its programs their permission to run.
std::string runnable(const std::string& program, const std::string& folder) {
  if (::access(program.c_str(), F_OK) != 0 || ::access(program.c_str(), X_OK) == 0) return program;
  const std::filesystem::path copy = folder + "/cacheline_selftest";
  std::filesystem::copy_file(program, copy);
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  return copy;
}

}  // namespace

SelfTestRecording::SelfTestRecording(const std::string& program, RecordOptions options,
                                     const std::atomic<bool>& stop)
    : folder_(temporaryFolder()) {
  options.outputDirectory = recording();
  options.durationSeconds = kMostSeconds;
  options.stdinFromNull = true;
  try {
    std::filesystem::create_directory(recording());
    options.command = {runnable(program, folder_)};
    result_ = record(options, stop);
  } catch (...) {
    removeAll(folder_);
    throw;
  }
}

SelfTestRecording::~SelfTestRecording() {
  removeAll(folder_);
}

}  // namespace cacheline::record
