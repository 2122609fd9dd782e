// Writes a perf.data file: header, events, ids, records, and features at the end.
#include "perfdata/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/unique_fd.h"
#include "perfdata/bytes.h"
#include "perfdata/feature_writer.h"
#include "perfdata/format.h"
#include "perfdata/record_header.h"

namespace cacheline::perfdata {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

/// Writes at `offset` until everything is written or errno says why not; returns the bytes written.
size_t writeAt(int fd, std::span<const uint8_t> bytes, uint64_t offset) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = ENOSPC;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

/// The bytes of the whole records at the start of `bytes`.
size_t wholeRecords(std::span<const uint8_t> bytes) {
  size_t end = 0;
  while (end < bytes.size()) {
    const RecordExtent extent = extentOf(bytes.data() + end, bytes.size() - end, ByteOrder::native);
    if (extent.kind != RecordExtent::Kind::whole) break;
    end += static_cast<size_t>(extent.size);
  }
  return end;
}

template <typename T>
void appendBytes(std::vector<uint8_t>& out, const T& value) {
  const auto* raw = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), raw, raw + sizeof value);
}

}  // namespace

struct Writer::Impl {
  UniqueFd fd;
  std::string path;
  std::vector<Event> events;
  FileHeaderBytes header;
  std::vector<uint8_t> buffer;  ///< whole records that are not in the file yet
  uint64_t written = 0;         ///< bytes of the data section in the file: whole records, too

  uint64_t dataEnd() const { return header.data.offset + written; }

  [[noreturn]] void fail(int errnum) const {
    throw Error(ErrorKind::io,
                describeErrno("cannot write " + path, errnum) + " (" + std::to_string(written) +
                    " bytes of records were kept)",
                "Free space on that disk, or record into another folder.");
  }

  /// Writes records into the file: 0, or the errno for which it stopped. In that case the file ends with the
  /// last record that went in whole.
  int writeOut(std::span<const uint8_t> records) {
    const size_t done = writeAt(fd.get(), records, dataEnd());
    if (done == records.size()) {
      written += done;
      return 0;
    }
    const int errnum = errno;
    written += wholeRecords(records.first(done));
    return ::ftruncate(fd.get(), static_cast<off_t>(dataEnd())) == 0 ? errnum : errno;
  }

  int flush() {
    const int errnum = writeOut(buffer);
    buffer.clear();
    return errnum;
  }

  int writeHeader() {
    const std::span<const uint8_t> raw(reinterpret_cast<const uint8_t*>(&header), sizeof header);
    return writeAt(fd.get(), raw, 0) == raw.size() ? 0 : errno;
  }
};

std::unique_ptr<Writer> Writer::create(const std::string& path, const std::vector<Event>& events) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->events = events;
  // A recording tells what runs on the machine: it is the user's own.
  impl->fd.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!impl->fd)
    throw Error(ErrorKind::io, describeErrno("cannot create " + path, errno),
                "Choose another output folder.");

  // header | ids of all events | attributes, each with the place of its ids | records | features
  std::vector<uint8_t> ids, attributes;
  for (Event& event : impl->events) {
    event.attr.size = sizeof event.attr;
    appendBytes(attributes, event.attr);
    appendBytes(attributes,
                FileSection{sizeof(FileHeaderBytes) + ids.size(), event.ids.size() * sizeof(uint64_t)});
    for (const uint64_t id : event.ids) appendBytes(ids, id);
  }
  FileHeaderBytes& header = impl->header;
  header.size = sizeof header;
  header.attrSize = sizeof(perf_event_attr) + sizeof(FileSection);
  header.attrs = {sizeof header + ids.size(), attributes.size()};
  header.data = {header.attrs.offset + header.attrs.size, 0};

  std::vector<uint8_t> start;
  appendBytes(start, header);
  start.insert(start.end(), ids.begin(), ids.end());
  start.insert(start.end(), attributes.begin(), attributes.end());
  if (writeAt(impl->fd.get(), start, 0) != start.size()) impl->fail(errno);
  impl->buffer.reserve(kBufferBytes);
  return std::unique_ptr<Writer>(new Writer(std::move(impl)));
}

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Writer::~Writer() {
  impl_->flush();  // an error has nobody to go to here; who wants to know calls flush() or finish()
}

void Writer::append(std::span<const uint8_t> records) {
  if (wholeRecords(records) != records.size()) {
    throw Error(ErrorKind::internal, "records to be written to " + impl_->path + " are not whole");
  }
  if (impl_->buffer.size() + records.size() > kBufferBytes) flush();
  if (records.size() > kBufferBytes) {
    if (const int errnum = impl_->writeOut(records)) impl_->fail(errnum);
  } else {
    impl_->buffer.insert(impl_->buffer.end(), records.begin(), records.end());
  }
}

void Writer::finishedRound() {
  std::vector<uint8_t> record;
  appendBytes(record, perf_event_header{kRecordFinishedRound, 0, sizeof(perf_event_header)});
  append(record);
}

void Writer::flush() {
  if (const int errnum = impl_->flush()) impl_->fail(errnum);
}

void Writer::finish(const Features& features) {
  const int recordsErrno = impl_->flush();
  FileHeaderBytes& header = impl_->header;
  header.data.size = impl_->written;

  const auto sections = featureSections(features, impl_->events);
  std::vector<uint8_t> table, contents;
  const uint64_t contentsStart = impl_->dataEnd() + sections.size() * sizeof(FileSection);
  for (const auto& [bit, bytes] : sections) {
    appendBytes(table, FileSection{contentsStart + contents.size(), bytes.size()});
    contents.insert(contents.end(), bytes.begin(), bytes.end());
    header.features[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  table.insert(table.end(), contents.begin(), contents.end());
  int featuresErrno = 0;
  if (writeAt(impl_->fd.get(), table, impl_->dataEnd()) != table.size()) {
    featuresErrno = errno;
    for (uint64_t& word : header.features) word = 0;
    if (::ftruncate(impl_->fd.get(), static_cast<off_t>(impl_->dataEnd())) != 0) featuresErrno = errno;
  }
  // Last, and in place: until here a reader takes the records to the file's end.
  const int headerErrno = impl_->writeHeader();
  for (const int errnum : {recordsErrno, featuresErrno, headerErrno}) {
    if (errnum != 0) impl_->fail(errnum);
  }
}

uint64_t Writer::bytesWritten() const {
  return impl_->written + impl_->buffer.size();
}

}  // namespace cacheline::perfdata
