// Recordings of processes whose work others do, which they started before.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "record/watch_threads.h"
#include "running.h"

namespace cacheline::record::test {
namespace {

/// Waits for its children, of which there are two that spin; one of them has a child that spins, too. They
/// end with it.
constexpr const char* kServer = R"(
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long counter;
static void spin(void) {
  for (;;) counter++;
}
int main(void) {
  for (int i = 0; i < 2; i++) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (i == 0 && fork() == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    spin();
  }
  while (wait(0) > 0) {}
  return 0;
}
)";

class Server {
 public:
  Server() {
    waitFor("four processes", [this] { return withDescendants({pid()}).size() == 4; });
  }
  pid_t pid() const { return running_.pid(); }
  const TemporaryFolder& folder() const { return folder_; }

 private:
  const TemporaryFolder folder_;
  const Running running_{{compile(folder_, "server", kServer)}};
};

bool says(const RecordResult& result, const std::string& text) {
  return std::any_of(result.warnings.begin(), result.warnings.end(),
                     [&](const std::string& warning) { return contains(warning, text); });
}

TEST(AttachChildren, WithoutThemItSaysThatThereAreSome) {
  const Server server;
  RecordOptions options = attachTo(server.folder(), {server.pid()});
  options.durationSeconds = 0.3;
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.samples, 0u);
  EXPECT_TRUE(says(result, "3 processes that " + std::to_string(server.pid()) +
                               " (server) started earlier are not recorded"));
}

TEST(AttachChildren, AllThatItStartedAreRecorded) {
  const Server server;
  std::vector<pid_t> all = withDescendants({server.pid()});
  RecordOptions options = attachTo(server.folder(), {server.pid()});
  options.target.descendants = true;
  std::atomic<bool> stop{false};
  const RecordResult result =
      record(options, stop, [&](const RecordProgress& progress) { stop = progress.samples >= 600; });
  EXPECT_FALSE(says(result, "--children"));
  Recorded recorded(options.outputDirectory);
  std::set<uint32_t> spinning(all.begin(), all.end());
  spinning.erase(static_cast<uint32_t>(server.pid()));
  EXPECT_EQ(recorded.pids, spinning);

  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_TRUE(meta.IsObject());
  EXPECT_TRUE(meta["target"]["descendants"].GetBool());
  ASSERT_EQ(meta["target"]["ids"].Size(), 4u);
  EXPECT_EQ(meta["target"]["ids"][0].GetInt(), server.pid()) << "what was asked for comes first";
}

}  // namespace
}  // namespace cacheline::record::test
