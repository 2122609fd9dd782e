// A recording in every form, cut at every byte: a warning or an error, every record before the cut, and never
// silence.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.h"
#include "example.h"
#include "file_builder.h"
#include "perfdata/reader.h"

namespace cacheline::perfdata::testing {
namespace {

struct Form {
  const char* name;
  Bytes bytes;
  size_t records;  ///< where they start
  bool pipe;
};

/// The example with its records in compressed ones of 900 bytes and a round's end behind them.
RecordBuilder packed(uint32_t type, ByteOrder order) {
  RecordBuilder b = exampleRecording(order);
  b.records() = RecordCompressor(type, order).records(exampleRecording(order).records(), 900);
  return b.finishedRound();
}

std::vector<Form> everyForm() {
  const auto native = ByteOrder::native, foreign = ByteOrder::foreign;
  std::vector<Form> forms;
  const auto add = [&](const char* name, Bytes bytes, const RecordBuilder& b, size_t behind = 0) {
    const size_t start = bytes.size() - b.records().size() - behind;
    const bool pipe = load<uint64_t>(&bytes[8], b.order()) == kPipeHeaderSize;
    forms.push_back({name, std::move(bytes), start, pipe});
  };
  add("file of the other order", fileBytes(exampleRecording(foreign)), exampleRecording(foreign));
  for (const uint32_t type : {kRecordCompressed, kRecordCompressed2})
    add("compressed file", fileBytes(packed(type, native)), packed(type, native));
  add("pipe", pipeBytes(exampleRecording()), exampleRecording());
  add("pipe of the other order", pipeBytes(exampleRecording(foreign)), exampleRecording(foreign));
  add("compressed pipe", pipeBytes(packed(kRecordCompressed2, native)), packed(kRecordCompressed2, native));
  const std::vector<FeatureBytes> features = {{kFeatureHostname, ByteBuilder().putString("host").bytes()},
                                              {kFeatureTotalMem, ByteBuilder().put(uint64_t{7}).bytes()}};
  const Bytes plain = fileBytes(exampleRecording()),
              described = fileBytes(exampleRecording(), {.features = features});
  add("file with features", described, exampleRecording(), described.size() - plain.size());
  return forms;
}

/// Where a pipe is whole as far as anybody can tell: the recorder may have been stopped there.
std::set<size_t> endsOfRounds(const Form& form) {
  std::set<size_t> ends;
  const bool foreign = load<uint64_t>(form.bytes.data()) != kMagic;
  const ByteOrder order = foreign ? ByteOrder::foreign : ByteOrder::native;
  for (size_t at = form.records; at + 8 <= form.bytes.size();) {
    const uint32_t type = load<uint32_t>(&form.bytes[at], order);
    at += load<uint16_t>(&form.bytes[at + 6], order);
    if (type == kRecordFinishedRound) ends.insert(at);
  }
  return ends;
}

TEST(Cuts, AtEveryByteOfEveryForm) {
  for (const Form& form : everyForm()) {
    SCOPED_TRACE(form.name);
    const std::set<size_t> mayEnd = form.pipe ? endsOfRounds(form) : std::set<size_t>();
    size_t opened = 0, before = 0;
    for (size_t size = 0; size < form.bytes.size(); ++size) {
      try {
        const auto reader = Reader::fromBytes({form.bytes.data(), size}, "FILE");
        Collector got;
        reader->readAll(got);
        ++opened;
        if (!mayEnd.contains(size)) {
          EXPECT_FALSE(reader->warnings().empty()) << "cut at " << size;
        }
        EXPECT_GE(got.order.size(), before) << "cut at " << size;
        before = got.order.size();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unreadable) << error.what();
        EXPECT_LT(size, form.records) << error.what();
      }
      if (HasFailure()) return;
    }
    Collector whole;
    Reader::fromBytes(form.bytes, "FILE")->readAll(whole);
    EXPECT_GE(opened, form.bytes.size() - form.records);
    EXPECT_EQ(before, whole.order.size()) << "the last bytes hold no record that is delivered";
  }
}

}  // namespace
}  // namespace cacheline::perfdata::testing
