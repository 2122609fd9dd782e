// Reading of trace.jsonl; any bytes are valid input.
#include "traces/recorded.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "heap/format.h"

namespace cacheline::traces {
namespace {

constexpr size_t kMostLine = size_t{1} << 16;  // bytes
constexpr uint32_t kLongestWord = 8;           // bytes, of a debug register

bool number(const rapidjson::Value& object, const char* name, uint64_t& value, uint64_t most = ~uint64_t{0}) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsUint64() || member->value.GetUint64() > most)
    return false;
  value = member->value.GetUint64();
  return true;
}

bool number(const rapidjson::Value& object, const char* name, uint32_t& value) {
  uint64_t wide = 0;
  if (!number(object, name, wide, UINT32_MAX)) return false;
  value = static_cast<uint32_t>(wide);
  return true;
}

std::string text(const rapidjson::Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsString()) return {};
  return {member->value.GetString(), member->value.GetStringLength()};
}

bool address(const rapidjson::Value& object, const char* name, uint64_t& value) {
  const std::string hex = text(object, name);
  if (!hex.starts_with("0x")) return false;
  const auto [end, error] = std::from_chars(hex.data() + 2, hex.data() + hex.size(), value, 16);
  return error == std::errc() && end == hex.data() + hex.size();
}

const rapidjson::Value* list(const rapidjson::Value& object, const char* name) {
  const auto member = object.FindMember(name);
  return member == object.MemberEnd() || !member->value.IsArray() ? nullptr : &member->value;
}

bool act(const rapidjson::Value& object, const char* name, std::optional<RecordedAct>& into) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd()) return true;
  if (!member->value.IsObject()) return false;
  RecordedAct act;
  const rapidjson::Value* frames = list(member->value, "frames");
  if (!number(member->value, "ns", act.ns) || !number(member->value, "tid", act.tid) ||
      !number(member->value, "cpu", act.cpu) || frames == nullptr || frames->Size() > HEAP_MAX_FRAMES)
    return false;
  for (const rapidjson::Value& frame : frames->GetArray()) {
    if (!frame.IsUint64()) return false;
    act.frames.push_back(frame.GetUint64());
  }
  into = std::move(act);
  return true;
}

bool parseHead(const rapidjson::Document& json, RecordedTrace& trace) {
  const rapidjson::Value* words = json.IsObject() ? list(json, "words") : nullptr;
  if (words == nullptr || !number(json, "size", trace.size)) return false;
  trace.type = text(json, "type");
  trace.member = text(json, "member");
  for (const rapidjson::Value& word : words->GetArray()) {
    TypeWord parsed;
    if (!word.IsObject() || !number(word, "offset", parsed.offset, kMostTraced) ||
        !number(word, "length", parsed.length) || parsed.length > kLongestWord ||
        !std::has_single_bit(parsed.length))
      return false;
    trace.words.push_back(parsed);
  }
  return !trace.type.empty();
}

bool parseObject(const rapidjson::Document& json, RecordedTrace& trace) {
  RecordedObject object;
  const rapidjson::Value* words = list(json, "words");
  if (!number(json, "pid", object.pid) || !address(json, "address", object.address) ||
      !number(json, "start", object.start) || !number(json, "end", object.end) || object.end < object.start ||
      !act(json, "allocated", object.allocated) || !act(json, "freed", object.freed) || words == nullptr)
    return false;
  object.variable = text(json, "name");
  object.cut = text(json, "cut");
  for (const rapidjson::Value& word : words->GetArray()) {
    if (!word.IsUint() || word.GetUint() >= trace.words.size()) return false;
    object.words.push_back(word.GetUint());
  }
  std::ranges::sort(object.words);
  trace.objects.push_back(std::move(object));
  return true;
}

bool parseLine(std::string_view line, RecordedTrace& trace) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(line.data(),
                                                                                     line.size());
  if (json.HasParseError() || !json.IsObject()) return false;
  if (json.HasMember("pid")) return parseObject(json, trace);
  uint64_t elapsed = 0, cost = 0;
  if (!number(json, "elapsedNs", elapsed) || !number(json, "costNs", cost)) return false;
  trace.elapsedNs = elapsed;
  trace.costNs = cost;
  return true;
}

}  // namespace

RecordedTrace parseTrace(std::string_view text) {
  RecordedTrace trace;
  size_t damaged = 0;
  bool head = false;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut by the recorder's death
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (!head) {
      rapidjson::Document json;
      json.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(line.data(),
                                                                                         line.size());
      if (json.HasParseError() || !parseHead(json, trace))
        throw Error(ErrorKind::unreadable, "the first line of trace.jsonl does not say what was traced",
                    "Trace the program again");
      head = true;
    } else if (line.size() > kMostLine || !parseLine(line, trace)) {
      ++damaged;
    }
  }
  if (!head) throw Error(ErrorKind::unreadable, "trace.jsonl is empty", "Trace the program again");
  if (damaged > 0)
    trace.warnings.push_back(std::to_string(damaged) + " lines of trace.jsonl cannot be read.");
  std::ranges::stable_sort(trace.objects, {}, &RecordedObject::start);
  return trace;
}

RecordedTrace readTrace(const std::string& folder) {
  const std::string path = folder + "/trace.jsonl";
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(path, error))
    throw Error(ErrorKind::unreadable, "the recording has no trace (trace.jsonl)",
                "Make one: cacheline trace TYPE -- PROGRAM");
  const MappedFile file = MappedFile::open(path);
  return parseTrace({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

}  // namespace cacheline::traces
