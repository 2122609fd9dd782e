// What trapped accesses say to the verdict of the samples.
#include "analysis/watch_verdict.h"

#include <gtest/gtest.h>

namespace cacheline::analysis {
namespace {

using Kind = SeenAccess::Kind;

/// Accesses to words of eight bytes, in one window, and what is counted of the words.
class Trapped {
 public:
  explicit Trapped(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      ConfirmedWord& word = words_.emplace_back();
      word.name = name;
      word.offset = static_cast<uint32_t>(8 * (words_.size() - 1));
      word.length = 8;
    }
  }
  Trapped& access(uint32_t tid, uint32_t word, Kind kind) {
    seen_.push_back({1, 1, tid, 8 * word, 8 * word + 8, word, kind});
    ConfirmedWord& counted = words_[word];
    const bool writes = seen_.back().writes();
    ++(kind == Kind::unknown ? counted.unknown : writes ? counted.writes : counted.reads);
    std::vector<uint32_t>& tids = writes ? counted.writers : counted.readers;
    if (std::find(tids.begin(), tids.end(), tid) == tids.end()) tids.push_back(tid);
    return *this;
  }
  Confirmation confirmed(Verdict verdict) const {
    return confirm(verdict, seen_, turnsOf(seen_), words_, 12);
  }

 private:
  std::vector<SeenAccess> seen_;
  std::vector<ConfirmedWord> words_;
};

/// Four threads look `tag` up and change `state`.
Trapped descriptor() {
  Trapped trapped({"tag", "state"});
  for (int round = 0; round < 4; ++round)
    for (uint32_t tid = 1; tid <= 4; ++tid)
      trapped.access(tid, 0, Kind::read).access(5 - tid, 1, Kind::readWrite);
  return trapped;
}

TEST(Confirm, SaysWhoReadsAWordThatNobodyWrites) {
  const Confirmation result = descriptor().confirmed(Verdict::mixed);
  EXPECT_TRUE(result.confirmed);
  EXPECT_EQ(result.sentence, "4 threads write 'state' and 4 read 'tag' in turn: seen 24 times in 12 ms");
}

TEST(Confirm, CallsNoWordWrittenOfWhichTheCodeDoesNotSay) {
  Trapped trapped({"state", "tag", "odd"});
  for (int round = 0; round < 3; ++round)
    trapped.access(1, 0, Kind::write)
        .access(2, 1, Kind::read)
        .access(1, 0, Kind::write)
        .access(3, 2, Kind::unknown);
  EXPECT_EQ(trapped.confirmed(Verdict::falseSharing).sentence,
            "1 thread writes 'state' and 1 reads 'tag' and 'odd' are read or written in turn: seen 11 times "
            "in 12 ms");
}

TEST(Confirm, SaysOfWrittenWordsAloneWhoWritesAndWhoReads) {
  Trapped trapped({"head"});
  for (int round = 0; round < 3; ++round) trapped.access(1, 0, Kind::write).access(2, 0, Kind::read);
  EXPECT_EQ(trapped.confirmed(Verdict::trueSharing).sentence,
            "1 thread writes and 1 reads 'head' in turn: seen 5 times in 12 ms");
}

TEST(Confirm, GroupsTheDigitsOfLargeCounts) {
  Trapped trapped({"head"});
  for (int round = 0; round < 600; ++round) trapped.access(1, 0, Kind::write).access(2, 0, Kind::read);
  EXPECT_EQ(trapped.confirmed(Verdict::trueSharing).sentence,
            "1 thread writes and 1 reads 'head' in turn: seen 1,199 times in 12 ms");
}

TEST(Confirm, ConfirmsFalseSharingWhereMostTurnsAreOfDifferentBytes) {
  EXPECT_TRUE(descriptor().confirmed(Verdict::falseSharing).confirmed) << "all of them use both words";
  Trapped counter({"n"});
  for (int round = 0; round < 3; ++round) counter.access(1, 0, Kind::readWrite).access(2, 0, Kind::readWrite);
  const Confirmation result = counter.confirmed(Verdict::falseSharing);
  EXPECT_FALSE(result.confirmed);
  EXPECT_EQ(result.sentence, "threads were seen to use the same bytes, too, in 12 ms");
}

TEST(Confirm, ConfirmsTrueSharingOfAMessageThatIsReadAsAWhole) {
  Trapped message({"a", "b", "c"});
  for (int round = 0; round < 3; ++round)
    for (const uint32_t tid : {1u, 2u})
      for (uint32_t word = 0; word < 3; ++word)
        message.access(tid, word, tid == 1 ? Kind::write : Kind::read);
  EXPECT_TRUE(message.confirmed(Verdict::trueSharing).confirmed);
  Trapped counters({"a", "b"});
  for (int round = 0; round < 3; ++round) counters.access(1, 0, Kind::write).access(2, 1, Kind::write);
  EXPECT_FALSE(counters.confirmed(Verdict::trueSharing).confirmed) << "no byte is used by two threads";
}

}  // namespace
}  // namespace cacheline::analysis
