// The thread, promise and queue behind a job.
#include "addon/job.h"

#include <malloc.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"

namespace cacheline::addon {
namespace {

/// Of libuv's pool, unless the environment says otherwise.
constexpr int kPoolThreads = 4;

/// What work came to.
class Outcome {
 public:
  template <typename Run>
  void of(const Run& run) {
    try {
      result_ = run();
    } catch (const Error& error) {
      failure_ = {errorKindName(error.kind()), error.what(), error.nextStep()};
    } catch (const std::exception& error) {
      failure_ = {"internal", error.what(), ""};
    }
  }

  void settle(Napi::Env env, const Napi::Promise::Deferred& deferred) const {
    if (result_) {
      try {
        deferred.Resolve(result_(env));
        return;
      } catch (const Napi::Error& error) {
        deferred.Reject(error.Value());
        return;
      }
    }
    deferred.Reject(makeError(env, failure_.kind.c_str(), failure_.message, failure_.nextStep).Value());
  }

 private:
  struct Failure {
    std::string kind, message, nextStep;
  };
  MakeValue result_;
  Failure failure_;
};

class Job final : public JobContext, public std::enable_shared_from_this<Job> {
 public:
  Job(Napi::Env env, Work work) : deferred_(Napi::Promise::Deferred::New(env)), work_(std::move(work)) {}

  Napi::Object start(Napi::Env env, Napi::Function onProgress) {
    hasProgress_ = !onProgress.IsEmpty();
    if (!hasProgress_) onProgress = Napi::Function::New(env, [](const Napi::CallbackInfo&) {});
    // An unlimited queue: the worker never blocks on JavaScript, so that teardown can wait for it.
    calls_ = Napi::ThreadSafeFunction::New(env, onProgress, "cacheline job", 0, 1);
    env_ = env;
    napi_add_env_cleanup_hook(env, onTeardown, this);
    self_ = shared_from_this();
    thread_ = std::thread([this] { runWork(); });

    Napi::Object handle = Napi::Object::New(env);
    handle.Set("done", deferred_.Promise());
    handle.Set("stop", Napi::Function::New(env, [job = shared_from_this()](const Napi::CallbackInfo&) {
                 job->stop_ = true;
               }));
    return handle;
  }

  void dropLater(std::shared_ptr<void> thing) override { dropped_ = std::move(thing); }

  void progress(MakeValue make) override {
    if (!hasProgress_) return;
    calls_.NonBlockingCall([make = std::move(make)](Napi::Env env, Napi::Function callback) {
      if (env != nullptr) callback.Call({make(env)});
    });
  }

  void progressFirst(MakeValue make) override {
    if (!hasProgress_) return;
    const auto called = std::make_shared<std::promise<void>>();
    const std::future<void> done = called->get_future();
    calls_.NonBlockingCall([make = std::move(make), called](Napi::Env env, Napi::Function callback) {
      if (env != nullptr) callback.Call({make(env)});
      called->set_value();
    });
    done.wait_for(std::chrono::seconds(1));
  }

 private:
  void runWork() {
    outcome_.of([this] { return work_(*this); });
    calls_.NonBlockingCall([this](Napi::Env env, Napi::Function) {
      if (env != nullptr) outcome_.settle(env, deferred_);
    });
    dropped_.reset();
    calls_.NonBlockingCall([this](Napi::Env env, Napi::Function) {
      if (env != nullptr) end(env);
    });
    calls_.Release();
  }

  void end(Napi::Env env) {
    const std::shared_ptr<Job> keep = std::move(self_);
    napi_remove_env_cleanup_hook(env, onTeardown, this);
    thread_.join();
  }

  static void onTeardown(void* data) {
    Job* job = static_cast<Job*>(data);
    job->stop_ = true;
    if (job->thread_.joinable()) job->thread_.join();
    job->self_.reset();
  }

  Napi::Promise::Deferred deferred_;
  Work work_;
  napi_env env_ = nullptr;
  bool hasProgress_ = false;
  Napi::ThreadSafeFunction calls_;
  std::thread thread_;
  Outcome outcome_;
  std::shared_ptr<void> dropped_;
  std::shared_ptr<Job> self_;  // alive until it has ended or is torn down
};

/// Deletes itself when it is answered.
class AsyncQuestion final : public Napi::AsyncWorker {
 public:
  AsyncQuestion(Napi::Env env, Question question)
      : AsyncWorker(env, "cacheline question"), deferred_(env), question_(std::move(question)) {}

  Napi::Object start() {
    Napi::Object handle = Napi::Object::New(Env());
    handle.Set("done", deferred_.Promise());
    handle.Set("stop",
               Napi::Function::New(Env(), [stop = stop_](const Napi::CallbackInfo&) { stop->store(true); }));
    Queue();
    return handle;
  }

 private:
  void Execute() override {
    outcome_.of([this]() -> MakeValue {
      return [answer = question_([this] { return !stop_->load(); })](Napi::Env env) {
        return Napi::String::New(env, answer);
      };
    });
  }
  void OnOK() override { outcome_.settle(Env(), deferred_); }

  Napi::Promise::Deferred deferred_;
  Question question_;
  Outcome outcome_;
  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
};

/// Lets each thread of the pool allocate something: all at the same time, so that none does it for another.
class FirstAllocation final : public Napi::AsyncWorker {
 public:
  struct Meeting {
    std::mutex mutex;
    std::condition_variable all;
    int missing = kPoolThreads;
  };
  FirstAllocation(Napi::Env env, std::shared_ptr<Meeting> meeting)
      : AsyncWorker(env, "cacheline arena"), meeting_(std::move(meeting)) {}

 private:
  void Execute() override {
    const auto allocated = std::make_unique<std::string>(kAllocated, ' ');
    std::unique_lock lock(meeting_->mutex);
    if (--meeting_->missing == 0) meeting_->all.notify_all();
    // Where the pool has fewer threads not all can come.
    meeting_->all.wait_for(lock, kMeeting, [this] { return meeting_->missing == 0; });
  }

  static constexpr size_t kAllocated = 4096;
  static constexpr std::chrono::milliseconds kMeeting{100};
  const std::shared_ptr<Meeting> meeting_;
};

}  // namespace

void keepArenasForQuestions(Napi::Env env) {
  const auto meeting = std::make_shared<FirstAllocation::Meeting>();
  for (int i = 0; i < kPoolThreads; ++i) (new FirstAllocation(env, meeting))->Queue();
}

Napi::Error makeError(Napi::Env env, const char* kind, const std::string& message,
                      const std::string& nextStep) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("kind", Napi::String::New(env, kind));
  error.Set("nextStep", Napi::String::New(env, nextStep));
  return error;
}

std::shared_ptr<void> andFreeMemory(std::shared_ptr<void> thing) {
  if (thing == nullptr) return thing;
  void* const address = thing.get();
  return {address, [thing = std::move(thing)](void*) mutable {
            thing.reset();
            malloc_trim(0);
          }};
}

Napi::Object startJob(Napi::Env env, Napi::Function onProgress, Work work) {
  return std::make_shared<Job>(env, std::move(work))->start(env, onProgress);
}

Napi::Object startQuestion(Napi::Env env, Question question) {
  return (new AsyncQuestion(env, std::move(question)))->start();
}

Napi::Function progressArgument(const Napi::CallbackInfo& info) {
  return info.Length() > 1 && info[1].IsFunction() ? info[1].As<Napi::Function>() : Napi::Function();
}

std::function<bool(double)> shareProgress(JobContext& job) {
  return [&job](double share) {
    job.progress([share](Napi::Env env) { return Napi::Number::New(env, share); });
    return !job.stop().load();
  };
}

}  // namespace cacheline::addon
