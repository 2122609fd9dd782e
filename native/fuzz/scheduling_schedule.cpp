// libFuzzer from the bytes of a recording to what its threads did. Any bytes give a schedule whose times lie
// in its window and whose bins add up, or Error(unreadable), and nothing else.
#include <rapidjson/document.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "analysis/timeline.h"
#include "base/error.h"
#include "fuzz/perfdata_seeds.h"
#include "perfdata/reader.h"
#include "scheduling/schedule.h"

namespace {

using namespace cacheline;
using perfdata::testing::RecordBuilder;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const scheduling::Schedule& schedule) {
  for (const scheduling::ThreadSchedule& thread : schedule.threads) {
    require(thread.first <= thread.last && thread.last <= schedule.span);
    if (schedule.basis == scheduling::Basis::switches)
      require(thread.running + *thread.runnable + *thread.blocked + thread.unknown <= schedule.span);
    if (!thread.lane) continue;
    const auto sum = [&](analysis::Activity activity) {
      const std::vector<uint64_t>& bins = thread.lane->activities[static_cast<size_t>(activity)];
      require(bins.size() == schedule.bins);
      return std::accumulate(bins.begin(), bins.end(), uint64_t{0});
    };
    require(sum(analysis::Activity::running) == thread.running);
    require(sum(analysis::Activity::unknown) == thread.unknown);
  }
  rapidjson::Document document;
  require(
      !document.Parse<rapidjson::kParseValidateEncodingFlag>(scheduling::scheduleJson(schedule, "").c_str())
           .HasParseError());
}

/// Threads that are switched in every way.
void writeSwitchSeed(const std::string& corpus) {
  RecordBuilder builder;
  builder.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                             PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD));
  const uint16_t out = PERF_RECORD_MISC_SWITCH_OUT, preempt = out | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
  builder.thread(5, 5).at(1000).comm("worker", true).fork(5, 6);
  builder.at(2000).raw(PERF_RECORD_SWITCH, out, {}, true).thread(5, 6).cpu(1);
  builder.at(2500).raw(PERF_RECORD_SWITCH, 0, {}, true).at(3000).sample({.ip = 1});
  builder.at(3500).raw(PERF_RECORD_SWITCH, preempt, {}, true).at(4000).raw(PERF_RECORD_SWITCH, 0, {}, true);
  builder.at(4500).exit().finishedRound();
  builder.thread(5, 5).at(5000).raw(PERF_RECORD_SWITCH_CPU_WIDE, 0, perfdata::testing::Bytes(8, 1), true);
  builder.at(6000).lost(3).exit();
  perfdata::testing::writeSeed(corpus, "switches", perfdata::testing::fileBytes(builder));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string corpus = perfdata::testing::emptyCorpus(*argc, *argv);
  perfdata::testing::writeRecordingSeeds(*argc, *argv);
  if (!corpus.empty()) writeSwitchSeed(corpus);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto reader = perfdata::Reader::fromBytes({data, size}, "fuzz");
    const analysis::Timeline timeline = analysis::Timeline::of(*reader);
    scheduling::ScheduleOptions options{.bins = 1 + size % 97};
    check(scheduling::scheduleOf(*reader, timeline, options, nullptr));
    options.filter.from = static_cast<double>(size % 7) / 1e6;
    options.filter.to = 2e-6;
    check(scheduling::scheduleOf(*reader, timeline, options, nullptr));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unreadable) std::abort();
  }
  return 0;
}
