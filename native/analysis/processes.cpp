// Processes and threads over time.
#include "analysis/processes.h"

namespace cacheline::analysis {

void Processes::onComm(const perfdata::Comm& record) {
  spaces.onComm(record);
  threads.onComm(record);
}

void Processes::onFork(const perfdata::Task& record) {
  spaces.onFork(record);
  threads.onFork(record);
}

void Processes::onExit(const perfdata::Task& record) {
  spaces.onExit(record);
}

void Processes::onLost(const perfdata::Lost& record) {
  lost += record.count;
  if (record.samples) lostSamples += record.count;
  spaces.onLost();
}

void Processes::lookUp(const perfdata::Sample& sample, Running& slot) {
  AddressSpace& space = spaces.of(sample.pid);
  slot = {sample.pid, sample.tid, threads.index(sample.pid, sample.tid), spaces.version(), &space};
}

}  // namespace cacheline::analysis
