// Tries what recording needs and explains what is refused.
#include "record/doctor.h"

#include <linux/hw_breakpoint.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "base/error.h"
#include "record/capability.h"
#include "record/clock_plan.h"
#include "record/kernel.h"
#include "record/machine.h"
#include "record/meta_json.h"
#include "record/perf_source.h"
#include "record/pmu.h"
#include "record/procfs.h"
#include "record/recorder.h"

namespace cacheline::record {
namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr int kMostDebugRegisters = 16;  // of any architecture Linux has hardware breakpoints for
constexpr uint64_t kProbePeriod = 100'003;

void putString(Json& json, const std::string& value) {
  const std::string text = validUtf8(value);
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void putStrings(Json& json, const char* key, const std::vector<std::string>& values) {
  json.Key(key);
  json.StartArray();
  for (const std::string& value : values) putString(json, value);
  json.EndArray();
}

/// An empty text is what could not be found out, or is not there.
void putOrNull(Json& json, const char* key, const std::string& value) {
  json.Key(key);
  if (value.empty()) {
    json.Null();
  } else {
    putString(json, value);
  }
}

template <typename Number>
void putOrNull(Json& json, const char* key, const std::optional<Number>& value) {
  json.Key(key);
  if (value) {
    json.Int64(static_cast<int64_t>(*value));
  } else {
    json.Null();
  }
}

std::vector<std::string> pmuNames() {
  std::vector<std::string> names;
  for (const Pmu& pmu : listPmus()) names.push_back(pmu.name);
  return names;
}

/// How many debug registers this thread can have at once, and why not more.
struct DebugRegisters {
  int count = 0;
  int errnum = 0;
};
DebugRegisters tryDebugRegisters() {
  static const uint64_t watched = 0;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_RW;
  attr.bp_addr = reinterpret_cast<uint64_t>(&watched);
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.disabled = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  DebugRegisters result;
  std::vector<UniqueFd> held;
  while (result.count < kMostDebugRegisters) {
    UniqueFd fd(Kernel::real().perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (!fd) {
      result.errnum = errno;
      break;
    }
    held.push_back(std::move(fd));
    result.count++;
  }
  return result;
}

CollectorState examinePmu(const Permissions& permissions) {
  CollectorState state{"pmu", false, {}};
  const std::optional<MemoryPmu> memory = findMemoryPmu();
  if (!memory) {
    const bool guest = !hypervisorName().empty();
    state.blockers.push_back(
        {"memory PMU", "none under " + std::string(kPmuFolder) + " (only " + join(pmuNames(), ", ") + ")",
         guest ? "Nothing in this virtual machine adds it: record on the host or on bare metal, or let the "
                 "hypervisor give the guest a PMU"
               : "Record on a machine whose CPU samples memory accesses (Intel PEBS, AMD IBS, Arm SPE)"});
  } else {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = memory->pmu.type;
    attr.config = memory->config;
    attr.config1 = memory->config1;
    attr.sample_period = kProbePeriod;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    attr.precise_ip = memory->pmu.name.starts_with("cpu") ? 2 : 0;
    attr.disabled = 1;
    attr.exclude_kernel = permissions.privileged() ? 0 : 1;
    if (!UniqueFd(Kernel::real().perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC))) {
      Blocker refused = explainRefusal(errno, permissions);
      refused.value = memory->event + " is refused: " + refused.value;
      state.blockers.push_back(std::move(refused));
    }
  }
  state.blockers.push_back({"recording with the memory PMU", "not supported by this version",
                            "Use the clock collector, which this version has"});
  return state;
}

CollectorState examineClock(const Permissions& permissions) {
  CollectorState state{"clock", false, {}};
  try {
    const Planned planned = planClock(RecordOptions{}, permissions);
    state.blockers = planned.blockers;
    if (!state.blockers.empty()) return state;
    const Target self{Target::Kind::threads, {0}, {}, true};
    PerfSource::open(Kernel::real(), planned.plan, self, permissions, {});
    state.usable = true;
  } catch (const RefusedError& error) {
    state.blockers.push_back(error.blocker());
  }
  return state;
}

CollectorState examineWatch(const Permissions& permissions, const DebugRegisters& registers) {
  CollectorState state{"watch", false, {}};
  if (registers.count == 0) {
    Blocker refused = explainRefusal(registers.errnum, permissions);
    if (registers.errnum == ENOSPC)
      refused = {"debug registers", "all in use", "End the debugger or tracer that holds them"};
    state.blockers.push_back(std::move(refused));
  }
  state.blockers.push_back({"recording with watchpoints", "not supported by this version",
                            registers.count > 0
                                ? "None needed on this machine: its " + std::to_string(registers.count) +
                                      " debug registers can be used"
                                : "Use the clock collector"});
  return state;
}

std::string machineJson(const Permissions& permissions, const DebugRegisters& registers) {
  const perfdata::Features features = describeMachine();
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  putOrNull(json, "hostname", features.hostname);
  putOrNull(json, "kernel", features.osRelease);
  putOrNull(json, "architecture", features.arch);
  putOrNull(json, "cpu", features.cpuDesc);
  putOrNull(json, "cpuId", features.cpuId);
  putOrNull(json, "cpus", std::optional(features.cpusOnline));
  putOrNull(json, "numaNodes", std::optional(features.numaNodes.size()));
  putOrNull(json, "lineSize", std::optional(cacheLineSize()));
  putOrNull(json, "hypervisor", hypervisorName());
  putOrNull(json, "container", containerName());
  putStrings(json, "pmus", pmuNames());
  putOrNull(json, "perfEventParanoid", permissions.perfEventParanoid);
  putOrNull(json, "perfEventMlockKb", permissions.perfEventMlockKb);
  putOrNull(json, "maxSampleRate", permissions.maxSampleRate);
  putOrNull(json, "kptrRestrict", permissions.kptrRestrict);
  putOrNull(json, "ptraceScope", permissions.ptraceScope);
  putOrNull(json, "memlockBytes", permissions.memlockBytes);
  putStrings(json, "capabilities", permissions.capabilities);
  json.Key("initialUserNamespace");
  json.Bool(permissions.initialUserNamespace);
  putOrNull(json, "seccomp", permissions.seccompMode);
  putOrNull(json, "lockdown", permissions.lockdown.value_or(""));
  putOrNull(json, "debugRegisters", std::optional(registers.count));
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

void putSelfTests(Json& json, const std::vector<SelfTest>& tests) {
  json.Key("selfTests");
  json.StartArray();
  for (const SelfTest& test : tests) {
    json.StartObject();
    json.Key("collector");
    putString(json, test.collector);
    json.Key("passed");
    json.Bool(test.passed);
    json.Key("samples");
    json.Uint64(test.samples);
    json.Key("found");
    putString(json, test.found);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

Doctor examineMachine() {
  const Permissions permissions = readPermissions();
  const DebugRegisters registers = tryDebugRegisters();
  Doctor doctor;
  doctor.collectors.push_back(examinePmu(permissions));
  doctor.collectors.push_back(examineClock(permissions));
  doctor.collectors.push_back(examineWatch(permissions, registers));
  doctor.collectors.push_back({"agent",
                               false,
                               {{"recording with the preloaded agent", "not supported by this version",
                                 "Use the clock collector, which this version has"}}});
  doctor.machineJson = machineJson(permissions, registers);
  return doctor;
}

std::string doctorJson(const Doctor& doctor) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  json.Key("collectors");
  json.StartArray();
  for (const CollectorState& collector : doctor.collectors) {
    json.StartObject();
    json.Key("name");
    putString(json, collector.name);
    json.Key("usable");
    json.Bool(collector.usable);
    json.Key("blockers");
    json.StartArray();
    for (const Blocker& blocker : collector.blockers) {
      json.StartObject();
      json.Key("what");
      putString(json, blocker.what);
      json.Key("value");
      putString(json, blocker.value);
      json.Key("fix");
      putString(json, blocker.fix);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  if (doctor.selfTests) putSelfTests(json, *doctor.selfTests);
  json.Key("machine");
  json.RawValue(doctor.machineJson.data(), doctor.machineJson.size(), rapidjson::kObjectType);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace cacheline::record
