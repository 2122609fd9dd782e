// The client library's progress function is the clock: it is called about once a second while a transfer
// waits, and ends it by returning non-zero. So no environment variable of this process is touched.
#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace cacheline::symbols {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// One call of the library, as its progress function sees it.
struct DebuginfodTransfer {
  enum class End { none, idle, total, cancelled };
  Debuginfod& owner;
  std::string what;
  Clock::time_point start = Clock::now(), lastByte = start, lastReport{};
  long last = 0;          ///< `done` of the call before
  bool received = false;  ///< bytes, so that `done` counts them
  End end = End::none;

  /// Returns whether to stop.
  bool step(long done, long all);
};

namespace {

/// The functions of <elfutils/debuginfod.h>, whose types are all opaque or plain.
struct Library {
  void* handle = nullptr;
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  void (*setProgress)(void*, int (*)(void*, long, long)) = nullptr;
  void (*setUserData)(void*, void*) = nullptr;
  void* (*userData)(void*) = nullptr;
  int (*findDebugInfo)(void*, const unsigned char*, int, char**) = nullptr;
  int (*findExecutable)(void*, const unsigned char*, int, char**) = nullptr;

  /// Null where it is not installed. Stays loaded: it starts no threads.
  static const Library* get() {
    static const Library library = load();
    return library.handle == nullptr ? nullptr : &library;
  }

 private:
  static Library load() {
    Library library;
    void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return library;
    bool complete = true;
    const auto bind = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
      complete = complete && function != nullptr;
    };
    bind(library.begin, "debuginfod_begin");
    bind(library.end, "debuginfod_end");
    bind(library.setProgress, "debuginfod_set_progressfn");
    bind(library.setUserData, "debuginfod_set_user_data");
    bind(library.userData, "debuginfod_get_user_data");
    bind(library.findDebugInfo, "debuginfod_find_debuginfo");
    bind(library.findExecutable, "debuginfod_find_executable");
    if (complete) library.handle = handle;
    return library;
  }
};

int onProgress(void* client, long done, long all) {
  return static_cast<DebuginfodTransfer*>(Library::get()->userData(client))->step(done, all) ? 1 : 0;
}

std::string seconds(Milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") + " s";
}

/// The client's cache folder; order and names as in debuginfod_find_debuginfo(3), "CACHE".
std::string cacheFolder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string path = variable("DEBUGINFOD_CACHE_PATH"); !path.empty()) return path;
  const std::string home = variable("HOME"), xdg = variable("XDG_CACHE_HOME");
  const std::string old = home + "/.debuginfod_client_cache";
  if (::access(old.c_str(), F_OK) == 0) return old;
  return (xdg.empty() ? home + "/.cache" : xdg) + "/debuginfod_client";
}

/// The client notes a transfer that we ended as a miss, an empty file, and would then not ask again for
/// minutes, whatever the time-out.
void forgetMiss(Debuginfod::Kind kind, const std::string& buildId) {
  const std::string note =
      cacheFolder() + "/" + buildId + (kind == Debuginfod::Kind::executable ? "/executable" : "/debuginfo");
  struct stat st {};
  if (::lstat(note.c_str(), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) ::unlink(note.c_str());
}

bool isBuildId(const std::string& text) {
  return text.size() >= 4 && text.size() <= 128 && text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

bool DebuginfodTransfer::step(long done, long all) {
  const auto now = Clock::now();
  // As long as the size is not known, `done` may also be the number of this call.
  if (all > 0 ? done != last : done > last + 1) {
    lastByte = now;
    received = true;
  }
  last = done;
  if (now - lastByte >= owner.limits_.idle) end = End::idle;
  if (owner.spent_ + std::chrono::duration_cast<Milliseconds>(now - start) >= owner.limits_.total)
    end = End::total;
  if (owner.progress_ && now - lastReport >= Milliseconds(500)) {
    lastReport = now;
    std::string sentence = "Fetching " + what;
    if (received)
      sentence += ": " + std::to_string(done / 1024) +
                  (all > 0 ? " of " + std::to_string(all / 1024) + " KiB" : " KiB");
    if (!owner.progress_(sentence)) end = End::cancelled;
  }
  return end != End::none;
}

Debuginfod::Limits Debuginfod::Limits::standard() {
  Limits limits;
  const char* text = std::getenv("DEBUGINFOD_TIMEOUT");
  if (text == nullptr) return limits;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error == std::errc{} && *end == '\0' && value > 0) limits.idle = Milliseconds(uint64_t{value} * 1000);
  return limits;
}

Debuginfod::Debuginfod(Limits limits, Progress progress) : limits_(limits), progress_(std::move(progress)) {}

Debuginfod::Fetched Debuginfod::find(Kind kind, const std::string& buildId, const std::string& name) {
  using End = DebuginfodTransfer::End;
  if (cancelled_) return {{}, "Fetching from debuginfod was cancelled."};
  if (!isBuildId(buildId)) return {{}, "debuginfod needs a build id, and " + name + " has none."};
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || std::string_view(servers).find_first_not_of(' ') == std::string_view::npos)
    return {{}, "debuginfod was not asked: $DEBUGINFOD_URLS names no server; set it to your distribution's."};
  if (spent_ >= limits_.total)
    return {{},
            "debuginfod was not asked: the time for all files, " + seconds(limits_.total) + ", is used up."};
  const Library* library = Library::get();
  if (library == nullptr)
    return {{},
            "debuginfod cannot be asked: libdebuginfod.so.1 is not installed; install libdebuginfod1 "
            "(Debian, Ubuntu) or elfutils-debuginfod-client (Fedora)."};
  void* client = library->begin();
  if (client == nullptr) return {{}, "debuginfod cannot be asked: its client library did not start."};

  const std::string what =
      std::string(kind == Kind::executable ? "the binary " : "debug information of ") + name;
  DebuginfodTransfer transfer{*this, what};
  library->setUserData(client, &transfer);
  library->setProgress(client, onProgress);
  char* path = nullptr;
  const auto ask = kind == Kind::executable ? library->findExecutable : library->findDebugInfo;
  // A length of 0 says that the id is text.
  const int fd = ask(client, reinterpret_cast<const unsigned char*>(buildId.c_str()), 0, &path);
  spent_ += std::chrono::duration_cast<Milliseconds>(Clock::now() - transfer.start);
  Fetched fetched;
  if (fd >= 0) {
    ::close(fd);
    if (path != nullptr) fetched.path = path;
  }
  std::free(path);
  library->end(client);
  if (fd >= 0) return fetched;

  cancelled_ = transfer.end == End::cancelled;
  if (transfer.end != End::none) forgetMiss(kind, buildId);
  switch (transfer.end) {
    case End::cancelled:
      fetched.reason = "Fetching from debuginfod was cancelled.";
      break;
    case End::idle:
      fetched.reason = "debuginfod sent nothing of " + what + " for " + seconds(limits_.idle) +
                       "; set DEBUGINFOD_TIMEOUT (seconds) to wait longer.";
      break;
    case End::total:
      fetched.reason = "debuginfod did not finish " + what + " within the time for all files, " +
                       seconds(limits_.total) + ".";
      break;
    case End::none:
      fetched.reason = fd == -ENOENT ? "The debuginfod servers do not have " + what + "."
                                     : "debuginfod could not fetch " + what + ": " + std::strerror(-fd) + ".";
      break;
  }
  return fetched;
}

}  // namespace cacheline::symbols
