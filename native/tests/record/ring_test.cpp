// Rings, the stream of records out of them, and the binaries noticed on the way, with a ring we fill
// ourselves.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "base/unique_fd.h"
#include "perfdata/writer.h"
#include "record/build_ids.h"
#include "record/clock_plan.h"
#include "record/record_stream.h"
#include "record/ring_buffer.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

/// A ring whose other end we play ourselves, in a memory file.
class FakeRing {
 public:
  explicit FakeRing(size_t dataBytes) : dataBytes_(dataBytes) {
    page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    fd_.reset(::memfd_create("ring", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(page_ + dataBytes)), 0);
    base_ = ::mmap(nullptr, page_ + dataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    ring = RingBuffer::map(fd_.get(), dataBytes);
  }
  ~FakeRing() { ::munmap(base_, page_ + dataBytes_); }

  perf_event_mmap_page* control() { return static_cast<perf_event_mmap_page*>(base_); }
  void produce(const std::vector<uint8_t>& bytes) {
    uint8_t* data = static_cast<uint8_t*>(base_) + page_;
    for (const uint8_t byte : bytes) data[control()->data_head++ % dataBytes_] = byte;
  }
  std::vector<uint8_t> drained() {
    std::vector<uint8_t> got;
    ring.drain([&](std::span<const uint8_t> bytes) { got.assign(bytes.begin(), bytes.end()); });
    return got;
  }

  RingBuffer ring;

 private:
  size_t dataBytes_, page_;
  UniqueFd fd_;
  void* base_;
};

TEST(RingBuffer, DeliversEveryByteOnceAcrossTheEnd) {
  FakeRing fake(4096);
  ASSERT_TRUE(fake.ring);
  EXPECT_FALSE(fake.ring.drain([](auto) { FAIL(); }));
  uint8_t next = 0;
  for (int round = 0; round < 50; round++) {
    std::vector<uint8_t> bytes(1000);
    for (uint8_t& byte : bytes) byte = next++;
    fake.produce(bytes);
    EXPECT_EQ(fake.drained(), bytes);
    EXPECT_EQ(fake.control()->data_tail, fake.control()->data_head);
  }
}

TEST(RingBuffer, KeepsWhatTheConsumerCouldNotTake) {
  FakeRing fake(4096);
  const std::vector<uint8_t> bytes(16, 7);
  fake.produce(bytes);
  EXPECT_THROW(fake.ring.drain([](auto) { throw std::runtime_error("full"); }), std::runtime_error);
  EXPECT_EQ(fake.drained(), bytes);
}

TEST(RingBuffer, AHeadThatCannotBeIsAnError) {
  FakeRing fake(4096);
  fake.control()->data_head = 4097;
  EXPECT_THROW(fake.drained(), Error);
}

/// A record of 8-byte words after its header.
std::vector<uint8_t> recordOf(uint32_t type, const std::vector<uint64_t>& words) {
  std::vector<uint8_t> bytes(sizeof(perf_event_header) + words.size() * 8);
  const perf_event_header header{type, 0, static_cast<uint16_t>(bytes.size())};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, words.data(), words.size() * 8);
  return bytes;
}

/// A source of nothing but our ring.
struct RingSource : Source {
  explicit RingSource(RingBuffer& buffer) : ring(buffer) {}
  std::vector<perfdata::Event> events() const override { return {}; }
  std::vector<int> wakeups() const override { return {}; }
  bool drain(const Append& append) override { return ring.drain(append); }
  void enable() override {}
  void disable() override {}
  std::vector<std::string> warnings() const override { return {}; }
  RingBuffer& ring;
};

struct StreamFixture {
  StreamFixture() : fake(8192), source(fake.ring) {
    perfdata::Event event;
    event.attr = clockAttr(RecordOptions{}, false, true);
    event.ids = {1};
    writer = perfdata::Writer::create(folder.file("perf.data"), {event});
  }
  TemporaryFolder folder;
  FakeRing fake;
  RingSource source;
  std::unique_ptr<perfdata::Writer> writer;
  BuildIds buildIds{timespec{}};
};

TEST(RecordStream, CountsWhatPassesAndWritesItAll) {
  StreamFixture fixture;
  RecordStream stream(fixture.source, *fixture.writer, fixture.buildIds);
  stream.drain();
  EXPECT_EQ(fixture.writer->bytesWritten(), 0u) << "an empty round is not written";
  // IDENTIFIER, IP, TID, TIME
  fixture.fake.produce(recordOf(PERF_RECORD_SAMPLE, {1, 0x1000, 1, 900}));
  fixture.fake.produce(recordOf(PERF_RECORD_SAMPLE, {1, 0x1000, 1, 700}));
  fixture.fake.produce(recordOf(PERF_RECORD_LOST, {1, 5, 0, 0, 0, 0}));
  fixture.fake.produce(recordOf(PERF_RECORD_LOST_SAMPLES, {2, 0, 0, 0, 0}));
  fixture.fake.produce(recordOf(PERF_RECORD_THROTTLE, {0, 0, 0, 0, 0, 0, 0}));
  const uint64_t produced = fixture.fake.control()->data_head;
  stream.drain();
  EXPECT_EQ(stream.counts().samples, 2u);
  EXPECT_EQ(stream.counts().lost, 7u);
  EXPECT_EQ(stream.counts().throttled, 1u);
  EXPECT_EQ(stream.counts().firstSample, 700u);
  EXPECT_EQ(stream.counts().lastSample, 900u);
  EXPECT_EQ(fixture.writer->bytesWritten(), produced + sizeof(perf_event_header))
      << "and the end of the round";
}

TEST(RecordStream, ARecordThatCannotBeIsAnError) {
  for (const uint16_t size : {uint16_t{0}, uint16_t{7}, uint16_t{4096}}) {
    StreamFixture fixture;
    RecordStream stream(fixture.source, *fixture.writer, fixture.buildIds);
    std::vector<uint8_t> bytes = recordOf(PERF_RECORD_SAMPLE, {1, 2});
    std::memcpy(bytes.data() + offsetof(perf_event_header, size), &size, sizeof size);
    fixture.fake.produce(bytes);
    EXPECT_THROW(stream.drain(), Error) << size;
  }
}

/// PERF_RECORD_MMAP2 of an executable mapping.
std::vector<uint8_t> mmap2Of(const std::string& path, uint64_t inode, uint64_t device, uint32_t protection) {
  std::vector<uint64_t> words{0,     0x1000, 0x1000,    0, uint64_t{minor(device)} << 32 | major(device),
                              inode, 0,      protection};
  std::vector<uint8_t> bytes = recordOf(PERF_RECORD_MMAP2, words);
  std::string name = path;
  name.resize((path.size() / 8 + 1) * 8);
  bytes.insert(bytes.end(), name.begin(), name.end());
  const auto size = static_cast<uint16_t>(bytes.size());
  std::memcpy(bytes.data() + offsetof(perf_event_header, size), &size, sizeof size);
  return bytes;
}

TEST(BuildIds, ReadsEachExecutableFileOnce) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "program", "int main(void) { return 0; }", "-Wl,--build-id");
  struct stat info{};
  ASSERT_EQ(::stat(program.c_str(), &info), 0);
  timespec before = info.st_ctim;
  before.tv_sec--;
  BuildIds ids(before);
  ids.onMmap2(mmap2Of(program, info.st_ino, info.st_dev, PROT_READ));
  EXPECT_TRUE(ids.binaries().empty()) << "data";
  for (int i = 0; i < 3; i++) ids.onMmap2(mmap2Of(program, info.st_ino, info.st_dev, PROT_READ | PROT_EXEC));
  for (const char* name : {"//anon", "[vdso]", "/no/such/file", "/dev/zero", "/memfd:code (deleted)"})
    ids.onMmap2(mmap2Of(name, 1, 1, PROT_READ | PROT_EXEC));
  ASSERT_EQ(ids.binaries().size(), 1u);
  EXPECT_EQ(ids.binaries()[0].buildId.size(), 40u);
  EXPECT_EQ(ids.entries().size(), 1u);
  EXPECT_TRUE(ids.replaced().empty());
}

TEST(BuildIds, AFileReplacedSinceTheStartHasNone) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "program", "int main(void) { return 0; }", "-Wl,--build-id");
  struct stat info{};
  ASSERT_EQ(::stat(program.c_str(), &info), 0);
  timespec before = info.st_ctim, after = info.st_ctim;
  before.tv_sec--;
  after.tv_sec++;
  BuildIds replaced(before);
  replaced.onMmap2(mmap2Of(program, info.st_ino + 1, info.st_dev, PROT_EXEC));
  EXPECT_TRUE(replaced.binaries().empty());
  EXPECT_EQ(replaced.replaced(), std::vector<std::string>{program});
  // Overlay file systems report other numbers; an untouched file is believed.
  BuildIds untouched(after);
  untouched.onMmap2(mmap2Of(program, info.st_ino, info.st_dev + 1, PROT_EXEC));
  EXPECT_EQ(untouched.binaries().size(), 1u);
}

TEST(BuildIds, CutRecordsAreIgnored) {
  BuildIds ids(timespec{});
  const std::vector<uint8_t> whole = mmap2Of("/bin/sh", 1, 1, PROT_EXEC);
  for (size_t size = 0; size < 72; size++) ids.onMmap2(std::span(whole).first(size));
  EXPECT_TRUE(ids.binaries().empty());
}

}  // namespace
}  // namespace cacheline::record::test
