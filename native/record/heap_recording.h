// Heap blocks in a recording: whether the program can be asked for them, and what became of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heap/recording_file.h"
#include "record/program.h"
#include "record/recorder.h"

namespace cacheline::record {

class HeapRecording {
 public:
  /// Makes outputDirectory/allocations. Throws Error(impossible) for a program into which ld.so preloads
  /// nothing.
  HeapRecording(const HeapOptions& options, const std::string& outputDirectory, const Program& program);
  ~HeapRecording();
  HeapRecording(const HeapRecording&) = delete;
  HeapRecording& operator=(const HeapRecording&) = delete;

  /// The program's environment with the agent in it.
  std::vector<std::string> environment(std::vector<std::string> environment) const;
  void tick() { file_->tick(); }
  HeapCounts counts() const;
  /// Sentences on what is missing from the blocks.
  std::vector<std::string> warnings(const Program& program) const;
  /// The program runs: from now on the file stays. Until then it is removed with this object.
  void keep() { keep_ = true; }

 private:
  HeapOptions options_;
  std::string path_;
  bool keep_ = false;
  std::unique_ptr<heap::RecordingFile> file_;
};

}  // namespace cacheline::record
