// The recorder's parts by themselves: PMU discovery, text notations, meta.json, environment, doctor.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <filesystem>

#include "calibration/calibration_json.h"
#include "record/child_process.h"
#include "record/clock_plan.h"
#include "record/describe.h"
#include "record/doctor.h"
#include "record/machine.h"
#include "record/meta_json.h"
#include "record/pmu.h"
#include "record/procfs.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

TEST(PerfEvent, RatesWithinTheLimits) {
  Permissions permissions;
  permissions.maxSampleRate = 1000;
  std::vector<std::string> warnings;
  EXPECT_EQ(allowedFrequency(1000, permissions, warnings), 1000u);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(allowedFrequency(1001, permissions, warnings), 1000u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(contains(warnings[0], "perf_event_max_sample_rate"));
  permissions.maxSampleRate = 100'000;
  EXPECT_EQ(allowedFrequency(100'000, permissions, warnings), kMostFrequency);
  EXPECT_EQ(warnings.size(), 2u);
}

TEST(Procfs, CpuLists) {
  EXPECT_EQ(parseCpuList("0-2,5\n"), (std::vector<uint32_t>{0, 1, 2, 5}));
  EXPECT_EQ(parseCpuList("3"), (std::vector<uint32_t>{3}));
  EXPECT_EQ(parseCpuList(""), (std::vector<uint32_t>{}));
  EXPECT_EQ(parseCpuList("x,1-,-2,4"), (std::vector<uint32_t>{4}));
  EXPECT_EQ(parseCpuList("0-4294967295").size(), 65536u);
}

TEST(Procfs, Fields) {
  const char* text = "Name:\tspin\nSeccomp:\t2\nSeccomp_filters:\t1\nmodel name\t: A : B\n";
  EXPECT_EQ(fieldOf(text, "Seccomp"), "2");
  EXPECT_EQ(fieldOf(text, "model name"), "A : B");
  EXPECT_EQ(fieldOf(text, "CapEff"), "");
  EXPECT_FALSE(readText("/no/such/file"));
  EXPECT_FALSE(readNumber("/proc/self/status"));
}

TEST(Pmu, AreListedByName) {
  const TemporaryFolder folder;
  const auto add = [&](const std::string& name, const std::string& type) {
    std::filesystem::create_directories(folder.file(name));
    writeFile(folder.file(name + "/type"), type + "\n");
  };
  add("software", "1");
  add("cpu", "4");
  add("broken", "none");
  const std::vector<Pmu> pmus = listPmus(folder.path());
  ASSERT_EQ(pmus.size(), 2u);
  EXPECT_EQ(pmus[0].name, "cpu");
  EXPECT_EQ(pmus[0].type, 4u);
  EXPECT_TRUE(listPmus(folder.file("nothing")).empty());
}

TEST(MetaJson, BytesThatAreNoUtf8) {
  Meta meta;
  meta.command = {"a\xff\"\n"};
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(metaJson(meta).c_str());
  ASSERT_FALSE(document.HasParseError());
  EXPECT_STREQ(document["command"][0].GetString(), "a\xef\xbf\xbd\"\n");
  EXPECT_TRUE(document["program"].IsNull());
}

TEST(MetaJson, HasTheCalibrationWhereThereIsOne) {
  Meta meta;
  rapidjson::Document without;
  without.Parse(metaJson(meta).c_str());
  EXPECT_TRUE(without["calibration"].IsNull());
  meta.calibration.emplace();
  meta.calibration->cpuModel = "Model\xff\"";
  meta.calibration->classes.fill({{1, 2, 3, 4.5, 0.25}});
  rapidjson::Document with;
  with.Parse<rapidjson::kParseValidateEncodingFlag>(metaJson(meta).c_str());
  ASSERT_FALSE(with.HasParseError());
  const calibration::Calibration back = calibration::parse(with["calibration"]);
  EXPECT_EQ(back.cpuModel, "Model\xef\xbf\xbd\"");
  EXPECT_EQ(back.of(calibration::AccessClass::store).at(0).contendedNs, 3);
}

TEST(Environment, ChangesReplaceAndAdd) {
  ::setenv("CACHELINE_TEST_A", "old", 1);
  const std::vector<std::string> merged = mergedEnvironment({"CACHELINE_TEST_A=new", "CACHELINE_TEST_B=1"});
  EXPECT_EQ(std::count(merged.begin(), merged.end(), "CACHELINE_TEST_A=new"), 1);
  EXPECT_EQ(std::count(merged.begin(), merged.end(), "CACHELINE_TEST_A=old"), 0);
  EXPECT_EQ(std::count(merged.begin(), merged.end(), "CACHELINE_TEST_B=1"), 1);
  ::unsetenv("CACHELINE_TEST_A");
}

TEST(ChildProcess, AHeldChildRunsNothingAndGoesWithItsOwner) {
  const TemporaryFolder folder;
  pid_t pid = 0;
  {
    ChildProcess child(ChildSetup{"/usr/bin/touch", {"touch", folder.file("ran")}, {}, "", -1, -1, false});
    pid = child.pid();
    ::usleep(50'000);
    EXPECT_FALSE(child.poll());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(exists(folder.file("ran")));
}

TEST(FewSamples, AreDueByTheRateThatWasRecorded) {
  EXPECT_FALSE(samplesWereDue(250, 0.055));
  EXPECT_TRUE(samplesWereDue(499, 0.055));
  EXPECT_TRUE(samplesWereDue(4000, 0.006));
  EXPECT_FALSE(samplesWereDue(0, 100)) << "by period";
}

TEST(FewSamples, NoneWhereManyWereDueHasAReason) {
  RecordOptions options;
  options.command = {"sh"};
  RecordResult result;
  result.collector = "clock";
  result.seconds = 0.5;
  const auto hasReason = [&] { return contains(fewSamplesText(options, result), "set-user-ID"); };
  EXPECT_FALSE(hasReason()) << "it was too short";
  result.samplesWereDue = true;
  EXPECT_TRUE(hasReason());
  options.target.cpus = {1};
  EXPECT_FALSE(hasReason()) << "it may have run on other CPUs";
  options.target.cpus = {};
  options.kernelOnly = true;
  EXPECT_FALSE(hasReason());
  EXPECT_TRUE(contains(fewSamplesText(options, result), "hardly any of it in the kernel"));
  options.kernelOnly = false;
  result.samples = 1;
  EXPECT_FALSE(hasReason());
}

TEST(Machine, DescribesThisOne) {
  const perfdata::Features features = describeMachine();
  EXPECT_FALSE(features.hostname.empty());
  EXPECT_EQ(features.arch, "x86_64");
  EXPECT_GE(features.cpusAvailable, features.cpusOnline);
  EXPECT_EQ(features.cpuPlaces.size(), features.cpusAvailable);
  EXPECT_GT(features.totalMemKb, 1024u);
  EXPECT_EQ(std::count(features.cpuId.begin(), features.cpuId.end(), '-'), 3) << features.cpuId;
  EXPECT_TRUE(cacheLineSize() == 64 || cacheLineSize() == 128);
  const std::string id = kernelBuildId();
  if (exists("/sys/kernel/notes") && ::access("/sys/kernel/notes", R_OK) == 0) {
    EXPECT_EQ(id.size(), 40u);
  }
}

TEST(Doctor, SaysWhatCanBeRecordedHere) {
  const Doctor doctor = examineMachine(CACHELINE_SAMPLER);
  rapidjson::Document json;
  json.Parse(doctorJson(doctor).c_str());
  ASSERT_TRUE(json.IsObject());
  const std::vector<std::string> names{"pmu", "clock", "watch", "agent"};
  ASSERT_EQ(json["collectors"].Size(), names.size());
  for (rapidjson::SizeType i = 0; i < names.size(); i++) {
    const auto& collector = json["collectors"][i];
    EXPECT_EQ(collector["name"].GetString(), names[i]);
    // Usable, or at least one reason with its value and its remedy.
    EXPECT_NE(collector["usable"].GetBool(), collector["blockers"].Size() > 0);
    for (const auto& blocker : collector["blockers"].GetArray())
      for (const char* key : {"what", "value", "fix"})
        EXPECT_GT(blocker[key].GetStringLength(), 0u) << names[i];
  }
  EXPECT_TRUE(json["collectors"][1]["usable"].GetBool()) << "the other tests record with it";
  for (const char* key : {"kernel", "architecture", "cpu", "cpus", "hypervisor", "pmus", "perfEventParanoid",
                          "perfEventMlockKb", "maxSampleRate", "kptrRestrict", "ptraceScope", "seccomp",
                          "lockdown", "capabilities", "lineSize", "container", "debugRegisters"})
    EXPECT_TRUE(json["machine"].HasMember(key)) << key;
}

}  // namespace
}  // namespace cacheline::record::test
