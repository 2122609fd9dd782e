// libFuzzer over the perf.data reader: any bytes, as a file, a pipe, compressed or of the other byte order,
// give records, warnings or Error(unreadable), and nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "fuzz/perfdata_seeds.h"
#include "perfdata/reader.h"

namespace {

using namespace cacheline::perfdata;

/// Touches everything that a view points to, so that the sanitizers see it.
class Toucher : public RecordVisitor {
 public:
  void onSample(const Sample& sample) override {
    for (const uint64_t address : sample.callchain) sum_ += address;
    for (uint8_t reg = 0; reg < cacheline::kRegCount; ++reg) {
      if (sample.registers.has(reg)) sum_ += sample.registers.value[reg];
    }
    sum_ += sample.event;
  }
  void onMmap(const Mmap& map) override { touch(map.file); }
  void onComm(const Comm& comm) override { touch(comm.name); }
  void onKsymbol(const Ksymbol& symbol) override { touch(symbol.name); }
  void onAuxtraceInfo(const AuxtraceInfo& info) override {
    for (const uint64_t word : info.privateData) sum_ += word;
  }
  void onAuxtrace(const Auxtrace& trace) override {
    for (const uint8_t byte : trace.bytes) sum_ += byte;
  }
  uint64_t sum() const { return sum_; }

 private:
  void touch(std::string_view text) {
    for (const char c : text) sum_ += static_cast<unsigned char>(c);
  }
  uint64_t sum_ = 0;
};

volatile uint64_t sink;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  cacheline::perfdata::testing::writeRecordingSeeds(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto reader = Reader::fromBytes({data, size}, "fuzz");
    Toucher visitor;
    reader->readAll(visitor);
    sink = visitor.sum();
  } catch (const cacheline::Error& error) {
    if (error.kind() != cacheline::ErrorKind::unreadable) std::abort();
  }
  return 0;
}
