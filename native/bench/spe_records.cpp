// SPE packets and samples per second: loads and stores as a Neoverse writes them, 10 packets a record.
#include <benchmark/benchmark.h>

#include "spe/session.h"
#include "tests/spe/spe_builder.h"

namespace {

using namespace cacheline::spe;

constexpr uint64_t kPackets = 10;

/// `count` records, padded to 64 bytes each as the CPU does.
std::vector<uint8_t> auxBytes(uint64_t count, uint64_t firstTick) {
  testing::SpeBuilder b;
  for (uint64_t i = 0; i < count; ++i) {
    b.pc(0x400000 + 4 * (i % 100), 0).issue(12).total(static_cast<uint16_t>(100 + i % 200));
    b.virtualAddress(0xaaaa00000000 + 64 * (i % 1000))
        .translation(2)
        .context(static_cast<uint32_t>(100 + i % 4));
    i % 3 == 0 ? b.store() : b.load();
    b.events(kEventRetired | kEventL1dAccess | kEventL1dRefill, 2)
        .dataSource(kArmPeerCore)
        .timestamp(firstTick + 2 * i);
    b.pad((64 - b.bytes().size() % 64) % 64);
  }
  return b.bytes();
}

void decodeRecords(benchmark::State& state) {
  const std::vector<uint8_t> bytes = auxBytes(1 << 16, 0);
  uint64_t packets = 0, sum = 0;
  for (auto _ : state) {
    SpeBuffer buffer(bytes);
    SpeRecord record;
    while (buffer.next(record)) sum += record.virtualAddress;
    packets += buffer.counts().packets;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(packets));
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size() * static_cast<size_t>(state.iterations())));
  state.counters["records/s"] =
      benchmark::Counter(static_cast<double>(packets / kPackets), benchmark::Counter::kIsRate);
}
BENCHMARK(decodeRecords);

/// range(0): CPUs whose buffers are merged.
void mergeSamples(benchmark::State& state) {
  std::vector<std::vector<uint8_t>> cpus;
  for (int64_t cpu = 0; cpu < state.range(0); ++cpu)
    cpus.push_back(auxBytes(1 << 13, static_cast<uint64_t>(cpu)));
  uint64_t samples = 0, sum = 0;
  for (auto _ : state) {
    SpeSession session({}, {.midr = 0x410fd0c0, .time = TimeConversion{.shift = 10, .mult = 40960}});
    for (int32_t tid = 100; tid < 104; ++tid) session.addThread({.pid = 100, .tid = tid});
    for (size_t cpu = 0; cpu < cpus.size(); ++cpu)
      session.addChunk({.cpu = static_cast<int32_t>(cpu), .bytes = cpus[cpu]});
    SpeSample sample;
    while (session.next(sample)) sum += sample.address;
    samples += session.counts().samples;
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(samples));
}
BENCHMARK(mergeSamples)->Arg(1)->Arg(8)->Arg(64);

}  // namespace
