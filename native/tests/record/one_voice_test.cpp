// Samples that two events took of one thread.
#include "record/one_voice.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstring>
#include <optional>

namespace cacheline::record::test {
namespace {

constexpr pid_t kFirst = 10, kSecond = 11, kChild = 20;
constexpr uint64_t kFirstId = 100, kSecondId = 200;

std::vector<uint8_t> recordOfWords(uint32_t type, const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes(sizeof(perf_event_header) + words.size() * sizeof(uint32_t));
  const perf_event_header header{type, 0, static_cast<uint16_t>(bytes.size())};
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!words.empty())
    std::memcpy(bytes.data() + sizeof header, words.data(), words.size() * sizeof(uint32_t));
  return bytes;
}

/// IDENTIFIER, IP, pid, tid
std::vector<uint8_t> sample(uint64_t id, pid_t thread) {
  return recordOfWords(PERF_RECORD_SAMPLE,
                       {static_cast<uint32_t>(id), 0, 0x1000, 0, 10, static_cast<uint32_t>(thread)});
}

/// pid, creator's, tid, creator's, time, IDENTIFIER
std::vector<uint8_t> fork(pid_t thread, pid_t creator = kFirst, uint32_t pid = 10, uint64_t id = kFirstId) {
  return recordOfWords(PERF_RECORD_FORK,
                       {pid, 10, static_cast<uint32_t>(thread), static_cast<uint32_t>(creator), 0, 0,
                        static_cast<uint32_t>(id), 0});
}

struct Voices {
  Voices() {
    std::vector<OpenEvent> events(2);
    events[0].id = kFirstId;
    events[0].thread = kFirst;
    events[1].id = kSecondId;
    events[1].thread = kSecond;
    voice.emplace(events);
  }
  bool keeps(const std::vector<uint8_t>& record) { return voice->filter(record).size() == record.size(); }
  std::optional<OneVoice> voice;
};

TEST(OneVoice, AThreadsOwnEventSpeaksForIt) {
  Voices voices;
  EXPECT_FALSE(voices.keeps(sample(kFirstId, kSecond))) << "inherited, seen before its own";
  EXPECT_TRUE(voices.keeps(sample(kSecondId, kSecond)));
  EXPECT_TRUE(voices.keeps(sample(kFirstId, kFirst)));
}

/// pid, tid, IDENTIFIER
std::vector<uint8_t> contextSwitch(uint64_t id, pid_t thread) {
  return recordOfWords(PERF_RECORD_SWITCH, {10, static_cast<uint32_t>(thread), static_cast<uint32_t>(id), 0});
}

TEST(OneVoice, SwitchesAreDroppedAsSamplesAre) {
  Voices voices;
  EXPECT_FALSE(voices.keeps(contextSwitch(kFirstId, kSecond))) << "inherited, seen before its own";
  EXPECT_TRUE(voices.keeps(contextSwitch(kSecondId, kSecond)));
  EXPECT_TRUE(voices.keeps(contextSwitch(kSecondId, kChild)));
  EXPECT_FALSE(voices.keeps(contextSwitch(kFirstId, kChild)));
  EXPECT_FALSE(voices.keeps(sample(kFirstId, kChild))) << "one set speaks for both";
  EXPECT_TRUE(voices.keeps(recordOfWords(PERF_RECORD_SWITCH, {}))) << "without its sample_id it is nobody's";
}

TEST(OneVoice, AChildOfBothSpeaksOnce) {
  Voices voices;
  EXPECT_TRUE(voices.keeps(sample(kSecondId, kChild)));
  EXPECT_FALSE(voices.keeps(sample(kFirstId, kChild)));
  EXPECT_TRUE(voices.keeps(sample(kSecondId, kChild)));
  EXPECT_TRUE(voices.keeps(fork(kChild)));
  EXPECT_TRUE(voices.keeps(sample(kFirstId, kChild))) << "another thread with the same id";
}

TEST(OneVoice, OtherRecordsAndEventsPass) {
  Voices voices;
  std::vector<uint8_t> all = sample(kFirstId, kSecond);
  const std::vector<uint8_t> lost = recordOfWords(PERF_RECORD_LOST, {1, 2}), unknown = sample(999, kSecond);
  all.insert(all.end(), lost.begin(), lost.end());
  all.insert(all.end(), unknown.begin(), unknown.end());
  EXPECT_EQ(voices.voice->filter(all).size(), lost.size() + unknown.size());
}

std::vector<pid_t> doubtfulThreads(const std::vector<OneVoice::Doubtful>& doubtful) {
  std::vector<pid_t> list;
  for (const OneVoice::Doubtful& one : doubtful) list.push_back(one.thread);
  return list;
}

TEST(OneVoice, TheFirstThreadOfEachCreatorMayHaveNoEvents) {
  Voices voices;
  voices.keeps(fork(kChild, kFirst));
  voices.keeps(fork(kChild + 1, kFirst));
  EXPECT_EQ(doubtfulThreads(voices.voice->doubtful()), std::vector<pid_t>{kChild});
  voices.keeps(fork(kChild + 2, kSecond, 99));
  voices.keeps(fork(kChild + 3, kChild));
  const auto process = voices.voice->doubtful();
  EXPECT_EQ(doubtfulThreads(process), std::vector<pid_t>{kChild + 2}) << "what inherited passes it on";
  EXPECT_TRUE(process.at(0).ofOtherProcess);
}

TEST(OneVoice, EventsThatCameLateSpeakAsThoseOfTheHeader) {
  constexpr uint64_t kLateId = 300;
  Voices voices;
  OpenEvent late;
  late.id = kLateId;
  late.thread = kChild;
  voices.voice->add(late, kSecondId);
  const auto filtered = [&](const std::vector<uint8_t>& record) {
    const auto kept = voices.voice->filter(record);
    return std::vector<uint8_t>(kept.begin(), kept.end());
  };
  EXPECT_EQ(filtered(sample(kLateId, kChild)), sample(kSecondId, kChild));
  EXPECT_TRUE(filtered(sample(kFirstId, kChild)).empty()) << "it had inherited";
  EXPECT_EQ(filtered(fork(kChild + 1, kChild, 10, kLateId)), fork(kChild + 1, kChild, 10, kSecondId));
  EXPECT_EQ(doubtfulThreads(voices.voice->doubtful()), std::vector<pid_t>{kChild + 1})
      << "it may be in a clone, too";
  EXPECT_EQ(filtered(sample(kFirstId, kFirst)), sample(kFirstId, kFirst));
}

TEST(OneVoice, CutRecordsArePassedOnAsTheyAre) {
  Voices voices;
  const std::vector<uint8_t> whole = sample(kFirstId, kSecond);
  for (size_t size = 1; size < whole.size(); size++)
    EXPECT_EQ(voices.voice->filter(std::span(whole).first(size)).size(), size);
}

}  // namespace
}  // namespace cacheline::record::test
