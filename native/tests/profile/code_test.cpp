// The instructions around an access: their texts, what was measured at each, and what is said without them.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "profile/profile.h"
#include "scenario.h"

namespace cacheline::profile {
namespace {

using namespace analysis::test;

constexpr uint64_t kWords = 0x5000000;

/// The code of the access with a function's name.
rapidjson::Document codeOf(const Profile& profile, const std::string& function) {
  rapidjson::Document lines, code;
  const std::string page = profile.lines({.range = {0, 100}}, {});
  lines.Parse(page.data(), page.size());
  for (const auto& row : lines["rows"].GetArray()) {
    const auto accesses = row["line"]["accesses"].GetArray();
    for (uint32_t i = 0; i < accesses.Size(); ++i) {
      if (accesses[i]["symbol"].GetString() != function) continue;
      const std::string json = profile.code(row["id"].GetString(), i, {});
      code.Parse(json.data(), json.size());
      EXPECT_FALSE(code.HasParseError()) << json;
      return code;
    }
  }
  throw std::runtime_error("no access of " + function);
}

/// Two threads that add to words of one line, and one that loads from another line.
std::string contendedFolder(Scenario& scenario, const std::string& binary) {
  scenario.startFile(100, binary);
  scenario.anonymous(100, kWords, 0x1000, "[heap]");
  for (const uint32_t tid : {101u, 102u}) {
    scenario.thread(100, tid);
    scenario.records().thread(100, tid).comm(tid == 101 ? "first" : "second");
  }
  for (int i = 0; i < 200; ++i) {
    scenario.add(100, 101, kWords);
    scenario.add(100, 102, kWords + 8);
    if (i % 4 == 0) scenario.load(100, 101, kWords + 0x80);
  }
  return scenario.write();
}

TEST(Code, HasTheInstructionsOfTheFunctionAndTheirCounts) {
  Scenario scenario;
  Profile profile(contendedFolder(scenario, program()), {.showAll = true}, {}, {});
  const auto code = codeOf(profile, "add_one");
  EXPECT_STREQ(code["problem"].GetString(), "");
  EXPECT_STREQ(code["function"].GetString(), "add_one");
  EXPECT_STREQ(code["address"].GetString(), "0x401000");
  EXPECT_EQ(code["contended"].GetUint64(), profile.report()->contended);
  EXPECT_EQ(code["bytesBefore"].GetUint64(), 0u);
  EXPECT_EQ(code["bytesBehind"].GetUint64(), 0u);
  const auto& list = code["instructions"];
  ASSERT_EQ(list.Size(), 3u);
  EXPECT_STREQ(list[0]["text"].GetString(), "lock addq $0x1, (%rdi)");
  EXPECT_STREQ(list[1]["text"].GetString(), "nop");
  EXPECT_STREQ(list[2]["text"].GetString(), "ret");
  EXPECT_EQ(list[0]["samples"].GetUint64(), 400u) << "of both words";
  EXPECT_EQ(list[0]["contended"].GetUint64(), profile.report()->contended);
  EXPECT_GT(list[0]["contended"].GetUint64(), 0u);
  EXPECT_TRUE(list[0]["ofLine"].GetBool());
  EXPECT_EQ(list[1]["samples"].GetUint64(), 0u);
  EXPECT_FALSE(list[1]["ofLine"].GetBool());
  EXPECT_TRUE(list[1]["data"].IsNull());
  EXPECT_TRUE(std::string(list[0]["place"]["file"].GetString()).ends_with("program.s"));
}

TEST(Code, CountsTheSamplesOfTheFilter) {
  Scenario scenario;
  Profile profile(contendedFolder(scenario, program()), {.showAll = true}, "thread:first", {});
  EXPECT_EQ(codeOf(profile, "add_one")["instructions"][0]["samples"].GetUint64(), 200u);
  profile.filter("thread:first -function:add_one", {});
  EXPECT_EQ(codeOf(profile, "load_table")["instructions"][0]["samples"].GetUint64(), 50u);
}

TEST(Code, SaysWhyItHasNoInstructions) {
  const perfdata::testing::TempFolder binaries;
  const std::string gone = binaries / "gone";
  std::filesystem::copy_file(program(), gone);
  Scenario scenario;
  Profile profile(contendedFolder(scenario, gone), {.showAll = true}, {}, {});
  const std::string id = "pid 100:0x5000000";
  std::filesystem::remove(gone);
  const std::string missing = profile.code(id, 0, {});
  EXPECT_NE(missing.find("The instructions cannot be shown. " + gone + ": missing"), std::string::npos)
      << missing;
  EXPECT_NE(missing.find(R"("instructions":[])"), std::string::npos) << missing;
  std::filesystem::copy_file(program(Link::pie), gone);
  const std::string changed = profile.code(id, 0, {});
  EXPECT_NE(changed.find(gone + ": changed"), std::string::npos) << changed;
  EXPECT_THROW(profile.code(id, 99, {}), Error);
  EXPECT_THROW(profile.code("pid 1:0x0", 0, {}), Error);
}

/// A program with one long function: `nops` before and behind its access, which lies at the same address as
/// add_one's.
std::string longProgram(const std::string& path, int nops) {
  const std::string source = path + ".s";
  std::ofstream(source) << ".text\n.globl _start\n.type _start, @function\n_start:\n.rept " << nops
                        << "\nnop\n.endr\nlock addq $1, (%rdi)\n.rept " << nops
                        << "\nnop\n.endr\n.size _start, . - _start\n";
  char start[32];
  std::snprintf(start, sizeof start, "0x%llx",
                static_cast<unsigned long long>(kAdd) - static_cast<unsigned>(nops));
  const std::string command =
      std::string(CACHELINE_TEST_CC) +
      " -nostdlib -static -no-pie -Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,-Ttext=" + start + " -o " +
      path + " " + source;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
  return path;
}

TEST(Code, ShowsWhatIsNearTheAccessInALongFunction) {
  const perfdata::testing::TempFolder binaries;
  Scenario scenario;
  const Profile profile(contendedFolder(scenario, longProgram(binaries / "long", 3000)), {.showAll = true},
                        {}, {});
  const auto code = codeOf(profile, "_start");
  const auto& list = code["instructions"];
  ASSERT_EQ(list.Size(), 401u) << code["problem"].GetString();
  EXPECT_STREQ(list[200]["address"].GetString(), "0x401000");
  EXPECT_STREQ(list[200]["text"].GetString(), "lock addq $0x1, (%rdi)");
  EXPECT_EQ(list[200]["samples"].GetUint64(), 400u);
  EXPECT_EQ(code["bytesBefore"].GetUint64(), 2800u);
  EXPECT_EQ(code["bytesBehind"].GetUint64(), 2800u);
  EXPECT_TRUE(list[0]["place"].IsNull());
}

TEST(Code, IsCancelled) {
  Scenario scenario;
  const Profile profile(contendedFolder(scenario, program()), {.showAll = true}, {}, {});
  EXPECT_THROW(profile.code("pid 100:0x5000000", 0, [] { return false; }), Error);
}

}  // namespace
}  // namespace cacheline::profile
