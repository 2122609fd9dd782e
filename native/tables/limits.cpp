// Sentences about collectors.
#include "tables/limits.h"

namespace cacheline::tables {

std::vector<std::string> limitsOf(const analysis::Report& report) {
  std::vector<std::string> list;
  if (!report.splits->memory) {
    list.emplace_back(
        "Clock samples show where threads spend time: contended samples are time at lines that other threads "
        "compete for. They do not show which cache answered, so HITMs and bounces are not known.");
    if (report.collector == "agent")
      list.emplace_back("The agent samples the program's own code, not the kernel.");
    if (!report.splits->periodsKnown)
      list.emplace_back("The samples are not from a clock, so it is not known how long threads waited.");
  } else if (report.hitmKnown) {
    list.emplace_back(
        "Memory samples show which cache answered a load: contended samples are the HITMs that -d chooses. "
        "They "
        "show neither time nor where the line of a store came from.");
  } else if (report.peerKnown) {
    list.emplace_back(
        "Memory samples of Arm show which cache answered a load: contended samples are loads that another "
        "core's "
        "cache answered. They show neither HITMs nor time.");
  } else {
    list.emplace_back("The samples do not say where their data came from: nothing is known to be contended.");
  }
  return list;
}

}  // namespace cacheline::tables
