// Reads a perf.data file: header, features, and the records in time order.
#include "perfdata/reader.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "base/error.h"
#include "perfdata/record_pass.h"
#include "perfdata/recording.h"
#include "perfdata/sample_layout.h"

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

  Recording recording;
  SampleLayouts layouts;
  std::vector<std::string> warnings;
  std::vector<uint64_t> counts;
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

void Reader::readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress) {
  impl_->keep(RecordPass(impl_->recording, impl_->layouts, visitor, progress).run());
}

Reader::Halves Reader::readHalves(RecordVisitor& first, RecordVisitor& second, unsigned threads,
                                  const std::function<bool(double)>& progress) {
  const Recording& recording = impl_->recording;
  if (recording.pipe || recording.directory) {
    readAll(first, progress);
    return Halves::whole;
  }
  const bool beside = threads > 1;
  std::atomic<bool> stop = false;
  RecordPass::Result firstResult, secondResult;
  std::exception_ptr failure;
  SampleLayouts layouts = impl_->layouts;  // it remembers the ids it was asked for: one a thread
  const auto readSecond = [&] {
    try {
      const std::function<bool(double)> goOn = [&](double share) {
        return beside ? !stop.load(std::memory_order_relaxed) : !progress || progress(0.5 + share / 2);
      };
      secondResult = RecordPass(recording, layouts, second, goOn, Half::second).run();
    } catch (...) {  // thrown again below, by the caller's thread
      failure = std::current_exception();
    }
  };
  std::thread helper;
  if (beside) helper = std::thread(readSecond);
  try {
    const std::function<bool(double)> report = [&](double share) {
      return !progress || progress(beside ? std::min(1.0, 2 * share) : share);
    };
    firstResult = RecordPass(recording, impl_->layouts, first, report, Half::first).run();
  } catch (...) {
    stop = true;
    if (helper.joinable()) helper.join();
    throw;
  }
  if (beside) {
    if (!firstResult.cut) stop = true;
    helper.join();
  } else if (firstResult.cut) {
    readSecond();
  }
  if (!firstResult.cut) {
    impl_->keep(std::move(firstResult));
    return Halves::whole;
  }
  if (failure) std::rethrow_exception(failure);
  if (!secondResult.cut || secondResult.cutTime != firstResult.cutTime) return Halves::failed;
  for (size_t type = 0; type < kCountedTypes; ++type) firstResult.counts[type] += secondResult.counts[type];
  for (std::string& warning : secondResult.warnings) firstResult.warnings.push_back(std::move(warning));
  impl_->keep(std::move(firstResult));
  return Halves::read;
}

}  // namespace cacheline::perfdata
