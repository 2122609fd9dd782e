// Collects what a recorded program prints, on a thread of its own, so that a full pipe never stops the
// program.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace cacheline::addon {

class OutputCapture {
 public:
  /// Throws Error(impossible) where no pipe can be made.
  OutputCapture();
  ~OutputCapture();

  int writeEnd() const { return write_.get(); }  ///< for the program's standard output and error
  /// The text since the last take, at most 1 MiB of it: what was too much is replaced by a line that says so.
  std::string take();
  /// Ends the thread after what is in the pipe; does not wait for children of the program that keep it open.
  void finish();

 private:
  void readUntilEnd();

  UniqueFd read_, write_;
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::string text_;
  size_t dropped_ = 0;
  std::thread thread_;
};

}  // namespace cacheline::addon
