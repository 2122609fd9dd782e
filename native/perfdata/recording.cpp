// Opens a recording: a file, a stream kept in a file, or a folder of files.
#include "perfdata/recording.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "perfdata/event_name.h"
#include "perfdata/feature_reader.h"
#include "perfdata/file_header.h"
#include "perfdata/pipe_header.h"

namespace cacheline::perfdata {
namespace {

/// The N of `data.N`, or -1.
int64_t fileNumber(const std::string& name) {
  constexpr std::string_view kPrefix = "data.";
  if (!name.starts_with(kPrefix)) return -1;
  int64_t number = -1;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? number : -1;
}

RecordFile mapFile(const std::string& path) {
  RecordFile file;
  file.mapped = MappedFile::open(path);
  file.bytes = file.mapped.bytes();
  file.data = {0, file.bytes.size()};
  file.name = path;
  // A file that is not in memory yet is read ahead in large steps. Only a hint: its failure means nothing.
  if (!file.bytes.empty())
    (void)::madvise(const_cast<uint8_t*>(file.bytes.data()), file.bytes.size(), MADV_SEQUENTIAL);
  return file;
}

/// Adds the files `data.0`, `data.1`, ... of `folder`, which are nothing but records.
void addRecordFiles(const std::filesystem::path& folder, Recording& recording) {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const int64_t number = fileNumber(it->path().filename().string());
    if (number >= 0) found.emplace_back(number, it->path().string());
  }
  if (error) {
    throw Error(ErrorKind::unreadable, "cannot list " + folder.string() + ": " + error.message());
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) {
    recording.warnings.push_back(recording.name() +
                                 ": is the header of a recording in directory format, but no files data.0, "
                                 "data.1, ... with its samples are beside it");
  }
  for (const auto& [number, path] : found) recording.files.push_back(mapFile(path));
}

void readFeatureSections(const FileHeader& header, Recording& recording) {
  const RecordFile& file = recording.files.front();
  for (const auto& [bit, section] : header.features) {
    if (readFeature(bit, file.bytes.subspan(section.size == 0 ? 0 : section.offset, section.size),
                    recording.order, recording.features, recording.events)) {
      continue;
    }
    recording.warnings.push_back(file.name + ": header feature " + std::to_string(bit) + " at file offset " +
                                 std::to_string(section.offset) + " says it holds more than its " +
                                 std::to_string(section.size) + " bytes; what they hold is used");
  }
}

/// Whether the samples lie in other files is the last thing the header says.
bool readHeader(Recording& recording) {
  RecordFile& file = recording.files.front();
  FileHeader header = readFileHeader(file.bytes, file.name);
  file.data = header.data;
  recording.order = header.order;
  recording.pipe = header.pipe;
  recording.warnings = std::move(header.warnings);
  if (header.pipe) {
    StreamHeader stream = readStreamHeader(file.bytes, file.data, header.order, file.name);
    recording.events = std::move(stream.events);
    recording.features = std::move(stream.features);
    for (std::string& warning : stream.warnings) recording.warnings.push_back(std::move(warning));
  } else {
    recording.events = std::move(header.events);
    readFeatureSections(header, recording);
    if (header.unfinished) nameEventsFromRecords(file.bytes, file.data, header.order, recording.events);
  }
  for (Event& event : recording.events) {
    if (event.name.empty()) event.name = eventName(event.attr, recording.features.pmuMappings);
  }
  return header.hasFeature(kFeatureDirFormat);
}

}  // namespace

uint64_t Recording::bytes() const {
  uint64_t sum = 0;
  for (const RecordFile& file : files) sum += file.bytes.size();
  return sum;
}

Recording openRecording(const std::string& path) {
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  const bool folder = std::filesystem::is_directory(path, ignored);
  std::filesystem::path header = path;
  if (folder) header /= "data";
  if (folder && !std::filesystem::exists(header, ignored)) {
    throw Error(
        ErrorKind::unreadable,
        path + ": is a folder without a file named data, so it is not a recording in directory format",
        "Name a perf.data file or a recording folder.");
  }
  Recording recording;
  recording.files.push_back(mapFile(header.string()));
  recording.directory = readHeader(recording) || folder;
  if (recording.directory) {
    addRecordFiles(header.has_parent_path() ? header.parent_path() : std::filesystem::path("."), recording);
  }
  return recording;
}

Recording openRecording(std::span<const uint8_t> bytes, const std::string& name) {
  Recording recording;
  RecordFile file;
  file.bytes = bytes;
  file.name = name;
  recording.files.push_back(std::move(file));
  if (readHeader(recording)) {
    recording.warnings.push_back(name +
                                 ": is the header of a recording in directory format: the samples, in "
                                 "files beside it, were not read");
  }
  return recording;
}

}  // namespace cacheline::perfdata
