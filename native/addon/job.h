// Long work off the JavaScript thread: a thread, a promise, progress calls and a stop flag.
#pragma once

#include <napi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace cacheline::addon {

/// Makes a JavaScript value on the JavaScript thread.
using MakeValue = std::function<Napi::Value(Napi::Env)>;

/// What the work sees of its job; used on the worker thread only.
class JobContext {
 public:
  virtual ~JobContext() = default;
  const std::atomic<bool>& stop() const { return stop_; }
  /// Queues one call of the progress function with the value that `make` builds. Never blocks.
  virtual void progress(MakeValue make) = 0;
  /// The same, and waits until the call was made: at most a second, should JavaScript be busy.
  virtual void progressFirst(MakeValue make) = 0;
  /// `thing` is dropped behind the result, which need not wait for what takes a while to be freed.
  virtual void dropLater(std::shared_ptr<void> thing) = 0;

 protected:
  std::atomic<bool> stop_{false};
};

/// For dropLater(): drops `thing`, then returns free memory to the system. Each thread of an analysis frees
/// into its own arena of malloc, and the threads of the next analysis use other arenas: without this, the
/// process keeps 2 GiB more for each analysis of 500,000 lines. Null where `thing` is null.
std::shared_ptr<void> andFreeMemory(std::shared_ptr<void> thing);

/// Runs on the worker thread and returns what builds the result. A thrown cacheline::Error rejects the
/// promise with its kind and next step, any other exception with kind "internal".
using Work = std::function<MakeValue(JobContext&)>;

/// Starts `work` on a thread of its own: { done: Promise, stop(): void }. `onProgress` may be empty.
/// An environment that is torn down meanwhile stops the job and waits for it.
Napi::Object startJob(Napi::Env env, Napi::Function onProgress, Work work);

/// Ends early with Error(cancelled) where the function that it is given says false.
using Question = std::function<std::string(const std::function<bool()>&)>;

/// Answers on a thread of libuv's pool: { done: Promise of the answer, stop(): void }. Analyses leave
/// millions of free chunks in their arenas of malloc, and a new thread that is given one of these arenas
/// sorts them at its first allocation, which takes 50 to 100 ms of 500,000 lines. The threads of the pool
/// keep their own.
Napi::Object startQuestion(Napi::Env env, Question question);
/// To be called before the first analysis: the threads of the pool get arenas that none has used.
void keepArenasForQuestions(Napi::Env env);

/// The call's second argument, or none.
Napi::Function progressArgument(const Napi::CallbackInfo& info);
/// Progress as the share that is done; false once the job was stopped.
std::function<bool(double)> shareProgress(JobContext& job);

/// A JavaScript Error with `kind` and `nextStep`.
Napi::Error makeError(Napi::Env env, const char* kind, const std::string& message,
                      const std::string& nextStep);

}  // namespace cacheline::addon
