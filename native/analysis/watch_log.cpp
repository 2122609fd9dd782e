// Reading of watch.data and watch.jsonl.
#include "analysis/watch_log.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

namespace {

constexpr uint32_t kWithRegisters = 32;        // hits of one instruction on one word
constexpr uint32_t kLongestWord = 8;           // bytes, of a debug register
constexpr size_t kMostLine = size_t{1} << 16;  // bytes of a line of watch.jsonl

class Traps : public perfdata::RecordVisitor {
 public:
  explicit Traps(WatchLog& log) : log_(log) {}

  void onSample(const perfdata::Sample& sample) override {
    WatchTrap trap{sample.time, sample.ip, sample.address, sample.pid, sample.tid, sample.cpu, kNone};
    if (sample.registers.mask != 0 && seen_[Key{sample.ip, sample.address, sample.pid}]++ < kWithRegisters) {
      trap.registers = static_cast<uint32_t>(log_.registers.size());
      log_.registers.push_back(sample.registers);
    }
    log_.traps.push_back(trap);
  }

 private:
  struct Key {
    uint64_t ip = 0, address = 0;
    uint32_t pid = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(mix(ip, address), pid); }
  };
  WatchLog& log_;
  HashMap<Key, uint32_t> seen_;
};

bool number(const rapidjson::Value& object, const char* name, uint64_t& value) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsUint64()) return false;
  value = member->value.GetUint64();
  return true;
}

std::optional<std::string_view> text(const rapidjson::Value& object, const char* name) {
  const auto member = object.FindMember(name);
  if (member == object.MemberEnd() || !member->value.IsString()) return std::nullopt;
  return std::string_view(member->value.GetString(), member->value.GetStringLength());
}

}  // namespace

bool WatchLog::parseWindow(const std::string& line, WatchWindow& window) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(line.data(),
                                                                                     line.size());
  if (json.HasParseError() || !json.IsObject()) return false;
  uint64_t pid = 0, length = 0;
  if (!number(json, "pid", pid) || !number(json, "length", length) || !number(json, "start", window.start) ||
      !number(json, "end", window.end) || !number(json, "watchedNs", window.watchedNs))
    return false;
  if (pid > UINT32_MAX || length > kLongestWord || !std::has_single_bit(length) || window.end < window.start)
    return false;
  window.pid = static_cast<uint32_t>(pid);
  window.length = static_cast<uint32_t>(length);
  window.watchedNs = std::min(window.watchedNs, window.end - window.start);
  const auto hex = text(json, "address");
  if (!hex || !hex->starts_with("0x")) return false;
  const auto parsed = std::from_chars(hex->data() + 2, hex->data() + hex->size(), window.address, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != hex->data() + hex->size()) return false;
  if (window.address % length != 0) return false;
  if (const auto name = text(json, "name")) window.name = *name;
  return true;
}

std::unique_ptr<WatchLog> WatchLog::open(const std::string& folder) {
  const std::string data = folder + "/watch.data", lines = folder + "/watch.jsonl";
  std::error_code error;
  if (folder.empty() || !std::filesystem::exists(lines, error)) return nullptr;
  auto log = std::make_unique<WatchLog>();
  try {
    const MappedFile file = MappedFile::open(lines);
    std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    size_t damaged = 0;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      if (end == std::string_view::npos) break;  // cut by the recorder's death
      WatchWindow window;
      if (end <= kMostLine && parseWindow(std::string(text.substr(0, end)), window))
        log->windows.push_back(std::move(window));
      else
        ++damaged;
      text.remove_prefix(end + 1);
    }
    if (damaged > 0)
      log->warnings.push_back(std::to_string(damaged) + " lines of watch.jsonl cannot be read.");
    const auto reader = perfdata::Reader::open(data);
    Traps traps(*log);
    reader->readAll(traps);
    for (const std::string& warning : reader->warnings()) log->warnings.push_back("watch.data: " + warning);
  } catch (const Error& problem) {
    log->warnings.push_back(std::string("What the watchpoints saw is not used: ") + problem.what());
    log->windows.clear();
    log->traps.clear();
  }
  std::stable_sort(log->windows.begin(), log->windows.end(),
                   [](const WatchWindow& a, const WatchWindow& b) { return a.start < b.start; });
  std::stable_sort(log->traps.begin(), log->traps.end(),
                   [](const WatchTrap& a, const WatchTrap& b) { return a.time < b.time; });
  return log;
}

void WatchLog::keep(const Filter& filter, uint64_t firstTime) {
  std::erase_if(
      traps, [&](const WatchTrap& trap) { return !isKept(filter, trap, (trap.ip >> 63) != 0, firstTime); });
}

}  // namespace cacheline::analysis
