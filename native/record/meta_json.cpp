// Writing of meta.json.
#include "record/meta_json.h"

#include <fcntl.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/error.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "calibration/calibration_json.h"

namespace cacheline::record {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void put(Writer& json, const char* key, const std::string& value) {
  const std::string text = validUtf8(value);
  json.Key(key);
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(Writer& json, const char* key, const std::vector<std::string>& values) {
  json.Key(key);
  json.StartArray();
  for (const std::string& value : values) {
    const std::string text = validUtf8(value);
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
  json.EndArray();
}

void put(Writer& json, const char* key, const std::optional<int>& value) {
  json.Key(key);
  if (value) {
    json.Int(*value);
  } else {
    json.Null();
  }
}

void put(Writer& json, const Target& target) {
  static constexpr std::array<const char*, 4> kKinds{"command", "processes", "threads", "system"};
  json.Key("target");
  json.StartObject();
  json.Key("kind");
  json.String(kKinds[static_cast<size_t>(target.kind)]);
  json.Key("ids");
  json.StartArray();
  for (const pid_t id : target.ids) json.Int(id);
  json.EndArray();
  json.Key("cpus");
  json.StartArray();
  for (const uint32_t cpu : target.cpus) json.Uint(cpu);
  json.EndArray();
  json.Key("children");
  json.Bool(target.children);
  if (target.descendants) {
    json.Key("descendants");
    json.Bool(true);
  }
  json.EndObject();
}

/// A JSON object that another writer made; null where there is none.
void putObject(Writer& json, const char* key, const std::string& text) {
  json.Key(key);
  if (text.empty())
    json.Null();
  else
    json.RawValue(text.data(), text.size(), rapidjson::kObjectType);
}

void writeFile(const std::string& path, const std::string& text) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) throw Error(ErrorKind::io, describeErrno("cannot create " + path, errno));
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(fd.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorKind::io, describeErrno("cannot write " + path, errno));
    written += static_cast<size_t>(count);
  }
  // Network file systems report a full disk here.
  if (::close(fd.release()) != 0) throw Error(ErrorKind::io, describeErrno("cannot write " + path, errno));
}

/// Over the text that is there, in the room on disk that it has. False where that is too little.
bool overwrite(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return false;
  if (text.size() > static_cast<uint64_t>(info.st_blocks) * 512)
    return false;  // stat(2): blocks of 512 bytes
  return ::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ::ftruncate(fd.get(), static_cast<off_t>(text.size())) == 0;
}

}  // namespace

std::string metaJson(const Meta& meta) {
  rapidjson::StringBuffer buffer;
  Writer json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  put(json, "schema", std::string("cacheline-recording/1"));
  put(json, "version", std::string(CACHELINE_VERSION));
  put(json, "command", meta.command);
  put(json, "workingDirectory", meta.workingDirectory);
  put(json, "startedAt", meta.startedAt);
  put(json, "collector", meta.collector);
  put(json, "collectorReason", meta.collectorReason);
  json.Key("notTaken");
  json.StartArray();
  for (const NotTaken& other : meta.notTaken) {
    json.StartObject();
    put(json, "collector", other.collector);
    put(json, "reason", other.reason);
    json.EndObject();
  }
  json.EndArray();
  put(json, meta.target);
  json.Key("frequency");
  json.Uint(meta.frequency);
  json.Key("period");
  json.Uint64(meta.period);
  json.Key("ldlat");
  if (meta.ldlat)
    json.Uint(*meta.ldlat);
  else
    json.Null();
  json.Key("durationSeconds");
  json.Double(meta.durationSeconds);
  json.Key("program");
  if (meta.program) {
    json.StartObject();
    put(json, "exitStatus", meta.program->exitStatus);
    put(json, "signal", meta.program->signal);
    json.Key("cpuSeconds");
    json.Double(meta.program->cpuSeconds);
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("samples");
  json.Uint64(meta.samples);
  json.Key("lost");
  json.Uint64(meta.lost);
  json.Key("switches");
  json.StartObject();
  json.Key("recorded");
  json.Bool(meta.switches.recorded);
  json.Key("reason");
  if (meta.switches.recorded)
    json.Null();
  else
    json.String(meta.switches.reason.data(), static_cast<rapidjson::SizeType>(meta.switches.reason.size()));
  json.EndObject();
  json.Key("heap");
  if (meta.heap) {
    json.StartObject();
    json.Key("sampling");
    json.Uint64(meta.heap->sampling);
    json.Key("blocks");
    json.Uint64(meta.heap->blocks);
    json.Key("lost");
    json.Uint64(meta.heap->lost);
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("interrupted");
  json.Bool(meta.interrupted);
  put(json, "warnings", meta.warnings);
  json.Key("machine");
  json.StartObject();
  put(json, "hostname", meta.hostname);
  put(json, "kernel", meta.kernel);
  put(json, "cpu", meta.cpu);
  json.Key("cpus");
  json.Uint(meta.cpus);
  json.Key("usableCpus");
  json.Uint(meta.usableCpus);
  json.Key("lineSize");
  json.Uint(meta.lineSize);
  json.EndObject();
  putObject(json, "calibration", meta.calibration ? calibration::toJson(*meta.calibration) : "");
  putObject(json, "topology", meta.topology);
  putObject(json, "placement", meta.placement);
  json.Key("binaries");
  json.StartArray();
  for (const RecordedBinary& binary : meta.binaries) {
    json.StartObject();
    put(json, "path", binary.path);
    put(json, "buildId", binary.buildId);
    json.Key("size");
    json.Uint64(binary.size);
    if (!binary.root.empty()) put(json, "root", binary.root);
    put(json, "mtimeNs", std::to_string(binary.mtimeNs));  // more than a JSON number holds exactly
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

void writeMeta(const std::string& directory, const Meta& meta) {
  const std::string path = directory + "/meta.json", temporary = path + ".new";
  try {
    writeFile(temporary, metaJson(meta));
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      throw Error(ErrorKind::io, describeErrno("cannot rename " + temporary + " to " + path, errno));
  } catch (const Error&) {
    ::unlink(temporary.c_str());
    // Why a recording is cut short is told in it also where the disk is full; what binaries were is too long.
    Meta shorter = meta;
    shorter.binaries.clear();
    if (!overwrite(path, metaJson(meta)) && !overwrite(path, metaJson(shorter))) throw;
  }
}

}  // namespace cacheline::record
