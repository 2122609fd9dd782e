// The program break's area: the kernel reports it as anonymous memory above the program.
#include <gtest/gtest.h>

#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

std::string objectAt(Scenario& scenario, uint32_t pid, uint64_t address) {
  scenario.add(pid, pid, address);
  const Report report = scenario.report(true);
  const Line* line = lineAt(report, address, "pid " + std::to_string(pid));
  return line == nullptr ? "no line" : line->accesses[0].data.object;
}

constexpr uint64_t kBreak = 0x20000000, kMapped = 0x7f0000000000;

TEST(Heap, IsTheAnonymousMemoryAboveTheProgram) {
  Scenario s;
  s.start(100);
  s.anonymous(100, kBreak, 0x21000);
  s.anonymous(100, kBreak, 0x42000);  // it grew
  EXPECT_EQ(objectAt(s, 100, kBreak + 0x30000), "[heap]");
}

TEST(Heap, IsInheritedByAFork) {
  Scenario s;
  s.start(100);
  s.anonymous(100, kBreak, 0x21000);
  s.process(100, 200);
  EXPECT_EQ(objectAt(s, 200, kBreak + 64), "[heap]");
}

TEST(Heap, IsNotWhatIsMappedFarAway) {
  Scenario s;
  s.start(100);
  s.anonymous(100, kMapped, 0x21000);
  EXPECT_EQ(objectAt(s, 100, kMapped + 64), "anonymous 0x7f0000000000");
}

}  // namespace
}  // namespace cacheline::analysis
