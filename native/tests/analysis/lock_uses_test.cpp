// Which words are locks, by what instructions do to them and who was seen at which.
#include "analysis/lock_uses.h"

#include <gtest/gtest.h>

#include "decode/lock_step.h"

namespace cacheline::analysis {
namespace {

using Kind = decode::WordChange::Kind;

/// Two functions at one word: what they do to it, and how many samples each of two threads has at either.
class LockUses : public testing::Test {
 protected:
  void use(uint64_t function, uint32_t offset, const decode::LockStep& step, std::vector<uint32_t> samples) {
    WordStatistics& use = line_.uses.emplace_back();
    use.offset = offset;
    use.width = 4;
    use.function = function;
    use.lock = std::make_shared<const decode::LockStep>(step);
    for (uint32_t actor = 0; actor < samples.size(); ++actor) {
      if (line_.visitors.size() <= actor) line_.visitors.push_back({actor, actor});
      for (uint32_t i = 0; i < samples[actor]; ++i)
        line_.samples.push_back({static_cast<uint32_t>(line_.uses.size() - 1), actor});
    }
  }
  static decode::LockStep step(Kind kind, std::optional<uint64_t> value, bool takes = false) {
    decode::LockStep step;
    step.change.kind = kind;
    if (value) step.change.value = decode::LinearValues::Value{{}, *value};
    step.takes = takes;
    return step;
  }
  std::vector<bool> found() const { return lockUses(line_); }

  LineAccesses line_;
};

constexpr uint64_t kMinusOne = ~uint64_t{0};

TEST_F(LockUses, AreTakenAndGivenBackByTheSameThreads) {
  use(1, 0, step(Kind::compares, std::nullopt, true), {20, 30});
  use(2, 0, step(Kind::adds, kMinusOne), {10, 10});
  EXPECT_EQ(found(), (std::vector<bool>{true, false}));
}

TEST_F(LockUses, AreNoHandsOver) {
  use(1, 0, step(Kind::compares, std::nullopt, true), {20, 0});
  use(2, 0, step(Kind::adds, kMinusOne), {0, 20});
  EXPECT_EQ(found(), (std::vector<bool>{false, false})) << "one thread fills, another one empties";
}

TEST_F(LockUses, AreGivenBackByWhatUndoesTheTaking) {
  use(1, 0, step(Kind::compares, 0, true), {20, 30});
  use(2, 0, step(Kind::sets, 1), {10, 10});
  EXPECT_FALSE(found()[0]) << "from 0 to something, then to 1";
  use(3, 4, step(Kind::swaps, 0), {10, 10});
  EXPECT_FALSE(found()[0]) << "another word";
  use(3, 0, step(Kind::swaps, 0), {10, 10});
  EXPECT_TRUE(found()[0]);
}

TEST_F(LockUses, NeedCodeThatLooksAtWhatItFound) {
  use(1, 0, step(Kind::adds, 1), {20, 30});
  use(2, 0, step(Kind::adds, kMinusOne), {10, 10});
  EXPECT_FALSE(found()[0]) << "a gauge";
  use(3, 0, step(Kind::adds, 1, true), {20, 30});
  EXPECT_TRUE(found()[2]) << "readers of a lock";
}

TEST_F(LockUses, WithTicketsAreTwoWords) {
  decode::LockStep ticket = step(Kind::adds, 1, true);
  ticket.held = {{1, 2}};
  ticket.turn = 8;
  use(1, 0, ticket, {5});
  use(1, 8, step(Kind::sets, std::nullopt), {5});
  use(1, 16, step(Kind::sets, std::nullopt), {5});
  EXPECT_EQ(found(), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace cacheline::analysis
