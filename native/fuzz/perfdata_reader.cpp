// libFuzzer over the perf.data reader: any bytes, as a file, a pipe, compressed or of the other byte order,
// give records, warnings or Error(unreadable), and nothing else; and scanning gives the same samples as
// reading.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "fuzz/perfdata_seeds.h"
#include "perfdata/access_reader.h"
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
    accesses_ += digest(AccessSample(sample));
  }
  void onMmap(const Mmap& map) override { touch(map.file); }
  void onComm(const Comm& comm) override { touch(comm.name); }
  void onKsymbol(const Ksymbol& symbol) override { touch(symbol.name); }
  void onSwitch(const Switch& record) override {
    sum_ += record.time + record.tid + record.otherTid + record.cpu + (record.out ? 1 : 0);
  }
  void onAuxtraceInfo(const AuxtraceInfo& info) override {
    for (const uint64_t word : info.privateData) sum_ += word;
  }
  void onAuxtrace(const Auxtrace& trace) override {
    for (const uint8_t byte : trace.bytes) sum_ += byte;
  }
  uint64_t sum() const { return sum_; }
  uint64_t accesses() const { return accesses_; }

  static uint64_t digest(const AccessSample& sample) {
    uint64_t value = 1;
    for (const uint64_t field :
         {sample.ip, sample.time, sample.address, sample.weight, sample.dataSource, sample.physicalAddress,
          uint64_t{sample.pid}, uint64_t{sample.tid}, uint64_t{sample.cpu}, uint64_t{sample.misc}})
      value = cacheline::mix(value, field);
    return value;
  }

 private:
  void touch(std::string_view text) {
    for (const char c : text) sum_ += static_cast<unsigned char>(c);
  }
  uint64_t sum_ = 0, accesses_ = 0;
};

/// The same samples, whatever their order.
struct Adder : AccessVisitor {
  void onAccesses(AccessReader& reader, const Stretch& stretch) override {
    reader.each(stretch, [this](const AccessSample& sample) { accesses += Toucher::digest(sample); });
  }
  uint64_t accesses = 0;
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
    // Twice: the second one may go by what the first one noted.
    for (int scan = 0; scan < 2; ++scan) {
      Toucher others;
      reader->readOthers(others);
      Adder adder;
      if (reader->scan(std::array<AccessVisitor*, 1>{&adder}) != Scanned::partly &&
          adder.accesses != visitor.accesses())
        std::abort();
    }
  } catch (const cacheline::Error& error) {
    if (error.kind() != cacheline::ErrorKind::unreadable) std::abort();
  }
  return 0;
}
