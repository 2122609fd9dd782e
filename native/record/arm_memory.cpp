// Arm: the Statistical Profiling Extension (SPE), whose records come through an AUX buffer a CPU. Facts from
// drivers/perf/arm_spe_pmu.c and tools/perf/{arch/arm64/util,util}/arm-spe.* of Linux.
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "perfdata/format.h"
#include "record/memory_vendors.h"
#include "record/procfs.h"
#include "spe/info.h"

namespace cacheline::record {
namespace {

constexpr size_t kPrivilegedAuxBytes = size_t{4} << 20, kAuxBytes = size_t{128} << 10;  // perf's, a CPU
constexpr uint64_t kUnknownInterval = 4096;  // operations: where the driver does not say its least one
constexpr uint64_t kVersion2 = 2, kVersion2HeaderWords = 4, kCpuMagic = 0x1010101010101010, kCpuWords = 3;

/// MIDR_EL1, the CPU's model; 0: unknown.
uint64_t midrOf(const std::string& sysfs, const std::string& cpu) {
  const auto text = readText(sysfs + "/devices/system/cpu/" + cpu + "/regs/identification/midr_el1");
  return text ? std::strtoull(text->c_str(), nullptr, 16) : 0;
}

/// CPU numbers of folders "cpu0", "cpu1", ...
std::vector<uint32_t> cpusIn(const std::string& sysfs) {
  std::vector<uint32_t> cpus;
  for (const std::string& name : listDirectory(sysfs + "/devices/system/cpu")) {
    if (!name.starts_with("cpu") || name.size() < 4) continue;
    const std::vector<uint32_t> number = parseCpuList(std::string_view(name).substr(3));
    if (number.size() == 1) cpus.push_back(number.front());
  }
  std::ranges::sort(cpus);
  return cpus;
}

/// PERF_RECORD_AUXTRACE_INFO. Version 1, which every perf reads, does for CPUs of one model (the header's
/// CPUID names it) and one PMU; version 2 (perf 6.13) names each CPU's.
std::vector<uint8_t> auxtraceInfo(const std::string& sysfs, const std::vector<SysfsPmu>& pmus) {
  struct Cpu {
    uint64_t number, midr, pmuType, interval;
  };
  std::vector<Cpu> cpus;
  for (const uint32_t number : cpusIn(sysfs)) {
    Cpu cpu{number, midrOf(sysfs, "cpu" + std::to_string(number)), UINT64_MAX, 0};
    for (const SysfsPmu& pmu : pmus) {
      const std::vector<uint32_t> of = pmu.cpus();
      if (!of.empty() && std::ranges::find(of, number) == of.end()) continue;
      cpu.pmuType = pmu.type();
      cpu.interval = static_cast<uint64_t>(std::max<int64_t>(pmu.capability("min_interval").value_or(0), 0));
    }
    cpus.push_back(cpu);
  }
  const bool alike = std::ranges::all_of(
      cpus, [&](const Cpu& cpu) { return cpu.midr == cpus.front().midr || cpu.midr == 0; });
  std::vector<uint64_t> words{0, spe::kAuxtraceTypeSpe};  // header, type
  if (alike && pmus.size() == 1) {
    const uint64_t oneBufferACpu = 1;
    words.insert(words.end(), {pmus.front().type(), oneBufferACpu});
  } else {
    words.insert(words.end(), {kVersion2, kVersion2HeaderWords, pmus.front().type(), cpus.size()});
    for (const Cpu& cpu : cpus)
      words.insert(words.end(), {kCpuMagic, cpu.number, kCpuWords, cpu.midr, cpu.pmuType, cpu.interval});
  }
  const size_t bytes = words.size() * sizeof(uint64_t);
  if (bytes > UINT16_MAX) {  // about 1,300 CPUs
    words.resize(2);
    words.insert(words.end(), {pmus.front().type(), 1});
  }
  perf_event_header header{perfdata::kRecordAuxtraceInfo, 0, 0};
  header.size = static_cast<uint16_t>(words.size() * sizeof(uint64_t));
  std::vector<uint8_t> record(header.size);
  std::copy_n(reinterpret_cast<const uint8_t*>(words.data()), record.size(), record.begin());
  std::copy_n(reinterpret_cast<const uint8_t*>(&header), sizeof header, record.begin());
  return record;
}

PlannedEvent speEvent(const MemoryRequest& request, const MemoryStep& step, const SysfsPmu& pmu) {
  const RecordOptions& options = request.options;
  std::vector<std::string> unused;  // of the frequency, which SPE does not have
  PlannedEvent event;
  perf_event_attr& attr = event.event.attr;
  attr = memoryAttr(request, step, unused);
  attr.type = pmu.type();
  std::string name;
  std::vector<EventTerm> terms;
  const auto add = [&](const char* term, uint64_t value) {
    terms.push_back({term, value});
    name += (name.empty() ? "" : ",") + std::string(term) + "=" + std::to_string(value);
  };
  add("ts_enable", 1);
  if (step.physical) add("pa_enable", 1);
  add("load_filter", 1);
  add("store_filter", 1);
  add("min_latency", options.ldlat);
  EventWords words{};
  pmu.encode(terms, words);
  setEventWords(attr, words);
  attr.freq = 0;
  attr.sample_period = options.period;
  if (attr.sample_period == 0)
    attr.sample_period = static_cast<uint64_t>(
        std::max<int64_t>(pmu.capability("min_interval").value_or(kUnknownInterval), 1));
  // Its timestamps are the architecture's counter, which the kernel relates to its own clock only.
  attr.use_clockid = 0;
  attr.clockid = 0;
  event.event.name = pmu.name() + "/" + name + "/" + (step.kernel || options.userOnly ? "" : "u");
  event.cpus = pmu.cpus();
  event.auxBytes = request.permissions.privileged() ? kPrivilegedAuxBytes : kAuxBytes;
  return event;
}

/// Mappings, names, threads, and which thread runs on a CPU: the trace names threads to the privileged only.
PlannedEvent trackingEvent(const MemoryRequest& request, const MemoryStep& step) {
  std::vector<std::string> unused;
  PlannedEvent event;
  perf_event_attr& attr = event.event.attr;
  attr = memoryAttr(request, step, unused);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.freq = 0;
  attr.sample_period = 1;
  attr.sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.exclude_user = 0;
  attr.use_clockid = 0;
  attr.clockid = 0;
  attr.context_switch = 1;
  trackProcesses(attr);
  event.event.name = "dummy:u";
  return event;
}

}  // namespace

Planned planArm(const MemoryRequest& request, const std::vector<SysfsPmu>& pmus) {
  Planned planned;
  const RecordOptions& options = request.options;
  std::vector<std::string> warnings;
  if (options.frequencyGiven && options.period == 0)
    warnings.push_back(
        "Arm SPE samples every N operations, not by frequency: recorded with the smallest N; "
        "use --count to sample less");
  if (options.callGraph != CallGraph::none) warnings.push_back("Arm SPE records no call chains");
  RecordOptions plain = options;
  plain.callGraph = CallGraph::none;
  const MemoryRequest traced{request.kernel, plain, request.permissions};
  planned.plan.ldlat = options.ldlat;
  for (const MemoryStep& step : memorySteps(traced)) {
    Attempt attempt;
    attempt.kernel = step.kernel;
    attempt.warnings = warnings;
    for (const SysfsPmu& pmu : pmus) attempt.events.push_back(speEvent(traced, step, pmu));
    attempt.events.push_back(trackingEvent(traced, step));
    for (std::string& warning : stepWarnings(request, step)) attempt.warnings.push_back(std::move(warning));
    planned.plan.attempts.push_back(std::move(attempt));
  }
  planned.plan.preamble = auxtraceInfo(request.kernel.sysfs, pmus);
  return planned;
}

}  // namespace cacheline::record
