// Suspects come from an analysis of the recording so far, on a thread of its own, so that the recorder's goes
// on draining.
#include "addon/watch_words.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "addon/analyze_call.h"
#include "addon/watch_expressions.h"
#include "analysis/verdict.h"
#include "analysis/watch_place.h"
#include "base/error.h"
#include "c2c/data_text.h"
#include "record/watch_threads.h"

namespace cacheline::addon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using record::MappedPiece;
using record::WatchWord;

constexpr auto kFirstLook = 400ms;  // of samples before they are asked for suspects
constexpr auto kLongestRest = 30s;  // between two looks
constexpr int kRest = 20;           // times the CPU time of the look before, at least
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

/// The words of the most suspect lines, and the processes and files they are in.
struct Suspect {
  std::vector<uint32_t> pids;
  std::optional<uint64_t> fileOffset;  ///< of a shared mapping's line
  std::string space;
  uint64_t address = 0;
  std::vector<analysis::WatchPiece> words;
};

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

class Suspects {
 public:
  ~Suspects() {
    cancelled_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::string why() {
    const std::lock_guard lock(mutex_);
    if (!looked_) return "the program ended before there were enough samples to look at";
    if (!suspects_.empty()) return "the recording ended when it was just known what to watch";
    char text[96];
    std::snprintf(text, sizeof text,
                  "no line looked contended or polled when the samples were last looked at, after %.1f s",
                  std::chrono::duration<double>(lastLook_ - begun_).count());
    return text;
  }

  std::vector<WatchWord> words(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    if (!busy_ && Clock::now() >= next_) {
      if (thread_.joinable()) thread_.join();
      busy_ = true;
      thread_ = std::thread([this, folder] { look(folder); });
    }
    std::vector<WatchWord> words;
    for (const Suspect& suspect : suspects_) add(suspect, words);
    return words;
  }

 private:
  void look(const std::string& folder) {
    const Clock::time_point start = Clock::now();
    const Clock::duration before = usedByThread();
    std::vector<Suspect> found;
    bool usable = true;
    try {
      AnalyzeParameters parameters;
      parameters.path = folder;
      parameters.c2c.threads = 1;
      found = suspectsOf(analyze(parameters, [this](double) { return !cancelled_.load(); }));
    } catch (const Error&) {
      usable = false;  // nothing sampled yet, or cancelled: the next look may tell
    }
    const std::lock_guard lock(mutex_);
    if (usable) suspects_ = std::move(found);
    if (usable) lastLook_ = start;
    looked_ |= usable;
    rest_ = std::min<Clock::duration>(rest_ * 2, kLongestRest);
    next_ = Clock::now() + std::max(rest_, (usedByThread() - before) * kRest);
    busy_ = false;
  }

  /// CPU time, which a busy machine does not stretch.
  static Clock::duration usedByThread() {
    timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }

  static void add(const Suspect& suspect, std::vector<WatchWord>& words) {
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

  /// Where a process has a shared mapping's line.
  static std::optional<uint64_t> sharedAt(pid_t pid, const Suspect& suspect) {
    for (const MappedPiece& piece : record::mappingsOf(pid)) {
      char label[64];
      std::snprintf(label, sizeof label, "file %02x:%02x:%llu", piece.major, piece.minor,
                    static_cast<unsigned long long>(piece.inode));
      if (suspect.space == label && *suspect.fileOffset - piece.fileOffset < piece.end - piece.start)
        return piece.start + (*suspect.fileOffset - piece.fileOffset);
    }
    return std::nullopt;
  }

  std::mutex mutex_;
  std::thread thread_;
  std::atomic<bool> cancelled_ = false;
  bool busy_ = false, looked_ = false;
  std::vector<Suspect> suspects_;
  Clock::duration rest_ = kFirstLook;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point next_ = begun_ + kFirstLook, lastLook_;
};

}  // namespace

record::WatchOptions watchOptions(const WatchRequest& request) {
  record::WatchOptions options;
  options.budget = request.budget;
  options.required = !request.expressions.empty();
  const auto expressions = std::make_shared<WatchExpressions>(request.expressions);
  const auto suspects = request.confirm ? std::make_shared<Suspects>() : nullptr;
  options.checkProgram = [expressions](const symbols::LinkedFiles& files) { expressions->check(files); };
  options.checkProcesses = [expressions](const std::vector<pid_t>& pids) { expressions->check(pids); };
  options.words = [expressions, suspects](const std::string& folder, const std::vector<pid_t>& pids) {
    std::vector<WatchWord> words = expressions->words(pids);
    if (suspects)
      for (WatchWord& word : suspects->words(folder)) words.push_back(std::move(word));
    return words;
  };
  options.whyNothing = [expressions, suspects] {
    const std::string why = expressions->why();
    return why.empty() && suspects ? suspects->why() : why;
  };
  options.missing = [expressions] { return expressions->missing(); };
  options.remarks = [expressions] { return expressions->remarks(); };
  return options;
}

}  // namespace cacheline::addon
