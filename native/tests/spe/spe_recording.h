// An SPE recording twice: as a perf.data file for perf, and fed into a SpeSession.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "perfdata/format.h"
#include "perfdata/record_builder.h"
#include "perfdata/test_support.h"
#include "spe/session.h"
#include "spe_builder.h"

namespace cacheline::spe::testing {

inline constexpr uint32_t kSpePmuType = 9;

/// The AUX bytes of one CPU, handed out at `time` (ns).
struct AuxPiece {
  uint32_t cpu = 0;
  uint64_t time = 0;
  std::vector<uint8_t> bytes;
};

struct SpeRecording {
  uint64_t midr = 0x410fd0c1;                                                     ///< a Neoverse N1
  TimeConversion conversion{.shift = 10, .mult = 40960, .zero = 1'000'000};       ///< 40 ns a tick: 25 MHz
  std::vector<std::pair<uint32_t, uint32_t>> threads = {{100, 100}, {100, 101}};  ///< pid, tid
  std::vector<AuxPiece> pieces;
  std::vector<SpeSwitch> switches;

  template <typename T>
  static void append(std::vector<uint8_t>& out, T value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    out.insert(out.end(), raw, raw + sizeof value);
  }
  template <typename... T>
  static std::vector<uint8_t> body(T... values) {
    std::vector<uint8_t> out;
    (append(out, values), ...);
    return out;
  }

  void write(const std::string& path) const {
    perfdata::testing::RecordBuilder b;
    perf_event_attr attr{};
    attr.type = kSpePmuType;
    attr.size = sizeof attr;
    attr.config = 0x700010003;  // ts_enable, pa_enable, pct_enable, loads, stores, branches
    attr.sample_period = 4096;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
                       PERF_SAMPLE_PHYS_ADDR;
    attr.sample_id_all = 1;
    b.event(attr, "arm_spe_0//", {31, 32, 33, 34});
    b.raw(perfdata::kRecordTimeConv, 0,
          body(conversion.shift, conversion.mult, conversion.zero, conversion.cycles, conversion.mask,
               uint8_t{1}, uint8_t{conversion.shortCounter}, uint16_t{0}, uint32_t{0}));
    b.raw(perfdata::kRecordAuxtraceInfo, 0,
          body(kAuxtraceTypeSpe, uint32_t{0}, uint64_t{kSpePmuType}, uint64_t{1}));
    b.at(conversion.zero + 1).cpu(0);  // perf takes times before `zero` for the end of all
    for (const auto& [pid, tid] : threads) b.thread(pid, tid).comm("worker" + std::to_string(tid));
    for (const SpeSwitch& change : switches)
      b.at(change.time)
          .cpu(static_cast<uint32_t>(change.cpu))
          .thread(0, 0)
          .raw(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, body(change.pid, change.tid), true);
    std::map<uint32_t, uint64_t> offsets;
    std::vector<std::pair<size_t, const std::vector<uint8_t>*>> holes;  // in the data section
    for (const AuxPiece& piece : pieces) {
      const uint64_t offset = offsets[piece.cpu], size = piece.bytes.size();
      offsets[piece.cpu] += size;
      b.at(piece.time).cpu(piece.cpu).thread(100, 100);
      b.raw(PERF_RECORD_AUX, 0, body(offset, size, uint64_t{0}), true);
      b.raw(perfdata::kRecordAuxtrace, 0,
            body(size, offset, uint64_t{0}, piece.cpu, int32_t{-1}, piece.cpu, uint32_t{0}));
      holes.emplace_back(b.records().size(), &piece.bytes);
      // Writer takes whole records only: an empty one holds the place of each 8 bytes.
      if (size % 8 != 0) throw std::length_error("AUX data comes in multiples of 8 bytes");
      for (uint64_t at = 0; at < size; at += 8) b.raw(perfdata::kRecordFinishedRound, 0, {});
    }
    b.at(~uint64_t{0} >> 8).cpu(0).thread(100, 100).exit();
    perfdata::Features features;
    features.arch = "aarch64";
    features.cpusAvailable = features.cpusOnline = 4;
    char cpuId[32];
    std::snprintf(cpuId, sizeof cpuId, "0x%016llx", static_cast<unsigned long long>(midr));
    features.cpuId = cpuId;
    b.write(path, features);

    std::vector<uint8_t> file = perfdata::testing::readBytes(path);
    perfdata::FileHeaderBytes header;
    std::memcpy(&header, file.data(), sizeof header);
    for (const auto& [at, bytes] : holes)
      std::ranges::copy(*bytes, file.begin() + static_cast<ptrdiff_t>(header.data.offset + at));
    perfdata::testing::writeBytes(path, file);
  }

  SpeSession session() const {
    SpeInfo info;
    info.pmuType = kSpePmuType;
    SpeSession session(info, {.midr = midr, .time = conversion});
    for (const auto& [pid, tid] : threads)
      session.addThread({.time = 1, .pid = static_cast<int32_t>(pid), .tid = static_cast<int32_t>(tid)});
    for (const SpeSwitch& change : switches) session.addSwitch(change);
    std::map<uint32_t, uint64_t> offsets;
    for (const AuxPiece& piece : pieces) {
      const auto cpu = static_cast<int32_t>(piece.cpu);
      const uint64_t offset = offsets[piece.cpu];
      offsets[piece.cpu] += piece.bytes.size();
      session.addAux(
          {.cpu = cpu, .tid = 100, .time = piece.time, .offset = offset, .size = piece.bytes.size()});
      session.addChunk({.cpu = cpu, .offset = offset, .bytes = piece.bytes});
    }
    return session;
  }
};

}  // namespace cacheline::spe::testing
