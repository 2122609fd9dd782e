// Getting a shared object of ours into a program by LD_PRELOAD.
#pragma once

#include <string>
#include <vector>

namespace cacheline::heap {

/// A shared object under a path that LD_PRELOAD can name, for this object's life.
class Preload {
 public:
  /// `purpose` and `without` are for errors: "the agent for heap blocks", "record without --heap". Throws
  /// Error(impossible) where the file does not exist or cannot be preloaded.
  Preload(const std::string& library, const std::string& purpose, const std::string& without);
  ~Preload();
  Preload(const Preload&) = delete;
  Preload& operator=(const Preload&) = delete;

  /// "LD_PRELOAD=..." with what `environment` ("NAME=value" entries) preloads behind it.
  std::string entry(const std::vector<std::string>& environment) const;

 private:
  std::string path_, folder_;
};

}  // namespace cacheline::heap
