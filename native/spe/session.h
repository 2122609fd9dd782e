// From the SPE parts of a recording to memory samples in time order.
//
//   SpeSession session(readInfo(words, offset), {.midr = 0x410fd0c0, .time = conversion});
//   session.addChunk(...), addAux(...), addSwitch(...), addThread(...);   // all of the recording, any order
//   SpeSample sample;
//   while (session.next(sample)) ...
//   session.counts(), session.warnings()
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spe/data_source.h"
#include "spe/info.h"
#include "spe/record.h"
#include "spe/time.h"

namespace cacheline::spe {

/// The record AUXTRACE and the bytes after it.
struct SpeChunk {
  int32_t cpu = -1;                ///< -1 in per-thread recordings
  int32_t tid = -1;                ///< of per-thread recordings
  uint64_t offset = 0;             ///< place of the first byte in the AUX buffer
  uint64_t fileOffset = 0;         ///< of the bytes, for messages
  std::span<const uint8_t> bytes;  ///< must outlive the session
};

/// The record AUX: the kernel handed out `size` bytes of the AUX buffer from `offset` on.
struct SpeAux {
  int32_t cpu = -1, tid = -1;  ///< of the record's sample_id
  uint64_t time = 0;           ///< ns; when the bytes were complete
  uint64_t offset = 0, size = 0;
  uint64_t flags = 0;  ///< PERF_AUX_FLAG_*
};

/// The records SWITCH and SWITCH_CPU_WIDE: from `time` on, thread `tid` runs on `cpu`; -1: not known which.
/// Of SWITCH_CPU_WIDE with MISC_SWITCH_OUT that is the next thread; of SWITCH with MISC_SWITCH_OUT nobody.
struct SpeSwitch {
  uint64_t time = 0;  ///< ns
  int32_t cpu = -1, pid = -1, tid = -1;
};

/// The records COMM and FORK: from `time` on, thread `tid` belongs to process `pid`.
struct SpeThread {
  uint64_t time = 0;  ///< ns
  int32_t pid = -1, tid = -1;
};

struct SpeOptions {
  uint64_t midr = 0;                   ///< of all CPUs, where the information names none: feature CPUID
  std::optional<TimeConversion> time;  ///< the record TIME_CONV
};

/// One load or store. Unknown ids are -1, unknown addresses 0.
struct SpeSample {
  uint64_t time = 0;  ///< ns of the recording's clock
  int32_t pid = -1, tid = -1, cpu = -1;
  uint64_t ip = 0;
  uint64_t address = 0;
  uint64_t physicalAddress = 0;
  uint64_t dataSource = 0;                            ///< perf_mem_data_src
  uint64_t events = 0;                                ///< Event
  uint32_t weight = 0;                                ///< cycles: the total latency
  uint32_t issueLatency = 0, translationLatency = 0;  ///< cycles
  Operation operation;
  uint16_t cpuMode = 0;  ///< PERF_RECORD_MISC_USER, _KERNEL, _HYPERVISOR, or 0 without a PC
};

struct SpeCounts {
  DecodeCounts decode;
  uint64_t chunks = 0, bytes = 0;
  uint64_t samples = 0;           ///< loads and stores
  uint64_t otherOperations = 0;   ///< records of branches and of all that accesses no memory
  uint64_t withoutAddress = 0;    ///< samples
  uint64_t withoutTimestamp = 0;  ///< samples whose time is only that of their AUX record, or unknown
  uint64_t withoutThread = 0;     ///< samples
  uint64_t outOfOrder = 0;        ///< samples that are older than the one before
  uint64_t truncatedAux = 0;      ///< AUX records: the buffer was full, records are missing
  uint64_t collidedAux = 0;       ///< AUX records: an operation was due while another was still sampled
};

/// Merges the buffers of all CPUs, or threads, by time; what it keeps is one record a buffer, not the
/// samples.
///
/// - Time: the record's timestamp through TIME_CONV. Without either, the time of the AUX record that handed
///   the bytes out, which is later than the access.
/// - Thread: the record's context (of EL2 before EL1: it is the host's where the kernel runs at EL2); without
///   one, the thread of a per-thread recording; else who ran on the CPU by the switches.
/// - CPU of a per-thread recording: that of the AUX record.
///
/// A CPU's records are in time order unless the recording is damaged; where they are not, the sample is
/// handed out as soon as it is met, and counted.
class SpeSession {
 public:
  /// Throws Error(unreadable) where the time conversion cannot be a kernel's.
  SpeSession(SpeInfo info, SpeOptions options);

  void addChunk(const SpeChunk& chunk);
  void addAux(const SpeAux& aux);
  void addSwitch(const SpeSwitch& change);
  void addThread(const SpeThread& thread);

  /// The next sample. False at the end. After the first call nothing can be added.
  bool next(SpeSample& sample);

  /// Complete after next() has said false.
  const SpeCounts& counts() const { return counts_; }
  /// What a person should know of the data, one sentence each.
  std::vector<std::string> warnings() const;

 private:
  /// The chunks of one CPU, or of one thread where the CPU is -1, in the order of the file.
  struct Queue {
    int32_t cpu = -1, tid = -1;
    std::vector<SpeChunk> chunks;
    size_t nextChunk = 0;
    SpeBuffer buffer{{}};
    uint64_t bufferOffset = 0, bufferFileOffset = 0;
    bool open = false;   ///< `buffer` holds a chunk that is not yet counted
    SpeRecord record;    ///< the next to hand out
    uint64_t time = 0;   ///< of `record`
    bool timed = false;  ///< by its own timestamp
    int32_t recordCpu = -1;
  };

  Queue& queueOf(const SpeChunk& chunk);
  void start();
  bool advance(Queue& queue);
  void place(Queue& queue);
  void closeBuffer(Queue& queue);
  const SpeAux* auxOf(const Queue& queue, uint64_t offset) const;
  void nameThread(const Queue& queue, SpeSample& sample) const;
  int32_t processOf(int32_t tid, uint64_t time) const;
  SourceMeaning meaningOf(int32_t cpu);

  SpeInfo info_;
  SpeOptions options_;
  std::vector<Queue> queues_;
  std::unordered_map<uint64_t, size_t> queueIndex_;
  std::unordered_map<int32_t, std::vector<SpeAux>> auxOfCpu_, auxOfThread_;
  std::unordered_map<int32_t, std::vector<SpeSwitch>> switches_;  ///< by CPU
  std::unordered_map<int32_t, std::vector<SpeThread>> threads_;   ///< by tid
  std::unordered_map<int32_t, SourceMeaning> meanings_;           ///< by CPU
  std::vector<std::pair<uint64_t, size_t>> heap_;                 ///< (time, queue), the oldest on top
  bool started_ = false;
  uint64_t lastTime_ = 0;
  uint64_t firstBadFileOffset_ = 0;
  SpeCounts counts_;
};

}  // namespace cacheline::spe
