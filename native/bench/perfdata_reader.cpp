// How fast the reader delivers samples, beside a loop that only sums the file's bytes.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "perfdata/bytes.h"
#include "perfdata/reader.h"
#include "tests/perfdata/record_builder.h"

namespace {

using namespace cacheline::perfdata;
using namespace cacheline::perfdata::testing;

constexpr uint64_t kSamples = 1'000'000;

/// A recording of kSamples on two CPUs with a round every 2,000 samples, as the recorder writes them; removed
/// at exit. The samples belong to the events in turn.
class Recording {
 public:
  Recording(const char* name, const std::vector<perf_event_attr>& events)
      : path_(std::filesystem::temp_directory_path() / (std::string("cacheline-bench-") + name + ".data")) {
    RecordBuilder b;
    for (uint64_t i = 0; i < events.size(); ++i) b.event(events[i], "event", {2 * i + 1, 2 * i + 2});
    SampleFields fields;
    fields.callchain = {PERF_CONTEXT_USER, 1, 2, 3};
    for (uint64_t i = 0; i < kSamples; ++i) {
      const uint64_t inRound = i % 2000;
      const uint32_t cpu = inRound < 1000 ? 0 : 1;
      fields.ip = 0x400000 + i % 64;
      fields.address = 0x600000 + 64 * (i % 2000);
      b.use(i % events.size())
          .cpu(cpu)
          .thread(1, 1 + cpu)
          .at(1'000'000 + 2000 * (i / 2000) + 2 * (inRound % 1000) + cpu)
          .sample(fields);
      if (inRound == 1999) b.finishedRound();
    }
    b.write(path_);
  }
  ~Recording() { std::filesystem::remove(path_); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const Recording& clockRecording() {
  static const Recording recording(
      "clock", {clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                          PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_INTR)});
  return recording;
}

/// Loads and stores in turn, with what `perf c2c record` asks for.
const Recording& memoryRecording() {
  static const perf_event_attr attr =
      clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_STRUCT |
                PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR);
  static const Recording recording("memory", {attr, attr});
  return recording;
}

class Counter : public RecordVisitor {
 public:
  void onSample(const Sample& sample) override {
    sum += sample.ip + sample.address + sample.registers.value[0];
  }
  uint64_t sum = 0;
};

void report(benchmark::State& state, const std::string& path) {
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kSamples));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * std::filesystem::file_size(path)));
}

void readAll(benchmark::State& state, const Recording& recording) {
  for (auto _ : state) {
    const auto reader = Reader::open(recording.path());
    Counter counter;
    reader->readAll(counter);
    benchmark::DoNotOptimize(counter.sum);
  }
  report(state, recording.path());
}

void sumBytes(benchmark::State& state, const Recording& recording) {
  for (auto _ : state) {
    const auto file = cacheline::MappedFile::open(recording.path());
    uint64_t sum = 0;
    const auto bytes = file.bytes();
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) sum += load<uint64_t>(bytes.data() + at);
    benchmark::DoNotOptimize(sum);
  }
  report(state, recording.path());
}

void BM_ReadAllClockSamples(benchmark::State& state) {
  readAll(state, clockRecording());
}
void BM_SumBytesClockSamples(benchmark::State& state) {
  sumBytes(state, clockRecording());
}
void BM_ReadAllMemorySamples(benchmark::State& state) {
  readAll(state, memoryRecording());
}
void BM_SumBytesMemorySamples(benchmark::State& state) {
  sumBytes(state, memoryRecording());
}

BENCHMARK(BM_ReadAllClockSamples)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SumBytesClockSamples)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadAllMemorySamples)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_SumBytesMemorySamples)->Unit(benchmark::kMillisecond);

}  // namespace
