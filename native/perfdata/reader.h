// Reads a perf.data file: what it is, its events and features, and its records in time order.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/registers.h"
#include "perfdata/event.h"
#include "perfdata/features.h"

namespace cacheline::perfdata {

/// The data source of a sample that carries none: nothing is known of the access (PERF_MEM_*_NA everywhere).
inline constexpr uint64_t kDataSourceNone = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA) |
                                            PERF_MEM_S(LOCK, NA) | PERF_MEM_S(TLB, NA);

/// ns.
struct TimeSpan {
  uint64_t first = 0, last = 0;
};

/// When a record holds. Records of one time hold in the order of the file.
struct Moment {
  static constexpr uint64_t kNowhere = ~uint64_t{0};
  uint64_t time = 0;      ///< ns; of a record without a time: up to which time all records came before it
  uint64_t position = 0;  ///< in the file, bytes; kNowhere in a compressed file and in directory format
  auto operator<=>(const Moment&) const = default;
};

/// Whether a time says when. What has none was made up by the recorder (the maps of running processes, ...):
/// it holds from where it stands in the file.
inline bool isTime(uint64_t time) {
  return time != 0 && time != ~uint64_t{0};
}

/// A sample, parsed by its event's sample_type. Fields the event does not carry stay at their defaults.
struct Sample {
  uint64_t ip = 0, time = 0, address = 0, id = 0, streamId = 0, period = 0, weight = 0;
  uint64_t dataSource = kDataSourceNone, physicalAddress = 0, dataPageSize = 0, codePageSize = 0, cgroup = 0,
           transaction = 0;
  uint32_t pid = 0, tid = 0, cpu = 0;
  uint16_t instructionLatency = 0,
           pipelineStage = 0;  ///< var2 and var3 of WEIGHT_STRUCT; its var1 is `weight`
  uint16_t misc = 0;           ///< perf_event_header.misc; cpumode in the low bits
  uint16_t event = 0;          ///< index into Reader::events()
  Moment moment;
  uint8_t registersAbi = 0;             ///< PERF_SAMPLE_REGS_ABI_* of `registers`
  std::span<const uint64_t> callchain;  ///< points into the file; PERF_CONTEXT_* markers included
  std::span<const uint8_t> userStack;   ///< memory from the user's stack pointer on; points into the file
  Registers registers;                  ///< REGS_INTR, or REGS_USER where there is no REGS_INTR; mask 0: none
};

/// What a sample says of a memory access. Fields as in Sample.
struct AccessSample {
  uint64_t position = 0;  ///< as Moment::position
  uint64_t ip = 0, time = 0, address = 0, weight = 0, dataSource = kDataSourceNone, physicalAddress = 0;
  uint32_t pid = 0, tid = 0, cpu = 0;
  uint16_t misc = 0;

  AccessSample() = default;
  explicit AccessSample(const Sample& sample)
      : position(sample.moment.position),
        ip(sample.ip),
        time(sample.time),
        address(sample.address),
        weight(sample.weight),
        dataSource(sample.dataSource),
        physicalAddress(sample.physicalAddress),
        pid(sample.pid),
        tid(sample.tid),
        cpu(sample.cpu),
        misc(sample.misc) {}
};

struct Mmap {  ///< MMAP and MMAP2
  uint64_t address = 0, length = 0, pageOffset = 0, time = 0;
  uint32_t pid = 0, tid = 0;
  uint64_t inode = 0, inodeGeneration = 0;
  uint32_t major = 0, minor = 0;
  uint32_t protection = 0;  ///< PROT_*; of MMAP, which does not say, PROT_EXEC, or 0 where `data` is set
  uint32_t flags = 0;       ///< MAP_*; 0 in MMAP
  bool data = false;        ///< PERF_RECORD_MISC_MMAP_DATA: not executable
  bool kernel = false;
  std::string_view file;  ///< "//anon", "[heap]", a path; points into the file
  std::string buildId;    ///< MMAP2 with build id, hex
  Moment moment;
};
struct Comm {
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0;
  bool exec = false;
  std::string_view name;
  Moment moment;
};
struct Task {
  uint32_t pid = 0, parentPid = 0, tid = 0, parentTid = 0;
  uint64_t time = 0;
  Moment moment;
};  ///< FORK, EXIT
/// Kernel code that came or went after boot: BPF programs, trampolines, ftrace.
struct Ksymbol {
  uint64_t address = 0;
  uint32_t length = 0;
  bool unregister = false;
  uint64_t time = 0;
  std::string_view name;
};
struct Lost {
  uint64_t count = 0;
  uint64_t time = 0;
  bool samples = false;  ///< LOST_SAMPLES: all of them were samples
};                       ///< LOST and LOST_SAMPLES

// What decoders of trace data (Arm SPE, ...) need. The recorder copies a CPU's trace into AUXTRACE records;
// AUX says when the kernel added which part of it.

/// What the trace data are, once at the start.
struct AuxtraceInfo {
  uint32_t type = 0;                      ///< PERF_AUXTRACE_*: 4 is Arm SPE
  std::span<const uint64_t> privateData;  ///< laid out as the type says
};
/// A piece of a trace buffer.
struct Auxtrace {
  uint64_t offset = 0;        ///< of `bytes` in all the data of this buffer
  uint64_t reference = 0;     ///< the recorder's number of this piece
  uint32_t index = 0;         ///< of the buffer
  uint32_t tid = 0, cpu = 0;  ///< ~0: of no one thread, of no one CPU
  std::span<const uint8_t> bytes;
  bool lasting = false;  ///< `bytes` can be used until the Reader goes, not only during the call
};
/// The kernel added [offset, offset + size) to a trace buffer.
struct Aux {
  uint64_t offset = 0, size = 0;
  uint64_t flags = 0;  ///< PERF_AUX_FLAG_*
  uint64_t time = 0, id = 0;
  uint32_t pid = 0, tid = 0, cpu = 0;
};
/// How the CPU's counter becomes the recording's clock:
/// ns = zero + ((ticks * multiplier) >> shift); see struct perf_event_mmap_page in <linux/perf_event.h>.
struct TimeConversion {
  uint64_t shift = 0, multiplier = 0, zero = 0;
  uint64_t cycles = 0, mask = 0;  ///< where capShort: of a counter of fewer than 64 bits
  bool capZero = true, capShort = false;
};
/// A thread began to be traced (ITRACE_START).
struct TraceStart {
  uint32_t pid = 0, tid = 0, cpu = 0;
  uint64_t time = 0;
};
/// A thread was put on a CPU or taken off it: SWITCH, SWITCH_CPU_WIDE.
struct Switch {
  uint32_t pid = 0, tid = 0;            ///< the thread itself, of the record's sample_id
  uint32_t otherPid = 0, otherTid = 0;  ///< SWITCH_CPU_WIDE: who comes after it or came before it
  uint32_t cpu = 0;
  bool out = false, preempted = false;
  uint64_t time = 0;
};

class AddressFilter;

/// Receives records in time order. Views are valid only during the call.
class RecordVisitor {
 public:
  virtual ~RecordVisitor() = default;
  virtual void onSample(const Sample&) {}
  virtual void onMmap(const Mmap&) {}
  virtual void onComm(const Comm&) {}
  virtual void onFork(const Task&) {}
  virtual void onExit(const Task&) {}
  virtual void onLost(const Lost&) {}
  virtual void onKsymbol(const Ksymbol&) {}
  virtual void onAux(const Aux&) {}
  virtual void onTraceStart(const TraceStart&) {}
  virtual void onSwitch(const Switch&) {}
  // These carry no time: they come where they stand in the file.
  virtual void onAuxtraceInfo(const AuxtraceInfo&) {}
  virtual void onAuxtrace(const Auxtrace&) {}
  virtual void onTimeConversion(const TimeConversion&) {}
};

class AccessReader;
struct Stretch;

/// Receives samples in no order, see Reader::scan().
class AccessVisitor {
 public:
  virtual ~AccessVisitor() = default;
  /// Some samples: `reader.each(stretch, ...)` reads them.
  virtual void onAccesses(AccessReader& reader, const Stretch& stretch) = 0;
};

/// How a scan ended.
enum class Scanned : uint8_t {
  partly,  ///< the recording cannot be read so, or who listened had enough; what was delivered is not all
  wholly,
  plainly  ///< wholly, and readAll() would tell no more: nothing is damaged or comes late, all samples have
           ///< times, and what comes between two calls of `ordered` is not much
};

class Reader {
 public:
  /// `path`: a perf.data file as `perf record` writes it, into a file or a pipe, compressed or not, on a
  /// machine of either byte order; or a folder in directory format. Throws Error(unreadable) with the file
  /// offset where it is malformed at the start.
  static std::unique_ptr<Reader> open(const std::string& path);
  /// The same over bytes in memory, which must outlive the Reader. `name` stands for the path in messages.
  static std::unique_ptr<Reader> fromBytes(std::span<const uint8_t> bytes, const std::string& name);
  ~Reader();

  const std::vector<Event>& events() const;  ///< at least one, each with a name
  const Features& features() const;
  /// Sentences about a cut or partly unreadable file, filled by open() and readAll().
  const std::vector<std::string>& warnings() const;
  uint64_t fileSize() const;  ///< bytes, of all files together in directory format

  /// Delivers every record once, ordered by time within what FINISHED_ROUND promises. `progress` (may be
  /// empty) gets the share of bytes read, 0 to 1, about 100 times; returning false from it stops with
  /// Error(cancelled). A truncated or damaged tail becomes a warning with its file offset, after everything
  /// before it was delivered. Where another program cuts the file or overwrites records meanwhile, this and
  /// all readings below throw Error(unreadable).
  /// Records without a time (time 0, or no sample_id_all) are delivered where they stand in the file, ahead
  /// of what waits for the end of its round. What waits is kept in the file, not in memory; of a compressed
  /// file, at most 64 MiB or eight times the file's size is held decompressed: where a round takes more, it
  /// is delivered early, with a warning. May be called again.
  /// With two `threads`, the visitor is called by a thread of its own, one call after the other.
  void readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress = {},
               unsigned threads = 1);

  /// Delivers what says of processes, threads and mappings when they were what: MMAP, COMM, FORK, EXIT, LOST,
  /// LOST_SAMPLES and KSYMBOL records, by their moments. Of a compressed file and in directory format, other
  /// records that are no samples come with them. The file is walked by as many `threads` as are worth it; the
  /// visitor is called by this one.
  void readOthers(RecordVisitor& visitor, const std::function<bool(double)>& progress = {},
                  unsigned threads = 1);

  /// Delivers every sample once, in no order, to `workers`, at least one, each on a thread of its own. Every
  /// now and then, while no worker is at work, calls `ordered` (may be empty): no sample from there on is
  /// older than one before; false from it ends the scan. With a filter only samples that pass it are
  /// delivered.
  Scanned scan(std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress = {},
               const AddressFilter* filter = nullptr, const std::function<bool()>& ordered = {});
  /// Whether scan() can read the recording: it is one file, and not compressed.
  bool canScan();

  /// From the oldest sample to the newest one; nullopt where the recording cannot be scanned, or no sample
  /// has a time.
  std::optional<TimeSpan> sampleSpan();

  /// Records seen by type, after readAll(), those in compressed records included: index is
  /// the record type; all types from 127 on are counted under 127.
  const std::vector<uint64_t>& recordCounts() const;

 private:
  struct Impl;
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::perfdata
