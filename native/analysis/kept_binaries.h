// What was read of the binaries of a recording that is analyzed again and again while it is made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace cacheline::symbols {
class Module;
}  // namespace cacheline::symbols

namespace cacheline::analysis {

struct TypedBinary;

struct KeptBinary {
  std::shared_ptr<symbols::Module> module;
  std::shared_ptr<TypedBinary> typed;
};

/// Serves one analysis at a time, all of one recording and with the same options, each on one thread: debug
/// information that was opened for another thread is not kept.
class KeptBinaries {
 public:
  /// By the key of Binaries. What is missing or changed is not kept, since it may be there later.
  KeptBinary& of(const std::string& key) { return kept_[key]; }
  /// Files that were opened so far.
  uint64_t opened() const { return opened_; }
  void countOpened() { ++opened_; }

 private:
  std::map<std::string, KeptBinary> kept_;
  uint64_t opened_ = 0;
};

}  // namespace cacheline::analysis
