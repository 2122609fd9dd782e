// Fetches binaries and debug information from debuginfod servers, through elfutils' client library where it
// is installed.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace cacheline::symbols {

/// Loaded at run time ("libdebuginfod.so.1"), so that nothing depends on it. Servers come from
/// $DEBUGINFOD_URLS and files are kept in the client's own cache, both as its manual page debuginfod(8) says.
class Debuginfod {
 public:
  struct Limits {
    /// Longest time without a new byte of one file.
    std::chrono::milliseconds idle{30'000};
    /// Of all files together.
    std::chrono::milliseconds total{300'000};
    /// 30 s without progress or what $DEBUGINFOD_TIMEOUT (seconds) says, 5 minutes in all.
    static Limits standard();
  };
  /// Gets a sentence about what is being fetched, about once a second; returning false cancels this and every
  /// later fetch. May be empty.
  using Progress = std::function<bool(const std::string& sentence)>;
  enum class Kind { executable, debugInfo };
  struct Fetched {
    std::string path;    ///< in the cache; empty where nothing was fetched
    std::string reason;  ///< then one sentence that says why
  };

  Debuginfod(Limits limits, Progress progress);
  /// Blocks for as long as the limits allow. `buildId` in hex. Never throws.
  Fetched find(Kind kind, const std::string& buildId, const std::string& name);
  bool cancelled() const { return cancelled_; }

 private:
  friend struct DebuginfodTransfer;
  Limits limits_;
  Progress progress_;
  std::chrono::milliseconds spent_{0};
  bool cancelled_ = false;
};

}  // namespace cacheline::symbols
