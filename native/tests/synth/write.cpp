// Everything of a recording, in the order of the file.
#include "write.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/registers.h"
#include "recording_file.h"
#include "sampler.h"
#include "scenario.h"
#include "tests/heap/file_builder.h"
#include "world.h"

namespace cacheline::synth {

namespace {

/// What the heap agent would have written: each line of the heap is a block, and its place is allocated anew
/// in each quarter of the recording.
void writeAllocations(const Options& options, const World& world, uint64_t end) {
  constexpr uint64_t kLives = 4, kLineBytes = 64;
  // An allocation takes four words, and a free two.
  constexpr size_t kBytesOfLine = kLives * (4 + 2) * sizeof(uint64_t);
  heap::test::FileBuilder file;
  const uint64_t life = (end - Sampler::kStart) / kLives;
  for (uint32_t process = 0; process < options.processes; ++process) {
    std::vector<uint64_t> addresses;
    for (const Line& line : world.lines())
      if (line.region == Region::heap && (line.process == process || line.process == kAnyProcess))
        addresses.push_back(world.address(line, process));
    const auto pages = static_cast<uint32_t>(1 + addresses.size() * kBytesOfLine / (HEAP_PAGE / 2));
    auto& chunk = file.chunk(World::pid(process), World::pid(process), pages);
    for (uint64_t number = 0; number < kLives; ++number) {
      uint64_t time = Sampler::kStart + number * life;
      for (const uint64_t address : addresses) {
        if (number > 0) chunk.free(++time, address);
        chunk.allocate(++time, address, kLineBytes);
      }
    }
  }
  const std::vector<uint8_t> bytes = file.bytes();
  std::ofstream out(options.allocations, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw Error(ErrorKind::io, "cannot write " + options.allocations);
}

}  // namespace

void writeRecording(const Options& options, const Binary& binary) {
  Scenario scenario = findScenario(options.scenario, options.callchains);
  if (options.registers)
    for (perfdata::Event& event : scenario.events) {
      event.attr.sample_type |= PERF_SAMPLE_REGS_INTR;
      event.attr.sample_regs_intr = kX86SampleRegs;
    }
  const World world(options, scenario, binary);
  const auto events = eventsOf(scenario, options.cpus);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> list(nullptr, &std::fclose);
  if (!options.list.empty()) {
    list.reset(std::fopen(options.list.c_str(), "w"));
    if (!list) throw Error(ErrorKind::io, describeErrno("cannot create " + options.list, errno));
  }
  Sampler sampler(options, scenario, binary, world, list.get());
  const auto writer = perfdata::Writer::create(options.output, events);
  const auto builder = [&events]() {
    perfdata::testing::RecordBuilder records;
    for (const auto& event : events) records.event(event.attr, event.name, event.ids);
    return records;
  };
  auto start = builder(), end = builder();
  world.announce(start, Sampler::kStart / 2);
  world.leave(end, sampler.end());
  writer->append(start.records());
  sampler.run(*writer);
  writer->append(end.records());
  writer->finishedRound();
  writer->finish(featuresOf(options, scenario, binary, Sampler::kStart, sampler.end()));
  addFeatures(options.output, scenario);
  if (!options.allocations.empty()) writeAllocations(options, world, sampler.end());
}

}  // namespace cacheline::synth
