// What looks leave to the next ones, by recording.
#include "addon/suspects_call.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "addon/arguments.h"
#include "addon/job.h"
#include "addon/suspects.h"
#include "analysis/kept_binaries.h"

namespace cacheline::addon {
namespace {

using Kept = std::shared_ptr<analysis::KeptBinaries>;

/// One look at a time has what is kept of its recording.
class KeptOfRecordings {
 public:
  /// To be called before the look, in the order of calls.
  void begin(const std::string& path) {
    const std::lock_guard lock(mutex_);
    kept_.try_emplace(path);
  }
  Kept take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(path);
    Kept kept = found == kept_.end() ? nullptr : std::exchange(found->second, nullptr);
    return kept ? kept : std::make_shared<analysis::KeptBinaries>();
  }
  /// Nothing where it was forgotten meanwhile.
  void giveBack(const std::string& path, Kept kept) {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(path); found != kept_.end()) found->second = std::move(kept);
  }
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    kept_.erase(path);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

KeptOfRecordings& keptOfRecordings() {
  static KeptOfRecordings kept;
  return kept;
}

}  // namespace

Napi::Value suspectsCall(const Napi::CallbackInfo& info) {
  const std::string path = Arguments(info[0]).text("path");
  keptOfRecordings().begin(path);
  return startJob(info.Env(), {}, [path](JobContext& job) -> MakeValue {
    const Kept kept = keptOfRecordings().take(path);
    const std::string json = findSuspects(path, kept, [&job](double) { return !job.stop().load(); });
    keptOfRecordings().giveBack(path, kept);
    return [json](Napi::Env env) { return Napi::String::New(env, json); };
  });
}

Napi::Value forgetCall(const Napi::CallbackInfo& info) {
  keptOfRecordings().forget(Arguments(info[0]).text("path"));
  return info.Env().Undefined();
}

}  // namespace cacheline::addon
