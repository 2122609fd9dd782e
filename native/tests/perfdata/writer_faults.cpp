// The writer when things go wrong: killed, disk full, nowhere to write.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

RecordBuilder someSamples(uint64_t count) {
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {1});
  for (uint64_t i = 1; i <= count; ++i) b.at(i).sample({.ip = i});
  return b;
}

size_t samplesIn(const std::string& path, std::vector<std::string>* warnings = nullptr) {
  const auto reader = Reader::open(path);
  Collector got;
  reader->readAll(got);
  if (warnings != nullptr) *warnings = reader->warnings();
  for (size_t i = 0; i < got.samples.size(); ++i) EXPECT_EQ(got.samples[i].ip, i + 1);
  return got.samples.size();
}

/// Files of this process cannot grow beyond `bytes` while this lives: the write that would fails with EFBIG,
/// after writing what fits.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(WriterFaults, NowhereToWrite) {
  try {
    Writer::create("/nonexistent/perf.data", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/perf.data: No such file"), std::string::npos)
        << error.what();
  }
}

TEST(WriterFaults, TheFileIsTheUsersOwn) {
  TempFolder folder;
  someSamples(1).write(folder / "perf.data");
  struct stat st{};
  ASSERT_EQ(::stat((folder / "perf.data").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u & ~::umask(::umask(0)));
}

TEST(WriterFaults, FlushedRecordsAreReadableAtOnce) {
  const RecordBuilder b = someSamples(10);
  TempFolder folder;
  auto writer = Writer::create(folder / "perf.data", b.events());
  EXPECT_EQ(samplesIn(folder / "perf.data"), 0u);
  writer->append(b.records());
  EXPECT_EQ(writer->bytesWritten(), b.records().size());
  writer->flush();
  std::vector<std::string> warnings;
  EXPECT_EQ(samplesIn(folder / "perf.data", &warnings), 10u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("not finished"), std::string::npos);
  writer->finish({});
  EXPECT_EQ(samplesIn(folder / "perf.data", &warnings), 10u);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST(WriterFaults, KilledAtAnyMomentLeavesWhatWasFlushed) {
  const RecordBuilder b = someSamples(100);
  for (int flushes = 0; flushes < 4; ++flushes) {
    TempFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
      auto writer = Writer::create(folder / "perf.data", b.events());
      for (int i = 0; i < flushes; ++i) {
        RecordBuilder part;
        part.event(clockAttr());
        for (int n = 1; n <= 100; ++n)
          part.at(100 * i + n).sample({.ip = static_cast<uint64_t>(100 * i + n)});
        writer->append(part.records());
        writer->finishedRound();
        writer->flush();
      }
      writer->append(b.records());  // not flushed
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(samplesIn(folder / "perf.data"), 100u * static_cast<size_t>(flushes));
  }
}

TEST(WriterFaults, ADroppedWriterKeepsItsRecords) {
  const RecordBuilder b = someSamples(10);
  TempFolder folder;
  {
    Writer::create(folder / "perf.data", b.events())->append(b.records());
  }
  EXPECT_EQ(samplesIn(folder / "perf.data"), 10u);
}

TEST(WriterFaults, DiskFullKeepsEveryWholeRecordAndSaysHowMuch) {
  const RecordBuilder b = someSamples(1000);
  const size_t recordSize = b.records().size() / 1000;
  TempFolder folder;
  {
    Writer::create(folder / "empty", b.events());
  }
  const size_t start = readBytes(folder / "empty").size();
  for (size_t limit = start; limit < start + 3 * recordSize; limit += 37) {
    const std::string path = folder / "perf.data";
    auto writer = Writer::create(path, b.events());
    const size_t fit = (limit - start) / recordSize;
    {
      const FileSizeLimit full(limit);
      writer->append(b.records());
      try {
        writer->flush();
        FAIL() << "no error at a limit of " << limit;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        const std::string text = error.what();
        EXPECT_NE(text.find(path), std::string::npos) << text;
        EXPECT_NE(text.find("File too large"), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(fit * recordSize) + " bytes of records were kept"),
                  std::string::npos)
            << text;
        EXPECT_FALSE(error.nextStep().empty());
      }
      EXPECT_EQ(writer->bytesWritten(), fit * recordSize);
      EXPECT_EQ(readBytes(path).size(), start + fit * recordSize) << "cut back to the last whole record";

      Features features;
      features.hostname = std::string(5000, 'x');
      EXPECT_THROW(writer->finish(features), Error);  // no room for them either
    }
    std::vector<std::string> warnings;
    EXPECT_EQ(samplesIn(path, &warnings), fit);
    // With a record the header says how much there is; a data size of 0 cannot be told from one never
    // finished.
    EXPECT_EQ(warnings.size(), fit == 0 ? 1u : 0u);
  }
}

TEST(WriterFaults, DiskFullInAppendOfMoreThanTheBuffer) {
  const RecordBuilder b = someSamples(30000);  // several MB
  ASSERT_GT(b.records().size(), 4u << 20);
  TempFolder folder;
  auto writer = Writer::create(folder / "perf.data", b.events());
  {
    const FileSizeLimit full(3 << 20);
    EXPECT_THROW(writer->append(b.records()), Error);
  }
  EXPECT_LT(writer->bytesWritten(), 3u << 20);
  EXPECT_GT(writer->bytesWritten(), (3u << 20) - 4096);
  writer->finish({});  // there is room again
  std::vector<std::string> warnings;
  EXPECT_EQ(samplesIn(folder / "perf.data", &warnings),
            writer->bytesWritten() / (b.records().size() / 30000));
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST(WriterFaults, RecordsThatAreNotWholeAreRefused) {
  const RecordBuilder b = someSamples(2);
  TempFolder folder;
  auto writer = Writer::create(folder / "perf.data", b.events());
  for (const size_t size : {b.records().size() - 1, size_t{7}, b.records().size() / 2 + 8}) {
    EXPECT_THROW(writer->append({b.records().data(), size}), Error) << size;
  }
  EXPECT_EQ(writer->bytesWritten(), 0u);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
