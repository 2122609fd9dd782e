// Records of context switches: where they are, that each is there once, and what is said where they are not.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <optional>

#include "base/error.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// Two threads that work and sleep by turns, for as long as the program runs.
const char* const kNapping = R"(
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void* nap(void* rounds) {
  volatile long steps = 0;
  for (long i = 0; i < (long)rounds; i++) {
    for (int j = 0; j < 100000; j++) steps++;
    const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, 0);
  }
  return 0;
}
int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 1000000;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, nap, (void*)rounds);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
)";

/// How each thread was switched.
struct Switches : perfdata::RecordVisitor {
  explicit Switches(const std::string& folder) {
    const auto reader = perfdata::Reader::open(folder + "/perf.data");
    reader->readAll(*this);
    for (const uint32_t type : {PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE})
      records[type] = reader->recordCounts()[type];
  }
  void onSwitch(const perfdata::Switch& record) override {
    const auto [last, isNew] = lastOut.try_emplace(record.tid, record.out);
    if (!isNew && last->second == record.out) ++contradictions;
    last->second = record.out;
    ++ofThread[record.tid];
    times &= perfdata::isTime(record.time);
  }
  std::map<uint32_t, uint64_t> records, ofThread;
  std::map<uint32_t, bool> lastOut;
  uint64_t contradictions = 0;
  bool times = true;
};

/// meta.json's "switches".
std::pair<bool, std::string> metaOf(const RecordOptions& options) {
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  const rapidjson::Value& switches = meta["switches"];
  return {switches["recorded"].GetBool(), switches["reason"].IsNull() ? "" : switches["reason"].GetString()};
}

TEST(Switches, OfAProgramAlternate) {
  const TemporaryFolder folder;
  const RecordOptions options =
      optionsFor(folder, {compile(folder, "nap", kNapping, "-O1 -g -pthread"), "100"});
  const RecordResult result = recordNow(options);
  EXPECT_EQ(result.exitStatus, 0);
  const Switches switches(options.outputDirectory);
  EXPECT_EQ(switches.contradictions, 0u);
  EXPECT_TRUE(switches.times);
  ASSERT_EQ(switches.ofThread.size(), 3u);
  for (const auto& [tid, count] : switches.ofThread) {
    if (tid != switches.ofThread.begin()->first) {
      EXPECT_GE(count, 200u) << tid;
    }
  }
  EXPECT_EQ(switches.records.at(PERF_RECORD_SWITCH_CPU_WIDE), 0u);
  EXPECT_EQ(metaOf(options), std::make_pair(true, std::string()));
}

TEST(Switches, OfThreadsThatRunAlreadyAreThereOnce) {
  const TemporaryFolder folder;
  Running program({compile(folder, "nap", kNapping, "-O1 -g -pthread")});
  program.waitForThreads(3);
  RecordOptions options = attachTo(folder, {program.pid()});
  options.durationSeconds = 0.5;
  recordNow(options);
  const Switches switches(options.outputDirectory);
  EXPECT_EQ(switches.contradictions, 0u);
  EXPECT_EQ(switches.ofThread.size(), 2u) << "the main thread waits all the time";
  EXPECT_TRUE(metaOf(options).first);
}

TEST(Switches, OfTheWholeMachineNameBothThreads) {
  const TemporaryFolder folder;
  Running program({compile(folder, "nap", kNapping, "-O1 -g -pthread")});
  program.waitForThreads(3);
  RecordOptions options = optionsFor(folder, {});
  options.target.kind = Target::Kind::system;
  options.durationSeconds = 0.3;
  try {
    recordNow(options);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Switches switches(options.outputDirectory);
  EXPECT_GT(switches.records.at(PERF_RECORD_SWITCH_CPU_WIDE), 100u);
  EXPECT_EQ(switches.records.at(PERF_RECORD_SWITCH), 0u);
}

TEST(Switches, AreLeftOutWhereTheyAreNotAskedFor) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "nap", kNapping, "-O1 -g -pthread"), "20"});
  options.switches = false;
  recordNow(options);
  EXPECT_EQ(Switches(options.outputDirectory).records.at(PERF_RECORD_SWITCH), 0u);
  EXPECT_EQ(metaOf(options), std::make_pair(false, std::string("they were not asked for (--no-switches)")));
}

TEST(Switches, AKernelThatRefusesThemRecordsTheRest) {
  const TemporaryFolder folder;
  Kernel kernel = Kernel::real();
  // As Linux before 4.3: also without PERF_FORMAT_LOST.
  kernel.perfEventOpen = [](const perf_event_attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    if (attr.context_switch == 0 && attr.read_format == 0)
      return Kernel::real().perfEventOpen(attr, pid, cpu, group, flags);
    errno = EINVAL;
    return -1;
  };
  const RecordOptions options = optionsFor(folder, {compile(folder, "spin", kSpin), "1", "0.2"});
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, {}, kernel);
  EXPECT_GT(result.samples, 50u);
  EXPECT_EQ(Switches(options.outputDirectory).records.at(PERF_RECORD_SWITCH), 0u);
  const auto [recorded, reason] = metaOf(options);
  EXPECT_FALSE(recorded);
  EXPECT_EQ(reason, "the kernel refuses them with EINVAL (Invalid argument)");
}

}  // namespace
}  // namespace cacheline::record::test
