// Builds perf.data records byte by byte, for tests: what a kernel and a recorder would have written.
//
//   RecordBuilder b;
//   b.event(clockAttr(), "cpu-clock:u", {11, 12});
//   b.thread(100, 101).cpu(1).at(5000);                   // holds for all records that follow
//   b.comm("worker").mmap2({.address = 0x400000, .length = 0x1000, .file = "/bin/worker"});
//   b.at(6000).sample({.ip = 0x400123, .registers = {{kRegAx, 7}}}).finishedRound();
//   b.write("perf.data");
#pragma once

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/registers.h"
#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/features.h"
#include "perfdata/format.h"
#include "perfdata/writer.h"

namespace cacheline::perfdata::testing {

/// cpu-clock with `sampleType` and sample_id_all; register masks as the recorder asks for them.
inline perf_event_attr clockAttr(uint64_t sampleType = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
                                                       PERF_SAMPLE_REGS_INTR) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = 499;
  attr.sample_type = sampleType;
  attr.sample_id_all = 1;
  attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task = attr.inherit = 1;
  if ((sampleType & PERF_SAMPLE_REGS_INTR) != 0) attr.sample_regs_intr = kX86SampleRegs;
  if ((sampleType & PERF_SAMPLE_REGS_USER) != 0) attr.sample_regs_user = kX86SampleRegs;
  return attr;
}

/// What a sample may hold; the event's sample_type says which of it is written.
struct SampleFields {
  uint64_t ip = 0, address = 0, period = 1;
  uint16_t misc = PERF_RECORD_MISC_USER;
  std::vector<uint64_t> read = {};  ///< the words of read_format as they stand, nr included in a group
  std::vector<uint64_t> callchain = {};
  std::vector<uint8_t> raw =
      {};  ///< padded here so that the record's next field is aligned, as the kernel does
  std::vector<uint64_t> branches = {};  ///< from, to, flags of each
  bool branchStack = true;              ///< false: the CPU gave none, and no hardware index follows the 0
  uint64_t branchIndex = 0;
  std::vector<uint64_t> branchCounters = {};  ///< one a branch
  std::map<uint8_t, uint64_t> userRegisters = {};
  bool userAbi = true;  ///< false: PERF_SAMPLE_REGS_ABI_NONE and no values
  std::vector<uint8_t> stack = {};
  uint64_t weight = 0, dataSource = 0, transaction = 0;
  std::map<uint8_t, uint64_t> registers =
      {};  ///< REGS_INTR; bits of the mask without a value here are written as 0
  bool interruptAbi = true;
  uint64_t abi = PERF_SAMPLE_REGS_ABI_64;  ///< of the registers, where they are there
  uint64_t physicalAddress = 0, cgroup = 0, dataPageSize = 4096, codePageSize = 4096;
  std::vector<uint8_t> aux = {};
};

struct MmapFields {
  uint64_t address = 0, length = 0, pageOffset = 0;
  uint32_t major = 0, minor = 0;
  uint64_t inode = 0, generation = 0;
  uint32_t protection = PROT_READ | PROT_EXEC, flags = MAP_PRIVATE;
  uint16_t misc = PERF_RECORD_MISC_USER;
  std::string file = {};
  std::vector<uint8_t> buildId = {};  ///< MMAP2 only; takes the place of device and inode
};

class RecordBuilder {
 public:
  /// `order`: of the machine that records. Files in the other one are built with file_builder.h.
  explicit RecordBuilder(ByteOrder order = ByteOrder::native) : order_(order) {}
  ByteOrder order() const { return order_; }

  /// Adds an event; records belong to the event chosen last (the first one at the beginning).
  RecordBuilder& event(const perf_event_attr& attr, std::string name = {}, std::vector<uint64_t> ids = {}) {
    events_.push_back({attr, std::move(ids), std::move(name)});
    return *this;
  }
  RecordBuilder& use(size_t event) {
    event_ = event;
    return *this;
  }
  RecordBuilder& at(uint64_t time) {
    time_ = time;
    return *this;
  }
  RecordBuilder& thread(uint32_t pid, uint32_t tid) {
    pid_ = pid;
    tid_ = tid;
    return *this;
  }
  RecordBuilder& cpu(uint32_t cpu) {
    cpu_ = cpu;
    return *this;
  }

  RecordBuilder& mmap(const MmapFields& map) {
    putMap(map);
    putText(map.file);
    return finishRecord(PERF_RECORD_MMAP, map.misc);
  }
  RecordBuilder& mmap2(const MmapFields& map) {
    putMap(map);
    uint16_t misc = map.misc;
    if (map.buildId.empty()) {
      put(map.major);
      put(map.minor);
      put(map.inode);
      put(map.generation);
    } else {
      misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
      put(static_cast<uint8_t>(map.buildId.size()));
      put(uint8_t{0}), put(uint16_t{0});
      std::vector<uint8_t> id = map.buildId;
      id.resize(kMaxBuildIdBytes);
      putBytes(id);
    }
    put(map.protection);
    put(map.flags);
    putText(map.file);
    return finishRecord(PERF_RECORD_MMAP2, misc);
  }
  RecordBuilder& comm(const std::string& name, bool exec = false) {
    put(pid_);
    put(tid_);
    putText(name);
    return finishRecord(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  }
  /// A thread or process born of the current one.
  RecordBuilder& fork(uint32_t pid, uint32_t tid) { return task(PERF_RECORD_FORK, pid, pid_, tid, tid_); }
  /// The end of the current thread.
  RecordBuilder& exit() { return task(PERF_RECORD_EXIT, pid_, pid_, tid_, tid_); }
  RecordBuilder& lost(uint64_t count) {
    put(idOfEvent());
    put(count);
    return finishRecord(PERF_RECORD_LOST, 0);
  }
  RecordBuilder& lostSamples(uint64_t count) {
    put(count);
    return finishRecord(PERF_RECORD_LOST_SAMPLES, 0);
  }
  RecordBuilder& sample(const SampleFields& s) {
    putSample(s, events_.at(event_).attr);
    return finishRecord(PERF_RECORD_SAMPLE, s.misc, false);
  }
  RecordBuilder& finishedRound() { return raw(kRecordFinishedRound, 0, {}); }
  /// Any record; `trailer`: with the sample_id of the event, where it has one.
  RecordBuilder& raw(uint32_t type, uint16_t misc, const std::vector<uint8_t>& body, bool trailer = false) {
    putBytes(body);
    return finishRecord(type, misc, trailer);
  }

  const std::vector<Event>& events() const { return events_; }
  const std::vector<uint8_t>& records() const { return records_; }
  std::vector<uint8_t>& records() { return records_; }
  /// A finished file, through Writer.
  void write(const std::string& path, const Features& features = {}) const {
    auto writer = Writer::create(path, events_);
    writer->append(records_);
    writer->finish(features);
  }

 private:
  template <typename T>
  static void putInto(std::vector<uint8_t>& bytes, T value, ByteOrder order) {
    using Raw = std::make_unsigned_t<T>;
    const Raw stored =
        order == ByteOrder::native ? static_cast<Raw>(value) : swapBytes(static_cast<Raw>(value));
    const auto* raw = reinterpret_cast<const uint8_t*>(&stored);
    bytes.insert(bytes.end(), raw, raw + sizeof stored);
  }
  template <typename T>
  void put(T value) {
    putInto(body_, value, order_);
  }
  void putBytes(const std::vector<uint8_t>& bytes) { body_.insert(body_.end(), bytes.begin(), bytes.end()); }
  void putWords(const std::vector<uint64_t>& words) {
    for (const uint64_t word : words) put(word);
  }
  /// With its NUL, padded to 8 bytes.
  void putText(const std::string& text) {
    body_.insert(body_.end(), text.begin(), text.end());
    body_.resize((body_.size() + 8) & ~size_t{7});
  }
  void putMap(const MmapFields& map) {
    put(pid_);
    put(tid_);
    put(map.address);
    put(map.length);
    put(map.pageOffset);
  }
  RecordBuilder& task(uint32_t type, uint32_t pid, uint32_t parentPid, uint32_t tid, uint32_t parentTid) {
    put(pid);
    put(parentPid);
    put(tid);
    put(parentTid);
    put(time_);
    return finishRecord(type, 0);
  }
  uint64_t idOfEvent() const {
    const std::vector<uint64_t>& ids = events_.at(event_).ids;
    return ids.empty() ? 0 : ids[cpu_ % ids.size()];
  }
  void putRegisters(uint64_t mask, uint64_t abi, const std::map<uint8_t, uint64_t>& values) {
    put(abi);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;
    for (uint8_t reg = 0; reg < 64; ++reg) {
      if (((mask >> reg) & 1) == 0) continue;
      const auto found = values.find(reg);
      put<uint64_t>(found == values.end() ? 0 : found->second);
    }
  }

  /// union perf_sample_weight, as little- and big-endian machines declare it.
  void putWeights(uint64_t weights) {
    const auto var1 = static_cast<uint32_t>(weights);
    const auto var2 = static_cast<uint16_t>(weights >> 32), var3 = static_cast<uint16_t>(weights >> 48);
    if (order_ == ByteOrder::native) {
      put(var1), put(var2), put(var3);
    } else {
      put(var3), put(var2), put(var1);
    }
  }

  void putSample(const SampleFields& s, const perf_event_attr& attr) {
    const auto has = [&](uint64_t bit) { return (attr.sample_type & bit) != 0; };
    if (has(PERF_SAMPLE_IDENTIFIER)) put(idOfEvent());
    if (has(PERF_SAMPLE_IP)) put(s.ip);
    if (has(PERF_SAMPLE_TID)) put(pid_), put(tid_);
    if (has(PERF_SAMPLE_TIME)) put(time_);
    if (has(PERF_SAMPLE_ADDR)) put(s.address);
    if (has(PERF_SAMPLE_ID)) put(idOfEvent());
    if (has(PERF_SAMPLE_STREAM_ID)) put(idOfEvent());
    if (has(PERF_SAMPLE_CPU)) put(cpu_), put(uint32_t{0});
    if (has(PERF_SAMPLE_PERIOD)) put(s.period);
    if (has(PERF_SAMPLE_READ)) putWords(s.read);
    if (has(PERF_SAMPLE_CALLCHAIN)) put(uint64_t{s.callchain.size()}), putWords(s.callchain);
    if (has(PERF_SAMPLE_RAW)) {
      const size_t padded = ((4 + s.raw.size() + 7) & ~size_t{7}) - 4;
      put(static_cast<uint32_t>(padded));
      putBytes(s.raw);
      body_.resize(body_.size() + padded - s.raw.size());
    }
    if (has(PERF_SAMPLE_BRANCH_STACK)) {
      put(uint64_t{s.branches.size() / 3});
      if (s.branchStack && (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) put(s.branchIndex);
      putWords(s.branches);
      if ((attr.branch_sample_type & kBranchSampleCounters) != 0) putWords(s.branchCounters);
    }
    if (has(PERF_SAMPLE_REGS_USER))
      putRegisters(attr.sample_regs_user, s.userAbi ? s.abi : 0, s.userRegisters);
    if (has(PERF_SAMPLE_STACK_USER)) {
      put(uint64_t{s.stack.size()});
      putBytes(s.stack);
      if (!s.stack.empty()) put(uint64_t{s.stack.size()});
    }
    if (has(PERF_SAMPLE_WEIGHT)) {
      put(s.weight);
    } else if (has(PERF_SAMPLE_WEIGHT_STRUCT)) {
      putWeights(s.weight);
    }
    if (has(PERF_SAMPLE_DATA_SRC)) put(s.dataSource);
    if (has(PERF_SAMPLE_TRANSACTION)) put(s.transaction);
    if (has(PERF_SAMPLE_REGS_INTR))
      putRegisters(attr.sample_regs_intr, s.interruptAbi ? s.abi : 0, s.registers);
    if (has(PERF_SAMPLE_PHYS_ADDR)) put(s.physicalAddress);
    if (has(PERF_SAMPLE_CGROUP)) put(s.cgroup);
    if (has(PERF_SAMPLE_DATA_PAGE_SIZE)) put(s.dataPageSize);
    if (has(PERF_SAMPLE_CODE_PAGE_SIZE)) put(s.codePageSize);
    if (has(PERF_SAMPLE_AUX)) put(uint64_t{s.aux.size()}), putBytes(s.aux);
  }

  void putTrailer(const perf_event_attr& attr) {
    const auto has = [&](uint64_t bit) { return (attr.sample_type & bit) != 0; };
    if (has(PERF_SAMPLE_TID)) put(pid_), put(tid_);
    if (has(PERF_SAMPLE_TIME)) put(time_);
    if (has(PERF_SAMPLE_ID)) put(idOfEvent());
    if (has(PERF_SAMPLE_STREAM_ID)) put(idOfEvent());
    if (has(PERF_SAMPLE_CPU)) put(cpu_), put(uint32_t{0});
    if (has(PERF_SAMPLE_IDENTIFIER)) put(idOfEvent());
  }

  RecordBuilder& finishRecord(uint32_t type, uint16_t misc, bool trailer = true) {
    const perf_event_attr& attr = events_.at(event_).attr;
    if (trailer && attr.sample_id_all != 0) putTrailer(attr);
    const size_t size = sizeof(perf_event_header) + body_.size();
    if (size > UINT16_MAX) throw std::length_error("a record has at most 65535 bytes");
    putInto(records_, type, order_);
    putInto(records_, misc, order_);
    putInto(records_, static_cast<uint16_t>(size), order_);
    records_.insert(records_.end(), body_.begin(), body_.end());
    body_.clear();
    return *this;
  }

  ByteOrder order_;
  std::vector<Event> events_;
  std::vector<uint8_t> records_, body_;
  size_t event_ = 0;
  uint64_t time_ = 0;
  uint32_t pid_ = 0, tid_ = 0, cpu_ = 0;
};

}  // namespace cacheline::perfdata::testing
