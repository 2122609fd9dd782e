// A recording, opened and analyzed.
#include "profile/analyze.h"

#include <memory>
#include <utility>

#include "perfdata/reader.h"

namespace cacheline::profile {

analysis::Report analyze(const std::string& path, const sharing::Options& options, const Progress& progress) {
  const analysis::Recording recording = analysis::openRecording(path);
  auto reader = perfdata::Reader::open(recording.perfData);
  analysis::Report report = sharing::analyze(*reader, recording, options, progress);
  // A file that was read all through takes a while to be unmapped, too.
  report.source = std::make_shared<std::pair<std::shared_ptr<const void>, std::unique_ptr<perfdata::Reader>>>(
      report.source, std::move(reader));
  return report;
}

}  // namespace cacheline::profile
