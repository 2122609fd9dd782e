// Opening, filtering, and which lines a filter leaves.
#include "profile/profile.h"

#include <numeric>
#include <utility>

#include "analysis/findings.h"
#include "analysis/recording.h"
#include "base/error.h"
#include "perfdata/reader.h"
#include "profile/chosen_lines.h"
#include "profile/names_of_lines.h"
#include "profile/sample_choice.h"

namespace cacheline::profile {

namespace {

std::shared_ptr<const std::string> headOf(analysis::Report& report) {
  std::vector<analysis::ObjectSum> objects = std::exchange(report.objects, {});
  auto head = std::make_shared<const std::string>(analysis::headJson(report));
  report.objects = std::move(objects);
  return head;
}

}  // namespace

Profile::Profile(std::string path, sharing::Options options, const std::string& filter,
                 const Progress& progress)
    : path_(std::move(path)), options_(std::move(options)) {
  state_ = made(filter, progress);
}

void Profile::filter(const std::string& text, const Progress& progress) {
  const std::lock_guard alone(filtering_);
  std::shared_ptr<const State> next = made(text, progress);
  const std::lock_guard lock(mutex_);
  state_.swap(next);
}

std::shared_ptr<const Profile::State> Profile::made(const std::string& text, const Progress& progress) {
  const auto next = std::make_shared<State>();
  next->query = parseQuery(text);
  const SampleTerms& samples = next->query.samples;
  const std::shared_ptr<const State> before = state();
  if (before && before->query.samples.text == samples.text) {
    next->report = before->report;
    next->ids = before->ids;
    next->head = before->head;
    next->derived = before->derived;
  } else {
    sharing::Options options = options_;
    options.filter = chosenSamples(
        path_, options_.filter, samples, [&] { return seconds(progress); }, progress);
    next->report = std::make_shared<analysis::Report>(analyze(path_, options, progress));
    next->ids = std::make_shared<LineIds>(*next->report);
    next->head = headOf(*next->report);
    next->derived = std::make_shared<Derived>(next->report);
    if (!options.filter.any()) seconds_ = next->report->seconds;
  }
  checkEvidence(next->query.lines, *next->report);
  std::vector<uint32_t> all(next->report->lines.size());
  std::iota(all.begin(), all.end(), 0);
  next->selected =
      chosenLines(std::move(all), next->query.lines, *next->report, *next->derived, [](size_t) {});
  return next;
}

/// Of the whole recording. In forms that are read in order only, that takes an analysis of its own.
double Profile::seconds(const Progress& progress) {
  if (seconds_) return *seconds_;
  const auto reader = perfdata::Reader::open(analysis::openRecording(path_).perfData);
  if (const auto span = reader->sampleSpan()) {
    seconds_ = static_cast<double>(span->last - span->first) / 1e9;
  } else {
    sharing::Options options = options_;
    options.filter = {};
    seconds_ = analyze(path_, options, progress).seconds;
  }
  return *seconds_;
}

std::shared_ptr<const void> Profile::takeSource() {
  const std::lock_guard lock(mutex_);
  return std::exchange(state_->report->source, nullptr);
}

analysis::Report Profile::takeReport() && {
  const std::shared_ptr<const State> last = std::exchange(state_, nullptr);
  analysis::Report& report = *last->report;
  if (last->query.lines.empty()) return std::move(report);
  const NamesOfLines names(last->derived->uses(), last->selected);
  report.selected = {last->selected.size(), report.lines.size()};
  std::vector<analysis::Line> kept;
  kept.reserve(last->selected.size());
  for (const uint32_t index : last->selected) kept.push_back(std::move(report.lines[index]));
  report.lines = std::move(kept);
  std::erase_if(report.objects, [&](const analysis::ObjectSum& object) { return !names.hold(object); });
  std::erase_if(report.types, [&](const analysis::TypeHeat& type) { return !names.hold(type); });
  analysis::addFindings(report);
  return std::move(report);
}

}  // namespace cacheline::profile
