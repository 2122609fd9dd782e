// Everything of a recording, in the order of the file.
#include "write.h"

#include <cstdio>
#include <memory>

#include "base/error.h"
#include "base/registers.h"
#include "recording_file.h"
#include "sampler.h"
#include "scenario.h"
#include "world.h"

namespace cacheline::synth {

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
}

}  // namespace cacheline::synth
