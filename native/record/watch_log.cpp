// Writing of watch.data and watch.jsonl.
#include "record/watch_log.h"

#include <fcntl.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/utf8.h"
#include "record/machine.h"

namespace cacheline::record {
namespace {

void writeLine(rapidjson::StringBuffer& text, const WatchedWord& item) {
  rapidjson::Writer<rapidjson::StringBuffer> json(text);
  const auto put = [&](const char* key, uint64_t value) {
    json.Key(key);
    json.Uint64(value);
  };
  const auto putText = [&](const char* key, const std::string& value) {
    json.Key(key);
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  char address[2 + 16 + 1];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(item.word.address));
  json.StartObject();
  put("pid", static_cast<uint64_t>(item.word.pid));
  putText("address", address);
  put("length", item.word.length);
  putText("name", validUtf8(item.word.name));
  put("start", item.start);
  put("end", item.end);
  put("watchedNs", item.watchedNs);
  put("hits", item.hits);
  put("lost", item.lost);
  if (!item.cut.empty()) putText("cut", item.cut);
  json.EndObject();
  text.Put('\n');
}

}  // namespace

WatchLog::WatchLog(const std::string& folder, const perf_event_attr& attr, const std::vector<uint64_t>& ids)
    : linesPath_(folder + "/watch.jsonl") {
  perfdata::Event event;
  event.attr = attr;
  event.ids = ids;
  event.name = "watchpoint:u";
  data_ = perfdata::Writer::create(folder + "/watch.data", {event});
  data_->flush();
  lines_.reset(::open(linesPath_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!lines_) throw Error(ErrorKind::io, describeErrno("cannot create " + linesPath_, errno));
}

void WatchLog::add(const std::vector<WatchHit>& hits) {
  if (hits.empty()) return;
  for (const WatchHit& hit : hits) data_->append(hit.record);
  first_ = first_ == 0 ? hits.front().time : std::min(first_, hits.front().time);
  last_ = std::max(last_, hits.back().time);
  data_->finishedRound();
}

void WatchLog::close(const std::vector<WatchedWord>& words) {
  data_->flush();  // a window that is told of has its hits
  rapidjson::StringBuffer text;
  for (const WatchedWord& word : words) writeLine(text, word);
  const std::string_view all(text.GetString(), text.GetSize());
  for (size_t written = 0; written < all.size();) {
    const ssize_t count = ::write(lines_.get(), all.data() + written, all.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorKind::io, describeErrno("cannot write " + linesPath_, errno));
    written += static_cast<size_t>(count);
  }
}

void WatchLog::finish() {
  perfdata::Features features = describeMachine();
  if (last_ != 0) features.sampleTime = {first_, last_};
  data_->finish(features);
}

}  // namespace cacheline::record
