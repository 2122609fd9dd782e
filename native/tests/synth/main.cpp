// cacheline_synth: seeded recordings of memory accesses, as `perf c2c record` writes them on machines we do
// not have.
//
// The list (--list) has one line for each sample, in the order of the file, with tabs between: time in ns,
// event (index), pid, tid, cpu, cpumode, and in hex instruction pointer, data address, data source; latency
// in cycles; in hex the physical address; the line's address space, and in hex its first byte there (a file
// offset in "file" spaces); in hex the two callers, innermost first, which --callchains records.
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "binary.h"
#include "options.h"
#include "recording_file.h"
#include "sampler.h"
#include "scenario.h"
#include "world.h"

namespace {

using namespace cacheline;
using namespace cacheline::synth;

void write(const Options& options) {
  const Scenario scenario = findScenario(options.scenario, options.callchains);
  const Binary binary = readBinary(options.binary, options.codes);
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

}  // namespace

int main(int argc, char** argv) {
  try {
    write(parseOptions(argc, argv));
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "cacheline_synth: %s\n%s", error.what(),
                 error.kind() == ErrorKind::usage ? kUsage : "");
    return error.kind() == ErrorKind::usage ? 2 : 1;
  }
}
