// debuginfod against a server in this process: what it has, what it has not, and one that never answers.
#include "symbols/debuginfod.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"
#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;
using std::chrono::milliseconds;

/// Sets an environment variable for as long as it lives.
class Environment {
 public:
  Environment(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Environment() { old_ ? ::setenv(name_.c_str(), old_->c_str(), 1) : ::unsetenv(name_.c_str()); }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

/// A server for GET requests on 127.0.0.1: a path it has is answered with the bytes, kSilent with nothing at
/// all, every other with 404. One connection after the other.
class Server {
 public:
  static constexpr const char* kSilent = "(silent)";

  using Files = std::map<std::string, std::string>;
  explicit Server(Files files) : files_(std::move(files)) {
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(socket_.get(), 16) != 0 ||
        ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen on 127.0.0.1");
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    stop_ = true;
    thread_.join();
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::string url;

 private:
  void serve() {
    std::vector<UniqueFd> silent;
    while (!stop_) {
      pollfd waiting{socket_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t n = ::recv(connection.get(), buffer, sizeof buffer, 0);
        if (n <= 0) break;
        request.append(buffer, static_cast<size_t>(n));
      }
      const size_t begin = request.find(' ') + 1;
      const std::string path = request.substr(begin, request.find(' ', begin) - begin);
      const std::lock_guard lock(mutex_);
      requests_.push_back(path);
      const auto file = files_.find(path);
      if (file != files_.end() && file->second == kSilent) {
        silent.push_back(std::move(connection));
        continue;
      }
      std::string answer =
          file == files_.end()
              ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
              : "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(file->second.size()) + "\r\n";
      answer += "Connection: close\r\n\r\n";
      if (file != files_.end()) answer += file->second;
      for (size_t sent = 0; sent < answer.size();) {
        const ssize_t n = ::send(connection.get(), answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<size_t>(n);
      }
    }
  }
  std::map<std::string, std::string> files_;
  UniqueFd socket_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::string> requests_;
};

bool haveLibrary() {
  void* handle = ::dlopen("libdebuginfod.so.1", RTLD_LAZY);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

class DebuginfodServer : public testing::Test {
 protected:
  void SetUp() override {
    if (!haveLibrary()) GTEST_SKIP() << "needs libdebuginfod.so.1: apt-get install libdebuginfod1";
  }
  TempDir dir;
  Environment cache{"DEBUGINFOD_CACHE_PATH", dir.file("cache")};
};

const char* const kId = "0123456789abcdef0123456789abcdef01234567";

TEST_F(DebuginfodServer, FetchesAFileOnceAndThenHasItInTheCache) {
  Server server(Server::Files{{std::string("/buildid/") + kId + "/debuginfo", "the bytes"}});
  const Environment urls("DEBUGINFOD_URLS", server.url);
  for (int round = 0; round < 2; round++) {
    Debuginfod client({}, {});
    const auto fetched = client.find(Debuginfod::Kind::debugInfo, kId, "/usr/bin/p");
    ASSERT_NE(fetched.path, "") << fetched.reason;
    EXPECT_TRUE(fetched.path.starts_with(dir.file("cache"))) << fetched.path;
    EXPECT_EQ(readFile(fetched.path), "the bytes");
  }
  EXPECT_EQ(server.requests(), std::vector<std::string>{std::string("/buildid/") + kId + "/debuginfo"});
}

TEST_F(DebuginfodServer, SaysThatNoServerHasIt) {
  Server server(Server::Files{});
  const Environment urls("DEBUGINFOD_URLS", server.url);
  Debuginfod client({}, {});
  const auto fetched = client.find(Debuginfod::Kind::executable, kId, "/usr/bin/p");
  EXPECT_EQ(fetched.path, "");
  EXPECT_EQ(fetched.reason, "The debuginfod servers do not have the binary /usr/bin/p.");
}

TEST_F(DebuginfodServer, AServerThatNeverAnswersCostsTheTimeOutOnly) {
  Server server(Server::Files{{std::string("/buildid/") + kId + "/debuginfo", Server::kSilent}});
  const Environment urls("DEBUGINFOD_URLS", server.url);
  std::vector<std::string> sentences;
  Debuginfod client({milliseconds(1500), milliseconds(2500)}, [&](const std::string& sentence) {
    sentences.push_back(sentence);
    return true;
  });
  auto start = std::chrono::steady_clock::now();
  const auto idle = client.find(Debuginfod::Kind::debugInfo, kId, "/usr/bin/p");
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(20000));
  EXPECT_EQ(idle.reason,
            "debuginfod sent nothing of debug information of /usr/bin/p for 1.5 s; set DEBUGINFOD_TIMEOUT "
            "(seconds) to wait longer.");
  ASSERT_FALSE(sentences.empty());
  EXPECT_EQ(sentences[0], "Fetching debug information of /usr/bin/p");
  EXPECT_NE(
      client.find(Debuginfod::Kind::debugInfo, kId, "/usr/bin/p").reason.find("time for all files, 2.5 s"),
      std::string::npos);
  EXPECT_EQ(client.find(Debuginfod::Kind::debugInfo, kId, "/usr/bin/p").reason,
            "debuginfod was not asked: the time for all files, 2.5 s, is used up.");
}

TEST_F(DebuginfodServer, TheUserCanCancel) {
  Server server(Server::Files{{std::string("/buildid/") + kId + "/debuginfo", Server::kSilent}});
  const Environment urls("DEBUGINFOD_URLS", server.url);
  Debuginfod client({}, [](const std::string&) { return false; });
  EXPECT_EQ(client.find(Debuginfod::Kind::debugInfo, kId, "/p").reason,
            "Fetching from debuginfod was cancelled.");
  EXPECT_TRUE(client.cancelled());
  EXPECT_EQ(client.find(Debuginfod::Kind::debugInfo, kId, "/p").reason,
            "Fetching from debuginfod was cancelled.");
  EXPECT_LE(server.requests().size(), 1u) << "a cancelled client asks nobody";
}

TEST_F(DebuginfodServer, ModuleIsNamedByWhatTheServerHas) {
  NEED_TOOL("objcopy", "binutils");
  const std::string whole = compile(dir, "p", "cpp", scopesSource(), "-g -O1");
  const std::string id = readBuildId(whole);
  const uint64_t work = *ElfImage::open(whole)->addressOfSymbol("_ZN3app4workEPNS_7CounterEi");
  mustRun("cd " + dir.path() + " && objcopy --only-keep-debug p p.debug && objcopy --strip-all p stripped");
  const std::string where = "/buildid/" + id;
  Server server(Server::Files{{where + "/debuginfo", readFile(dir.file("p.debug"))}});
  const Environment urls("DEBUGINFOD_URLS", server.url);

  SymbolOptions options;
  options.home.clear();
  options.debugRoots.clear();
  SymbolSearch offline(options);
  EXPECT_EQ(Module::open(dir.file("stripped"), id, offline)->status(), ModuleStatus::noSymbols);
  EXPECT_EQ(Module::open("/gone/p", id, offline)->status(), ModuleStatus::missing);
  EXPECT_TRUE(server.requests().empty()) << "nobody is asked unless the user wants it";

  options.debuginfod = true;
  for (const std::string& path : {dir.file("stripped"), std::string("/gone/p")}) {
    SymbolSearch online(options);
    const auto module = Module::open(path, id, online);
    ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
    const auto frames = module->framesAt(work);
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "app::work(app::Counter*, int)");
    EXPECT_GT(frames.back().line, 0u);
  }
}

TEST(Debuginfod, SaysWhatIsMissingToAsk) {
  const Environment urls("DEBUGINFOD_URLS", "");
  Debuginfod client({}, {});
  EXPECT_NE(client.find(Debuginfod::Kind::debugInfo, kId, "/p").reason.find("$DEBUGINFOD_URLS"),
            std::string::npos);
  EXPECT_NE(client.find(Debuginfod::Kind::debugInfo, "", "/p").reason.find("has none"), std::string::npos);
  EXPECT_NE(client.find(Debuginfod::Kind::debugInfo, "../../x", "/p").reason.find("has none"),
            std::string::npos);
}

TEST(Debuginfod, TheTimeOutIsTheUsersOwn) {
  {
    const Environment seconds("DEBUGINFOD_TIMEOUT", "7");
    EXPECT_EQ(Debuginfod::Limits::standard().idle, milliseconds(7000));
  }
  for (const char* nonsense : {"", "0", "-3", "abc", "99999999999"}) {
    const Environment seconds("DEBUGINFOD_TIMEOUT", nonsense);
    EXPECT_EQ(Debuginfod::Limits::standard().idle, milliseconds(30000)) << nonsense;
  }
}

}  // namespace
}  // namespace cacheline::symbols
