// The files of watchpoints, to lie beside a recording.
#pragma once

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../perfdata/record_builder.h"

namespace cacheline::analysis::test {

inline constexpr uint64_t kMs = 1'000'000;  // ns

class WatchFiles {
 public:
  WatchFiles() {
    perf_event_attr attr = perfdata::testing::clockAttr(
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
        PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_INTR);
    builder_.event(attr, "watchpoint:u", {7});
  }
  /// Opens a window of `ms` on words of 8 bytes, from `start` on (ns).
  void window(uint32_t pid, uint64_t start, uint64_t ms,
              const std::vector<std::pair<uint64_t, std::string>>& words) {
    for (const auto& [address, name] : words) {
      char text[32];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
      lines_ += "{\"pid\":" + std::to_string(pid) + ",\"address\":\"" + text + "\",\"length\":8,\"name\":\"" +
                name + "\",\"start\":" + std::to_string(start) +
                ",\"end\":" + std::to_string(start + ms * kMs) +
                ",\"watchedNs\":" + std::to_string(ms * kMs) + ",\"hits\":0,\"lost\":0}\n";
    }
    time_ = start;
  }
  /// A microsecond after the one before; `ip`: of the instruction behind the access.
  void hit(uint32_t pid, uint32_t tid, uint64_t ip, uint64_t word, std::map<uint8_t, uint64_t> registers) {
    perfdata::testing::SampleFields fields;
    fields.ip = ip;
    fields.address = word;
    fields.registers = std::move(registers);
    builder_.thread(pid, tid).at(time_ += 1000).sample(fields);
  }
  void write(const std::string& folder) {
    builder_.write(folder + "/watch.data");
    std::ofstream(folder + "/watch.jsonl") << lines_;
  }
  std::string lines_;

 private:
  perfdata::testing::RecordBuilder builder_;
  uint64_t time_ = 0;
};

}  // namespace cacheline::analysis::test
