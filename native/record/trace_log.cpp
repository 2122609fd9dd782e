// Writing of trace.jsonl.
#include "record/trace_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/json_writer.h"

namespace cacheline::record {
namespace {

class TraceLine : JsonWriter {
 public:
  std::string of(const TraceSubject& subject) {
    open();
    field("type", subject.type);
    field("member", subject.member);
    field("size", subject.size);
    list("words", subject.words, [this](const TraceWord& word) {
      open();
      field("offset", word.offset);
      field("length", word.length);
      close();
    });
    return end();
  }

  std::string of(const TracedObject& traced) {
    open();
    field("pid", static_cast<uint64_t>(traced.object.pid));
    address("address", traced.object.address);
    field("name", traced.object.name);
    address("block", traced.block);
    field("blockSize", traced.blockSize);
    if (traced.allocated) act("allocated", *traced.allocated);
    if (traced.freed) act("freed", *traced.freed);
    field("start", traced.start);
    field("end", traced.end);
    numbers("words", traced.words);
    field("hits", traced.hits);
    field("cut", traced.cut);
    return end();
  }

  std::string of(uint64_t elapsedNs, uint64_t costNs, uint64_t refused) {
    open();
    field("elapsedNs", elapsedNs);
    field("costNs", costNs);
    field("refused", refused);
    return end();
  }

 private:
  void act(const char* name, const heap::TraceAct& act) {
    open(name);
    field("ns", act.ns);
    field("tid", act.tid);
    field("cpu", act.cpu);
    list("frames", act.frames, [this](uint64_t frame) { value(frame); });
    close();
  }
  std::string end() {
    close();
    return take() + "\n";
  }
};

}  // namespace

TraceLog::TraceLog(const std::string& folder, const TraceSubject& subject) : path_(folder + "/trace.jsonl") {
  file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666));
  if (!file_) throw Error(ErrorKind::io, describeErrno("cannot create " + path_, errno));
  write(TraceLine().of(subject));
}

void TraceLog::add(const TracedObject& object) {
  write(TraceLine().of(object));
}

void TraceLog::finish(uint64_t elapsedNs, uint64_t costNs, uint64_t refused) {
  write(TraceLine().of(elapsedNs, costNs, refused));
}

void TraceLog::write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t count = ::write(file_.get(), line.data(), line.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorKind::io, describeErrno("cannot write " + path_, errno));
    line.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace cacheline::record
