// /proc/PID/{comm,maps,task} as perf records.
#include "record/synthesize.h"

#include <sys/mman.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "record/procfs.h"

namespace cacheline::record {
namespace {

using Append = std::function<void(std::span<const uint8_t>)>;

/// Body of PERF_RECORD_MMAP2 up to its file name.
struct MmapBody {
  uint32_t pid, tid;
  uint64_t address, length, pageOffset;
  uint32_t major, minor;
  uint64_t inode, inodeGeneration;
  uint32_t protection, flags;
};
struct CommBody {
  uint32_t pid, tid;
};
struct ForkBody {
  uint32_t pid, parentPid, tid, parentTid;
  uint64_t time;
};

/// One record: a body, a name (with its end, padded) where there is one, and the sample_id.
template <typename Body>
void put(const Append& append, uint32_t type, uint16_t misc, const Body& body, const char* name,
         size_t trailerBytes) {
  const std::string_view text = name == nullptr ? std::string_view() : std::string_view(name);
  const size_t nameBytes = name == nullptr ? 0 : (text.size() + 8) & ~size_t{7};
  std::vector<uint8_t> record(sizeof(perf_event_header) + sizeof body + nameBytes + trailerBytes);
  const perf_event_header header{type, misc, static_cast<uint16_t>(record.size())};
  std::memcpy(record.data(), &header, sizeof header);
  std::memcpy(record.data() + sizeof header, &body, sizeof body);
  if (!text.empty()) std::memcpy(record.data() + sizeof header + sizeof body, text.data(), text.size());
  append(record);
}

/// The name that the kernel would report in a record.
const char* recordedName(const char* name) {
  if (name[0] == '\0' || std::strncmp(name, "[anon:", 6) == 0) return "//anon";
  if (std::strncmp(name, "[anon_shmem:", 12) == 0) return "/dev/zero (deleted)";
  return name;
}

/// A line of /proc/PID/maps: "7f0000-7f1000 r-xp 00001000 fd:01 42   /path".
void putMapping(pid_t process, const char* line, size_t trailerBytes, const Append& append) {
  MmapBody body{};
  body.pid = body.tid = static_cast<uint32_t>(process);
  std::array<char, 5> modes{};
  uint64_t end = 0;
  int nameAt = 0;
  if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
                  &body.address, &end, modes.data(), &body.pageOffset, &body.major, &body.minor, &body.inode,
                  &nameAt) != 7 ||
      nameAt == 0 || end <= body.address)
    return;
  body.length = end - body.address;
  body.protection = (modes[0] == 'r' ? PROT_READ : 0u) | (modes[1] == 'w' ? PROT_WRITE : 0u) |
                    (modes[2] == 'x' ? PROT_EXEC : 0u);
  if (body.protection == 0) return;
  body.flags = modes[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  const bool data = (body.protection & PROT_EXEC) == 0;
  put(append, PERF_RECORD_MMAP2,
      static_cast<uint16_t>(PERF_RECORD_MISC_USER | (data ? PERF_RECORD_MISC_MMAP_DATA : 0)), body,
      recordedName(line + nameAt), trailerBytes);
}

/// The mappings that a thread shows; false where it has none left.
bool putMappings(pid_t process, pid_t thread, size_t trailerBytes, const Append& append) {
  const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/maps";
  const auto closeFile = [](FILE* file) { std::fclose(file); };
  const std::unique_ptr<FILE, decltype(closeFile)> maps(std::fopen(path.c_str(), "re"), closeFile);
  struct MapsLine {
    char* text = nullptr;
    size_t room = 0;
    ~MapsLine() { std::free(text); }
  } line;
  bool any = false;
  for (ssize_t length; maps && (length = ::getline(&line.text, &line.room, maps.get())) > 0;) {
    if (line.text[length - 1] == '\n') line.text[length - 1] = '\0';
    putMapping(process, line.text, trailerBytes, append);
    any = true;
  }
  return any;
}

}  // namespace

size_t sampleIdBytes(const perf_event_attr& attr) {
  if (!attr.sample_id_all) return 0;
  size_t bytes = 0;
  for (const uint64_t part : {PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
                              PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER})
    bytes += (attr.sample_type & part) != 0 ? sizeof(uint64_t) : 0;
  return bytes;
}

void synthesizeProcess(pid_t process, size_t trailerBytes, const Append& append) {
  const std::string folder = "/proc/" + std::to_string(process);
  const auto pid = static_cast<uint32_t>(process);
  const std::vector<pid_t> threads = threadsOf(process);
  for (const pid_t thread : threads) {
    const auto tid = static_cast<uint32_t>(thread);
    const std::optional<std::string> name = readText(folder + "/task/" + std::to_string(thread) + "/comm");
    if (!name) continue;  // it has ended
    if (thread != process)
      put(append, PERF_RECORD_FORK, 0, ForkBody{pid, pid, tid, pid, 0}, nullptr, trailerBytes);
    put(append, PERF_RECORD_COMM, 0, CommBody{pid, tid}, name->c_str(), trailerBytes);
  }
  // The first thread may have ended before the others, and shows none then.
  for (const pid_t thread : threads)
    if (putMappings(process, thread, trailerBytes, append)) return;
}

std::vector<pid_t> allProcesses() {
  std::vector<pid_t> processes;
  for (const std::string& name : listDirectory("/proc"))
    if (name.find_first_not_of("0123456789") == std::string::npos && name.size() < 10)
      processes.push_back(static_cast<pid_t>(std::atol(name.c_str())));
  return processes;
}

}  // namespace cacheline::record
