// Recordings that another program writes to while they are read: a sentence, and no loop or access outside of
// the file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "perfdata/access_reader.h"
#include "perfdata/format.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

constexpr uint64_t kAccessType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;

constexpr uint16_t kSampleBytes = sizeof(perf_event_header) + 6 * 8;

/// Where a sample begins that lies at `from` or behind it.
size_t sampleFrom(const std::vector<uint8_t>& bytes, size_t from) {
  for (size_t at = from / 8 * 8;; at += 8) {
    const perf_event_header header = loadHeader(bytes.data() + at, ByteOrder::native);
    if (header.type == PERF_RECORD_SAMPLE && header.size == kSampleBytes) return at;
  }
}

/// One round of equal samples, as many as take some pages, and a reader of it.
class ChangingFile {
 public:
  static constexpr uint64_t kSamples = 4000;

  ChangingFile() {
    RecordBuilder b;
    b.event(clockAttr(kAccessType), "loads", {1});
    for (uint64_t i = 1; i <= kSamples; ++i) b.at(1000 + i).sample({.ip = i, .address = 64 * i});
    b.write(path);
    reader = Reader::open(path);
    const std::vector<uint8_t> bytes = readBytes(path);
    middle_ = static_cast<off_t>(sampleFrom(bytes, bytes.size() / 2));
  }

  /// Gives the sample in the middle another size.
  void resizeMiddle(uint16_t size) const {
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), &size, sizeof size, middle_ + 6), static_cast<ssize_t>(sizeof size));
  }
  void cutToNothing() const { ASSERT_EQ(::truncate(path.c_str(), 0), 0); }
  void cutInTheMiddle() const { ASSERT_EQ(::truncate(path.c_str(), middle_), 0); }

  TempFolder folder;
  const std::string path = folder / "perf.data";
  std::unique_ptr<Reader> reader;

 private:
  off_t middle_ = 0;
};

struct Accesses : AccessVisitor {
  void onAccesses(AccessReader& from, const Stretch& stretch) override {
    if (whole)
      from.eachSample(stretch, [this](const Sample&) { ++samples; });
    else
      from.each(stretch, [this](const AccessSample&) { ++samples; });
  }
  bool whole = false;
  uint64_t samples = 0;
};

/// What reading says, or nothing.
std::string saidBy(const std::function<void()>& read) {
  try {
    read();
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    return error.what();
  }
}

/// All ways to read what was walked over before: `change` comes between.
void expectASentence(const std::function<void(ChangingFile&)>& change) {
  for (const bool whole : {false, true}) {
    for (const size_t threads : {1, 3}) {
      ChangingFile recorded;
      ASSERT_TRUE(recorded.reader->canScan());
      change(recorded);
      std::vector<Accesses> workers(threads);
      std::vector<AccessVisitor*> visitors;
      for (Accesses& worker : workers) {
        worker.whole = whole;
        visitors.push_back(&worker);
      }
      EXPECT_EQ(saidBy([&] { recorded.reader->scan(visitors); }),
                recorded.path + " was changed by another program while it was read");
    }
  }
  for (const unsigned threads : {1u, 2u}) {
    ChangingFile recorded;
    Collector collector;
    bool changed = false;
    EXPECT_EQ(saidBy([&] {
                // What was walked over waits for the end of its round.
                const auto progress = [&](double share) {
                  if (share > 0.8 && !std::exchange(changed, true)) change(recorded);
                  return true;
                };
                recorded.reader->readAll(collector, progress, threads);
              }),
              recorded.path + " was changed by another program while it was read");
  }
}

TEST(Changed, ARecordWithoutASizeEndsTheReading) {
  expectASentence([](const ChangingFile& file) { file.resizeMiddle(0); });
}

TEST(Changed, ARecordSmallerThanItsHeaderEndsTheReading) {
  expectASentence([](const ChangingFile& file) { file.resizeMiddle(7); });
}

TEST(Changed, AFileThatWasCutEndsTheReading) {
  expectASentence([](const ChangingFile& file) { file.cutToNothing(); });
}

TEST(Changed, AFileThatWasCutInTheMiddleEndsTheReading) {
  expectASentence([](const ChangingFile& file) { file.cutInTheMiddle(); });
}

TEST(Changed, ARecordThatReachesBeyondWhatIsThereIsNotRead) {
  RecordBuilder b;
  b.event(clockAttr(kAccessType), "loads", {1});
  b.at(1000).sample({.ip = 1});
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto bytes = readBytes(folder / "perf.data");
  const auto* const at = bytes.data() + sampleFrom(bytes, 0);
  std::vector<uint8_t> sample(at, at + kSampleBytes);  // that says it reaches far behind the buffer
  const uint16_t size = UINT16_MAX;
  std::memcpy(sample.data() + 6, &size, sizeof size);
  std::vector<Event> events(1);
  events.front().attr = clockAttr(kAccessType);
  const SampleLayouts layouts(events, ByteOrder::native);
  AccessReader reader(layouts, sample.data(), nullptr);
  const Stretch stretch{sample.data(), sample.data() + sample.size(), 0};
  EXPECT_THROW(reader.each(stretch, [](const AccessSample&) {}), RecordChanged);
  EXPECT_THROW(reader.eachSample(stretch, [](const Sample&) {}), RecordChanged);
}

TEST(Changed, AFileThatOnlyGrewIsReadWithAWarning) {
  ChangingFile recorded;
  {
    std::ofstream out(recorded.path, std::ios::binary | std::ios::app);
    out << "more";
  }
  Collector collector;
  recorded.reader->readAll(collector);
  EXPECT_EQ(collector.samples.size(), ChangingFile::kSamples);
  EXPECT_TRUE(warns(*recorded.reader, "another program wrote to it while it was read"));
}

TEST(Changed, AFileThatNobodyTouchedHasNoWarning) {
  ChangingFile recorded;
  Collector collector;
  recorded.reader->readAll(collector);
  EXPECT_FALSE(warns(*recorded.reader, "another program"));
}

TEST(Changed, OtherMappingsAreNotOurs) {
  EXPECT_DEATH(
      {
        const ChangingFile recorded;  // our handler is there
        const UniqueFd file(::open((recorded.folder / "other").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        auto* const at =
            static_cast<volatile char*>(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file.get(), 0));
        const char read = *at;  // the file is empty
        std::fputc(read, stderr);
      },
      "");
}

}  // namespace
}  // namespace cacheline::perfdata::testing
