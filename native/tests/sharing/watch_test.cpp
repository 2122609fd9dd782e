// Watchpoints beside memory samples: they confirm verdicts, decide where samples cannot, and count nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "tests/analysis/watch_files.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"
#include "tests/sharing/typed_recording.h"

namespace cacheline::sharing {
namespace {

using analysis::Verdict;
using test::TypedRecording;

// Each label is an `incq (%rdi)` of three bytes.
constexpr const char* kWatchedSource = R"code(
long counters[16] __attribute__((aligned(64)));
#define BUMP(name) __asm__ volatile(".globl " #name "\n" #name ": incq (%%rdi)" : : "D"(counters) : "memory")
void _start(void) { BUMP(first); BUMP(second); }
)code";
constexpr uint64_t kLength = 3, kLater = 5000;

class WatchedMemory : public testing::Test {
 protected:
  WatchedMemory()
      : program_(symbols::test::compile(dir_, "watched", "c", kWatchedSource,
                                        "-g -O1 -static -no-pie -nostdlib -fno-stack-protector")),
        image_(symbols::ElfImage::open(program_)),
        recording_(program_, *image_, 0, false) {}
  uint64_t at(const char* symbol) const { return image_->addressOfSymbol(symbol).value(); }
  void window(const std::vector<std::pair<uint64_t, std::string>>& words) {
    files_.window(TypedRecording::kPid, kLater, 5, words);
  }
  void hit(uint32_t thread, const char* access, uint64_t word) {
    files_.hit(TypedRecording::kPid, TypedRecording::kPid + thread, at(access) + kLength, word,
               {{kRegDi, word}});
  }
  analysis::Report report() {
    return recording_.report({}, {}, [this](const std::string& folder) { files_.write(folder); });
  }

  symbols::test::TempDir dir_;
  std::string program_;
  std::shared_ptr<const symbols::ElfImage> image_;
  TypedRecording recording_;
  analysis::test::WatchFiles files_;
};

TEST_F(WatchedMemory, TurnsConfirmTheVerdictAndRowsGetTheirHits) {
  const uint64_t word = at("counters");
  for (uint32_t i = 0; i < 20; ++i)
    recording_.sample(TypedRecording::kPid + i % 2, at(i % 2 ? "second" : "first"), word + 8 * (i % 2));
  const analysis::Report alone = recording_.report();
  window({{word, "counters[0]"}, {word + 8, "counters[1]"}, {word + 16, "counters[2]"}});
  for (uint32_t i = 0; i < 8; ++i) hit(i % 2, i % 2 ? "second" : "first", word + 8 * (i % 2));
  hit(2, "first", word + 16);  // by a thread that was never sampled
  const analysis::Report report = this->report();

  EXPECT_EQ(report.evidence.back(), "watch");
  ASSERT_EQ(report.lines.size(), 1u);
  const analysis::Line& line = report.lines[0];
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  ASSERT_TRUE(line.confirmation);
  EXPECT_TRUE(line.confirmation->confirmed);
  EXPECT_EQ(line.confirmation->words.at(0).name, "counters[0]");
  EXPECT_EQ(line.confirmation->words[0].writes, 4u);
  EXPECT_EQ(line.confirmation->words[1].writers, std::vector<uint32_t>{TypedRecording::kPid + 1});
  EXPECT_EQ(line.confirmation->alternations, 8u);
  EXPECT_EQ(line.threads.size(), 3u);

  ASSERT_EQ(line.accesses.size(), alone.lines.at(0).accesses.size()) << "rows are those of the samples";
  EXPECT_EQ(line.records, alone.lines[0].records);
  for (size_t i = 0; i < line.accesses.size(); ++i) {
    const analysis::Access& access = line.accesses[i];
    EXPECT_EQ(access.records, alone.lines[0].accesses[i].records);
    EXPECT_FALSE(alone.lines[0].accesses[i].watch);
    ASSERT_TRUE(access.watch);
    EXPECT_EQ(access.watch->writes, 4u);
    EXPECT_DOUBLE_EQ(access.watch->windowMs, 5);
  }
  EXPECT_FALSE(alone.lines[0].confirmation);
  const std::string json = analysis::reportJson(report);
  EXPECT_NE(json.find("\"confirmation\":{\"confirmed\":true,"), std::string::npos);
}

TEST_F(WatchedMemory, OnlyWhatThreadsDoInTurnConfirms) {
  const uint64_t word = at("counters");
  for (uint32_t i = 0; i < 20; ++i)
    recording_.sample(TypedRecording::kPid + i % 2, at(i % 2 ? "second" : "first"), word + 8 * (i % 2));
  window({{word, "a"}, {word + 8, "b"}});
  for (uint32_t i = 0; i < 6; ++i) hit(0, "first", word);
  const analysis::Report report = this->report();
  const analysis::Confirmation& confirmation = *report.lines.at(0).confirmation;
  EXPECT_FALSE(confirmation.confirmed);
  EXPECT_EQ(confirmation.sentence, "only one thread was seen in 5.0 ms");
  EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing) << "never refuted";
}

TEST_F(WatchedMemory, ALineWithoutSamplesIsCountedAndNotListed) {
  const uint64_t word = at("counters");
  recording_.sample(TypedRecording::kPid, at("first"), word);
  window({{word + 64, "other"}});
  hit(0, "first", word + 64);
  const analysis::Report report = this->report();
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_FALSE(report.lines[0].confirmation);
  EXPECT_TRUE(std::ranges::any_of(report.warnings, [](const std::string& warning) {
    return warning.starts_with("1 of 1 watched lines have no memory sample");
  }));
}

}  // namespace
}  // namespace cacheline::sharing
