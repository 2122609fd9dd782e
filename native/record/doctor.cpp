// Tries what recording needs and explains what is refused.
#include "record/doctor.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <optional>

#include "base/utf8.h"
#include "record/capability.h"
#include "record/examine.h"
#include "record/kernel.h"
#include "record/machine.h"
#include "record/pmu.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

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

Doctor examineMachine(const std::string& agentLibrary) {
  const Kernel& kernel = Kernel::real();
  const Permissions permissions = readPermissions();
  const DebugRegisters registers = tryDebugRegisters(kernel);
  Doctor doctor;
  doctor.collectors = {examinePmu(kernel, permissions), examineClock(kernel, permissions),
                       examineWatch(registers, permissions), examineAgent(agentLibrary)};
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
    if (!collector.note.empty()) {
      json.Key("note");
      putString(json, collector.note);
    }
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
