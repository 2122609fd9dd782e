// Finds perf.data and reads meta.json.
#include "analysis/recording.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>

#include "analysis/verdict.h"
#include "base/error.h"
#include "base/mapped_file.h"

namespace cacheline::analysis {

namespace fs = std::filesystem;

namespace {

std::string textOf(const rapidjson::Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsString()) return {};
  return {member->value.GetString(), member->value.GetStringLength()};
}

uint64_t recordedBlocks(const rapidjson::Document& document) {
  const auto heap = document.FindMember("heap");
  if (heap == document.MemberEnd() || !heap->value.IsObject()) return 0;
  const auto blocks = heap->value.FindMember("blocks");
  return blocks != heap->value.MemberEnd() && blocks->value.IsUint64() ? blocks->value.GetUint64() : 0;
}

void readBinaries(const rapidjson::Value& list, Meta& meta) {
  for (const rapidjson::Value& item : list.GetArray()) {
    if (!item.IsObject()) continue;
    RecordedBinary binary{textOf(item, "path"), textOf(item, "buildId"), 0, 0, textOf(item, "root")};
    const auto size = item.FindMember("size");
    const std::string mtime = textOf(item, "mtimeNs");
    const auto parsed = std::from_chars(mtime.data(), mtime.data() + mtime.size(), binary.mtimeNs);
    if (binary.path.empty() || size == item.MemberEnd() || !size->value.IsUint64() ||
        parsed.ec != std::errc{})
      continue;  // nothing to compare with
    binary.size = size->value.GetUint64();
    meta.binaries.push_back(std::move(binary));
  }
}

}  // namespace

const RecordedBinary* Meta::find(const std::string& path) const {
  const auto it = std::find_if(binaries.begin(), binaries.end(),
                               [&](const RecordedBinary& binary) { return binary.path == path; });
  return it == binaries.end() ? nullptr : &*it;
}

Meta parseMeta(const std::string& json) {
  Meta meta;
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(json.data(),
                                                                                         json.size());
  if (document.HasParseError() || !document.IsObject()) {
    meta.warnings.push_back("meta.json of the recording is not used: " +
                            (document.HasParseError()
                                 ? std::string(rapidjson::GetParseError_En(document.GetParseError())) +
                                       " At byte " + std::to_string(document.GetErrorOffset()) + "."
                                 : std::string("it is not a JSON object.")));
    return meta;
  }
  meta.json = json;
  meta.collector = textOf(document, "collector");
  meta.heapBlocks = recordedBlocks(document);
  if (const auto machine = document.FindMember("machine");
      machine != document.MemberEnd() && machine->value.IsObject()) {
    const auto size = machine->value.FindMember("lineSize");
    if (size != machine->value.MemberEnd() && size->value.IsUint()) {
      if (const uint32_t bytes = size->value.GetUint();
          bytes >= 16 && bytes <= kMaxLineSize && std::has_single_bit(bytes))
        meta.lineSize = bytes;
      else
        meta.warnings.push_back("meta.json gives a cache line size of " + std::to_string(bytes) +
                                " bytes, which is impossible; 64 is used.");
    }
  }
  if (const auto list = document.FindMember("binaries");
      list != document.MemberEnd() && list->value.IsArray())
    readBinaries(list->value, meta);
  return meta;
}

Recording openRecording(const std::string& path) {
  Recording recording;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error(ErrorKind::unreadable, "there is no recording " + path,
                "Give a .cacheline folder made by cacheline record, or a perf.data file.");
  fs::path folder;
  if (fs::is_directory(status)) {
    folder = path;
    recording.perfData = (folder / "perf.data").string();
    if (!fs::exists(recording.perfData, error))
      throw Error(ErrorKind::unreadable, "the folder " + path + " holds no perf.data",
                  "Give a .cacheline folder made by cacheline record, or a perf.data file.");
  } else {
    recording.perfData = path;
    const fs::path parent = fs::absolute(path, error).parent_path();
    if (parent.extension() == ".cacheline") folder = parent;
  }
  if (folder.empty()) return recording;
  recording.folder = folder.string();
  const std::string metaPath = (folder / "meta.json").string();
  if (!fs::exists(metaPath, error)) return recording;
  try {
    const MappedFile file = MappedFile::open(metaPath);
    recording.meta = parseMeta(std::string(file.bytes().begin(), file.bytes().end()));
  } catch (const Error& problem) {
    recording.meta.warnings.push_back(std::string("meta.json of the recording is not used: ") +
                                      problem.what());
  }
  if (recording.meta.heapBlocks > 0 && !fs::exists(folder / "allocations", error))
    recording.meta.warnings.emplace_back(
        "Heap blocks were recorded, but the recording has no file `allocations`.");
  return recording;
}

}  // namespace cacheline::analysis
