// What the samples of a recording so far make suspect: which words are worth watching.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/watch_place.h"
#include "profile/analyze.h"
#include "record/watch_request.h"
#include "record/watch_schedule.h"

namespace cacheline::addon {

/// The hot words of one suspect line, and the processes they are in.
struct Suspect {
  std::vector<uint32_t> pids;
  std::optional<uint64_t> fileOffset;  ///< of a shared mapping's line
  std::string space;
  uint64_t address = 0;
  std::vector<analysis::WatchPiece> words;
};

/// Analyzes the recording so far: JSON for Suspects::tell(), which another process may have written. `kept`:
/// of earlier looks at it; one look at a time. Throws what analyze() throws.
std::string findSuspects(const std::string& path, std::shared_ptr<analysis::KeptBinaries> kept,
                         const profile::Progress& progress);

/// The suspects of one recording. Somebody else looks for them, in another process where there is one: what
/// crashes an analysis does not end the recording. Used by the recorder's thread and the one that tells.
class Suspects {
 public:
  using Clock = std::chrono::steady_clock;
  /// Told the folder of the recording, it answers with tell() or failed(), at any time.
  using Ask = std::function<void(const std::string&)>;

  /// Whether words() would say something new, or ask.
  bool isDue();
  /// What is suspect now; asks for more now and then.
  std::vector<record::WatchWord> words(const std::string& folder, const Ask& ask);
  /// `json`: of findSuspects(). Throws Error(internal) where it is none.
  void tell(const std::string& json);
  /// The next look may tell. `why`: a clause for a person, where it is no matter of too few samples.
  void failed(const std::string& why);
  /// Why nothing was watched.
  std::string why();

 private:
  std::mutex mutex_;
  bool looked_ = false, isNew_ = false;
  std::vector<Suspect> suspects_;
  std::string failure_;
  const Clock::time_point begun_ = Clock::now();
  record::LookSchedule schedule_{begun_};
  Clock::time_point asked_, lastLook_;
};

}  // namespace cacheline::addon
