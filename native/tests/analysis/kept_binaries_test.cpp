// What is kept of binaries between analyses of one recording.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "analysis/recording.h"
#include "perfdata/reader.h"
#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kKeptSource = R"(
struct worker { long id, count; };
struct worker worker __attribute__((aligned(64))) = {1};
#define ACCESS(name, place) \
  __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
__attribute__((noinline)) void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
__attribute__((noinline)) void number(void) { ACCESS(number_id, worker.id); }
void _start(void) { bump(&worker); number(); }
)";

/// "OBJECT TYPE.FIELD FUNCTION" of each access.
std::vector<std::string> namesIn(const std::string& folder, const std::shared_ptr<KeptBinaries>& kept) {
  const Recording recording = openRecording(folder);
  const auto reader = perfdata::Reader::open(recording.perfData);
  sharing::Options options;
  options.threads = 1;
  options.showAll = true;
  options.kept = kept;
  std::vector<std::string> names;
  for (const Line& line : sharing::analyze(*reader, recording, options).lines)
    for (const Access& access : line.accesses)
      names.push_back(access.data.object + " " + access.data.type + "." + access.data.field + " " +
                      access.code->symbol);
  std::sort(names.begin(), names.end());
  return names;
}

struct TwoLooks : testing::Test {
  TwoLooks() {
    scenario.startFile(kMain, program.path());
    scenario.anonymous(kMain, kHeap, 0x10000, "[heap]");
    scenario.thread(kMain, kThread);
    for (const uint32_t tid : {kMain, kThread})
      for (int i = 0; i < 20; ++i) {
        scenario.sample(kMain, tid, program.after("bump_count"), {{kRegDi, kHeap}});
        scenario.sample(kMain, kThread + kMain - tid, program.after("number_id"), {});
      }
    folder = scenario.write();
  }
  const Program program{"-g", kKeptSource};
  Scenario scenario;
  std::string folder;
};

TEST_F(TwoLooks, TheSecondOneOpensNothingAndNamesAll) {
  const auto kept = std::make_shared<KeptBinaries>();
  const std::vector<std::string> first = namesIn(folder, kept);
  EXPECT_EQ(first, (std::vector<std::string>{"[heap] worker.count bump", "worker worker.id number"}));
  EXPECT_EQ(kept->opened(), 1u);
  // Nobody can read it any more.
  std::filesystem::remove(program.path());
  EXPECT_EQ(namesIn(folder, kept), first);
  EXPECT_EQ(kept->opened(), 1u);
}

TEST_F(TwoLooks, WithoutWhatIsKeptTheFileIsReadAgain) {
  const auto kept = std::make_shared<KeptBinaries>();
  const std::vector<std::string> first = namesIn(folder, kept);
  std::filesystem::remove(program.path());
  EXPECT_NE(namesIn(folder, nullptr), first);
}

TEST_F(TwoLooks, WhatWasMissingIsLookedForAgain) {
  const std::string aside = program.path() + ".aside";
  std::filesystem::rename(program.path(), aside);
  const auto kept = std::make_shared<KeptBinaries>();
  EXPECT_TRUE(namesIn(folder, kept).empty());
  EXPECT_EQ(kept->opened(), 0u);
  std::filesystem::rename(aside, program.path());
  EXPECT_EQ(namesIn(folder, kept).size(), 2u);
  EXPECT_EQ(kept->opened(), 1u);
}

}  // namespace
}  // namespace cacheline::analysis
