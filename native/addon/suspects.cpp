// Looking for suspects, their way from one process to another, and what the recorder is told.
#include "addon/suspects.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>
#include <utility>

#include "addon/analyze_call.h"
#include "analysis/verdict.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "c2c/data_text.h"
#include "record/watch_threads.h"

namespace cacheline::addon {
namespace {

using record::MappedPiece;
using record::WatchWord;

constexpr size_t kLines = 8, kWordsOfLine = 4;
constexpr double kPolledShare = 0.05;  // of all samples, at a line that threads only read in them

/// The smallest words that hold an access.
std::vector<analysis::WatchPiece> wordsOf(const analysis::Access& access, uint64_t lineAddress) {
  const uint64_t address = lineAddress + access.offset;
  const uint64_t width = std::clamp<uint64_t>(access.width, 1, 8);
  uint64_t length = 1;
  while (length < 8 && (length < width || address % length + width > length)) length *= 2;
  std::string name;
  c2c::appendDataText(name, access.data, address);
  return {{address - address % length, static_cast<uint32_t>(length), name}};
}

bool overlap(const analysis::WatchPiece& a, const analysis::WatchPiece& b) {
  return a.address < b.address + b.length && b.address < a.address + a.length;
}

/// The hottest words of a line, a written one first.
std::vector<analysis::WatchPiece> hotWords(const analysis::Line& line) {
  std::vector<const analysis::Access*> rows;
  for (const analysis::Access& access : line.accesses)
    if (access.records > 0) rows.push_back(&access);
  const auto rank = [](const analysis::Access* row) { return std::pair(row->contended, row->records); };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return rank(a) > rank(b); });
  const auto writer = std::find_if(rows.begin(), rows.end(), [](const auto* row) { return row->stores > 0; });
  if (writer != rows.end()) std::rotate(rows.begin(), writer, writer + 1);
  std::vector<analysis::WatchPiece> words;
  for (const analysis::Access* row : rows)
    for (analysis::WatchPiece& word : wordsOf(*row, line.address))
      if (words.size() < kWordsOfLine &&
          std::none_of(words.begin(), words.end(), [&](const auto& other) { return overlap(word, other); }))
        words.push_back(std::move(word));
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  return words;
}

/// Contended lines; then those that threads are hardly ever seen to do anything but read, most samples first:
/// flags that are polled.
std::vector<const analysis::Line*> suspectLines(const analysis::Report& report) {
  std::vector<const analysis::Line*> contended, polled;
  for (const analysis::Line& line : report.lines)
    if (analysis::isContended(line.verdict) && line.contended > 0)
      contended.push_back(&line);
    else if (line.verdict == analysis::Verdict::readShared &&
             static_cast<double>(line.records) >= kPolledShare * static_cast<double>(report.samples))
      polled.push_back(&line);
  std::stable_sort(polled.begin(), polled.end(),
                   [](const auto* a, const auto* b) { return a->records > b->records; });
  contended.insert(contended.end(), polled.begin(), polled.end());
  if (contended.size() > kLines) contended.resize(kLines);
  return contended;
}

std::vector<Suspect> suspectsOf(const analysis::Report& report) {
  std::vector<Suspect> suspects;
  for (const analysis::Line* suspected : suspectLines(report)) {
    const analysis::Line& line = *suspected;
    Suspect suspect{{}, line.fileOffset, line.space, line.address, hotWords(line)};
    std::set<uint32_t> pids;
    for (const analysis::Access& access : line.accesses)
      pids.insert(access.processes.begin(), access.processes.end());
    suspect.pids.assign(pids.begin(), pids.end());
    suspects.push_back(std::move(suspect));
  }
  return suspects;
}

/// CPU time of this thread, which a busy machine does not stretch.
double usedByThread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

class SuspectsJson : JsonWriter {
 public:
  std::string write(const std::vector<Suspect>& suspects, double cpuSeconds, uint64_t opened) {
    open();
    field("cpuSeconds", cpuSeconds);
    field("opened", opened);
    list("suspects", suspects, [&](const Suspect& suspect) {
      open();
      numbers("pids", suspect.pids);
      optional("fileOffset", suspect.fileOffset);
      field("space", suspect.space);
      field("address", suspect.address);
      list("words", suspect.words, [&](const analysis::WatchPiece& word) {
        open();
        field("address", word.address);
        field("length", word.length);
        field("name", word.name);
        close();
      });
      close();
    });
    close();
    return take();
  }
};

/// Of another process of ours: what is not as findSuspects() writes it is a bug.
class SuspectsReader {
 public:
  explicit SuspectsReader(const std::string& json) {
    document_.Parse(json.data(), json.size());
    check(!document_.HasParseError());
  }
  double cpuSeconds() const {
    const Value& value = member(document_, "cpuSeconds");
    check(value.IsNumber());
    return value.GetDouble();
  }
  uint64_t opened() const { return number(document_, "opened"); }
  std::vector<Suspect> suspects() const {
    std::vector<Suspect> suspects;
    for (const Value& item : list(document_, "suspects")) {
      Suspect& suspect = suspects.emplace_back();
      for (const Value& pid : list(item, "pids")) {
        check(pid.IsUint());
        suspect.pids.push_back(pid.GetUint());
      }
      if (!member(item, "fileOffset").IsNull()) suspect.fileOffset = number(item, "fileOffset");
      suspect.space = text(item, "space");
      suspect.address = number(item, "address");
      for (const Value& word : list(item, "words"))
        suspect.words.push_back(
            {number(word, "address"), static_cast<uint32_t>(number(word, "length")), text(word, "name")});
    }
    return suspects;
  }

 private:
  using Value = rapidjson::Value;
  static void check(bool fine) {
    if (!fine) throw Error(ErrorKind::internal, "the suspect words cannot be read");
  }
  static const Value& member(const Value& object, const char* name) {
    check(object.IsObject() && object.HasMember(name));
    return object[name];
  }
  static Value::ConstArray list(const Value& object, const char* name) {
    const Value& value = member(object, name);
    check(value.IsArray());
    return value.GetArray();
  }
  static uint64_t number(const Value& object, const char* name) {
    const Value& value = member(object, name);
    check(value.IsUint64());
    return value.GetUint64();
  }
  static std::string text(const Value& object, const char* name) {
    const Value& value = member(object, name);
    check(value.IsString());
    return {value.GetString(), value.GetStringLength()};
  }

  rapidjson::Document document_;
};

/// Where a process has a shared mapping's line.
std::optional<uint64_t> sharedAt(pid_t pid, const Suspect& suspect) {
  for (const MappedPiece& piece : record::mappingsOf(pid)) {
    char label[64];
    std::snprintf(label, sizeof label, "file %02x:%02x:%llu", piece.major, piece.minor,
                  static_cast<unsigned long long>(piece.inode));
    if (suspect.space == label && *suspect.fileOffset - piece.fileOffset < piece.end - piece.start)
      return piece.start + (*suspect.fileOffset - piece.fileOffset);
  }
  return std::nullopt;
}

void add(const Suspect& suspect, std::vector<WatchWord>& words) {
  for (const uint32_t pid : suspect.pids) {
    uint64_t bias = 0;
    if (suspect.fileOffset) {
      const auto place = sharedAt(static_cast<pid_t>(pid), suspect);
      if (!place) continue;
      bias = *place - suspect.address;
    }
    for (const analysis::WatchPiece& word : suspect.words)
      words.push_back({static_cast<pid_t>(pid), word.address + bias, word.length, word.name});
  }
}

}  // namespace

std::string findSuspects(const std::string& path, std::shared_ptr<analysis::KeptBinaries> kept,
                         const profile::Progress& progress) {
  const double before = usedByThread();
  const uint64_t openedBefore = kept->opened();
  AnalyzeParameters parameters;
  parameters.path = path;
  parameters.c2c.threads = 1;
  parameters.c2c.kept = kept;
  const std::vector<Suspect> suspects = suspectsOf(analyze(parameters, progress));
  return SuspectsJson().write(suspects, usedByThread() - before, kept->opened() - openedBefore);
}

bool Suspects::isDue() {
  const std::lock_guard lock(mutex_);
  return isNew_ || schedule_.isDue(Clock::now());
}

std::vector<WatchWord> Suspects::words(const std::string& folder, const Ask& ask) {
  const std::lock_guard lock(mutex_);
  isNew_ = false;
  if (const Clock::time_point now = Clock::now(); schedule_.isDue(now)) {
    asked_ = now;
    schedule_.begin(now);
    ask(folder);
  }
  std::vector<WatchWord> words;
  for (const Suspect& suspect : suspects_) add(suspect, words);
  return words;
}

void Suspects::tell(const std::string& json) {
  const SuspectsReader reader(json);
  std::vector<Suspect> found = reader.suspects();
  const std::lock_guard lock(mutex_);
  suspects_ = std::move(found);
  looked_ = isNew_ = true;
  lastLook_ = asked_;
  failure_.clear();
  const std::chrono::duration<double> used(reader.cpuSeconds());
  schedule_.end(Clock::now(), std::chrono::duration_cast<Clock::duration>(used), reader.opened());
}

void Suspects::failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  failure_ = why;
  schedule_.end(Clock::now(), {}, 0);
}

std::string Suspects::why() {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return "the analysis of the samples so far failed: " + failure_;
  if (!looked_) return "the program ended before there were enough samples to look at";
  if (!suspects_.empty()) return "the recording ended as soon as it was known what to watch";
  char text[96];
  std::snprintf(text, sizeof text,
                "no line looked contended or polled when the samples were last looked at, after %.1f s",
                std::chrono::duration<double>(lastLook_ - begun_).count());
  return text;
}

}  // namespace cacheline::addon
