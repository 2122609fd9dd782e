// Reads a perf.data file: header, features, and the records in time order.
#include "perfdata/reader.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "perfdata/outline.h"
#include "perfdata/record_pass.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"
#include "perfdata/scan_pass.h"

namespace cacheline::perfdata {
namespace {

SampleLayouts layoutsOf(const Recording& recording) {
  try {
    return SampleLayouts(recording.events, recording.order);
  } catch (const Error& error) {
    throw Error(error.kind(), recording.name() + ": " + error.what(), error.nextStep());
  }
}

/// Events with fields that nobody here knows: what is known of their samples is read.
void warnOfUnknownFields(Recording& recording, const SampleLayouts& layouts) {
  for (uint32_t event = 0; event < layouts.size(); ++event) {
    const uint64_t unknown = layouts[event].unknownFields();
    if (unknown == 0) continue;
    recording.warnings.push_back(recording.name() + ": samples of " + recording.events[event].name +
                                 " have fields newer than this program (sample_type " + hexNumber(unknown) +
                                 "); the fields before them are read");
    return;
  }
}

}  // namespace

struct Reader::Impl {
  explicit Impl(Recording&& opened) : recording(std::move(opened)), layouts(layoutsOf(recording)) {
    warnOfUnknownFields(recording, layouts);
    warnings = recording.warnings;
    counts.resize(kCountedTypes);
  }

  void keep(RecordPass::Result&& result) {
    counts = std::move(result.counts);
    warnings = recording.warnings;
    for (std::string& warning : result.warnings) warnings.push_back(std::move(warning));
  }

  /// Reads records. Where another program cut the file meanwhile, or a record ends elsewhere than it did,
  /// what was read makes no sense: throws Error(unreadable). Any other write is worth a warning: a recording
  /// that is still being made only grows.
  template <typename Read>
  auto whileUnchanged(Read&& read) {
    try {
      if constexpr (std::is_void_v<decltype(read())>) {
        read();
        checkFiles();
      } else {
        auto result = read();
        checkFiles();
        return result;
      }
    } catch (const RecordChanged&) {
      throwChanged(recording.name());
    }
  }
  void checkFiles() {
    for (const RecordFile& file : recording.files) {
      if (file.mapped.lostBytes()) throwChanged(file.name);
      if (saidWritten || !file.mapped.wasWritten()) continue;
      saidWritten = true;
      for (auto* const said : {&recording.warnings, &warnings})
        said->push_back(file.name +
                        ": another program wrote to it while it was read: what is said may be of two states");
    }
  }
  [[noreturn]] static void throwChanged(const std::string& name) {
    throw Error(ErrorKind::unreadable, name + " was changed by another program while it was read",
                "Read it again once nothing writes to it.");
  }

  /// Null where the recording cannot be scanned.
  const Outline* outline(const std::function<bool(double)>& progress = {}, unsigned threads = 1) {
    if (!walked && !recording.directory)
      found = whileUnchanged([&] { return outlineOf(recording, layouts, progress, threads); });
    walked = true;
    return found ? &*found : nullptr;
  }
  /// What no sample is, by the outline. How many could not be read.
  uint64_t deliverOthers(const Outline& of, RecordVisitor& visitor) {
    RecordParser parser(layouts, visitor);
    const std::span<const uint8_t> bytes = recording.files.front().bytes;
    const uint8_t* const end = bytes.data() + bytes.size();
    uint64_t malformed = 0;
    for (const Outline::Other& other : of.others) {
      const Parsed parsed = recording.order == ByteOrder::native
                                ? parser.deliver<ByteOrder::native>(other.at, end, other.moment)
                                : parser.deliver<ByteOrder::foreign>(other.at, end, other.moment);
      malformed += parsed == Parsed::malformed ? 1 : 0;
    }
    return malformed;
  }

  Recording recording;
  SampleLayouts layouts;
  std::vector<std::string> warnings;
  std::vector<uint64_t> counts;
  bool walked = false, saidWritten = false;
  std::optional<Outline> found;
};

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::~Reader() = default;

std::unique_ptr<Reader> Reader::open(const std::string& path) {
  return std::unique_ptr<Reader>(new Reader(std::make_unique<Impl>(openRecording(path))));
}

std::unique_ptr<Reader> Reader::fromBytes(std::span<const uint8_t> bytes, const std::string& name) {
  return std::unique_ptr<Reader>(new Reader(std::make_unique<Impl>(openRecording(bytes, name))));
}

const std::vector<Event>& Reader::events() const {
  return impl_->recording.events;
}
const Features& Reader::features() const {
  return impl_->recording.features;
}
const std::vector<std::string>& Reader::warnings() const {
  return impl_->warnings;
}
uint64_t Reader::fileSize() const {
  return impl_->recording.bytes();
}
const std::vector<uint64_t>& Reader::recordCounts() const {
  return impl_->counts;
}

void Reader::readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress, unsigned threads) {
  impl_->keep(impl_->whileUnchanged([&] {
    return RecordPass(impl_->recording, impl_->layouts, visitor, progress, {.threads = threads}).run();
  }));
}

void Reader::readOthers(RecordVisitor& visitor, const std::function<bool(double)>& progress,
                        unsigned threads) {
  const Outline* const outline = impl_->outline(progress, threads);
  impl_->whileUnchanged([&] {
    if (outline != nullptr)
      impl_->deliverOthers(*outline, visitor);
    else
      RecordPass(impl_->recording, impl_->layouts, visitor, progress, {.samples = false}).run();
  });
}

bool Reader::canScan() {
  return impl_->outline() != nullptr;
}

Scanned Reader::scan(std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress,
                     const AddressFilter* filter, const std::function<bool()>& ordered) {
  const Outline* const outline = impl_->outline();
  if (outline == nullptr) return Scanned::partly;
  return impl_->whileUnchanged([&] {
    ScanPass pass(impl_->recording, impl_->layouts, *outline, workers, progress, filter);
    if (!pass.run(ordered)) return Scanned::partly;
    RecordVisitor nobody;
    const bool whole = pass.failures() + impl_->deliverOthers(*outline, nobody) == 0;
    return whole && outline->plain && !impl_->recording.pipe ? Scanned::plainly : Scanned::wholly;
  });
}

std::optional<TimeSpan> Reader::sampleSpan() {
  const Outline* const outline = impl_->outline();
  return outline == nullptr ? std::nullopt : outline->samples;
}

}  // namespace cacheline::perfdata
