// Which functions take locks, and which blocked intervals looks prove.
#include "scheduling/lock_waits.h"

#include <gtest/gtest.h>

#include <fstream>

#include "made_switches.h"
#include "perfdata/test_support.h"

namespace cacheline::scheduling::test {
namespace {

TEST(LockWaits, KnowsFunctionsThatTakeLocks) {
  for (const auto& [function, lock] : std::initializer_list<std::pair<const char*, const char*>>{
           {"pthread_mutex_lock", "pthread_mutex_lock"},
           {"___pthread_mutex_lock", "pthread_mutex_lock"},
           {"__pthread_mutex_lock_full", "pthread_mutex_lock"},
           {"__pthread_mutex_cond_lock", "pthread_mutex_cond_lock"},
           {"__pthread_rwlock_wrlock_full64", "pthread_rwlock_wrlock"},
           {"std::sys::sync::mutex::futex::Mutex::lock_contended",
            "std::sys::sync::mutex::futex::Mutex::lock_contended"},
           {"parking_lot::raw_mutex::RawMutex::lock_slow", "parking_lot::raw_mutex::RawMutex::lock_slow"},
           {"parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow",
            "parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow"},
           {"absl::lts_20240116::Mutex::LockSlowLoop(absl::SynchWaitParams*, int)",
            "absl::lts_20240116::Mutex::LockSlowLoop(absl::SynchWaitParams*, int)"}})
    EXPECT_EQ(lockFunction(function), lock);
  for (const char* other :
       {"", "_", "__lll_lock_wait", "pthread_cond_wait", "pthread_join", "sem_wait", "pthread_mutex_unlock",
        "pthread_mutex_trylock", "parking_lot::raw_mutex::RawMutex::unlock_slow",
        "parking_lot::condvar::Condvar::wait_until_internal", "std::sys::sync::condvar::futex::Condvar::wait",
        "lock_slow", "read", "nanosleep"})
    EXPECT_EQ(lockFunction(other), "") << other;
}

LockWaits waitsOf(std::vector<LockLook> looks) {
  LockWaits waits;
  waits.calls = {{"pthread_mutex_lock", "take"}, {"pthread_mutex_lock", "give"}};
  waits.looks[{kPid, 101}] = std::move(looks);
  return waits;
}

TEST(LockWaits, ALookProvesTheIntervalThatItLiesIn) {
  const LockWaits waits = waitsOf({{100, 110, 0}, {205, 230, 1}});
  EXPECT_EQ(waits.find(kPid, 101, 50, 150)->caller, "take");
  EXPECT_EQ(waits.find(kPid, 101, 200, 230)->caller, "give");
  EXPECT_EQ(waits.find(kPid, 101, 105, 150), nullptr) << "it began before";
  EXPECT_EQ(waits.find(kPid, 101, 200, 220), nullptr) << "it ended behind: the thread may have run meanwhile";
  EXPECT_EQ(waits.find(kPid, 101, 300, 400), nullptr);
  EXPECT_EQ(waits.find(kPid, 102, 50, 150), nullptr);
}

TEST(LockWaits, AreAPartOfTheBlockedTime) {
  MadeSwitches made;
  made.exec(0, 100).start(0, 100, 101).in(1, 101);
  made.blocks(10, 101).in(40, 101).blocks(50, 101).in(70, 101).blocks(80, 101).in(90, 101).end(100, 101);
  const auto at = [](uint64_t ms) { return kBegin + ms * kMs; };
  const LockWaits waits =
      waitsOf({{at(20), at(20) + 9, 0}, {at(30), at(30) + 9, 0}, {at(60), at(60) + 9, 1}});
  ScheduleOptions options;
  EXPECT_FALSE(threadOf(made.schedule(options), 101).locks) << "nobody looked";
  options.locks = &waits;
  const Schedule schedule = made.schedule(options);
  const ThreadSchedule thread = threadOf(schedule, 101);
  EXPECT_EQ(thread.blocked, 60 * kMs);
  ASSERT_EQ(thread.locks->size(), 2u);
  EXPECT_EQ(thread.locks->at(0).call.caller, "take");
  EXPECT_EQ(thread.locks->at(0).ns, 30 * kMs);
  EXPECT_EQ(thread.locks->at(0).waits, 1u);
  EXPECT_EQ(thread.locks->at(1).ns, 20 * kMs);
  EXPECT_TRUE(threadOf(schedule, 100).locks->empty());
}

TEST(LockWaits, LeavesOutWhatCannotBeRead) {
  const perfdata::testing::TempFolder folder;
  MadeSwitches made;
  made.exec(0, 100);
  const perfdata::testing::Bytes bytes = perfdata::testing::fileBytes(made.builder());
  const auto reader = perfdata::Reader::fromBytes(bytes, "FILE");
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  const analysis::Meta meta;
  analysis::Binaries binaries(reader->features(), meta);
  EXPECT_FALSE(readLockWaits("", timeline, binaries));
  EXPECT_FALSE(readLockWaits(folder / "", timeline, binaries)) << "there is no file";
  std::ofstream(folder / "blocked.jsonl")
      << "\n{\n[]\n{}\n{\"pid\":-1}\n"
      << R"({"pid":100,"tid":100,"ip":"zz","sp":"1","stack":"","looks":[1,2]})" << '\n'
      << R"({"pid":100,"tid":100,"ip":"1","sp":"1","stack":"0g","looks":[1,2]})" << '\n'
      << R"({"pid":100,"tid":100,"ip":"1","sp":"1","stack":"00","looks":[1,"2"]})" << '\n'
      << R"({"pid":100,"tid":100,"ip":"1","sp":"1","stack":"00","looks":[1]})" << '\n'
      << R"({"pid":100,"tid":100,"ip":"1","sp":"1","stack":"00","looks":[2,1]})" << '\n'
      << R"({"pid":100,"tid":100,"ip":"ffffffffffffffff","sp":"ffffffffffffffff","stack":"00","looks":[1,2]})";
  const auto waits = readLockWaits(folder / "", timeline, binaries);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(waits->looks.empty());
}

}  // namespace
}  // namespace cacheline::scheduling::test
