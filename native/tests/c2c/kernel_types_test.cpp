// Types of the kernel's data: variables and objects that its code has in its hands, by a vmlinux that lies
// elsewhere than the recorded kernel did.
#include <gtest/gtest.h>

#include "fixture.h"
#include "tests/c2c/typed_recording.h"

namespace cacheline::c2c {
namespace {

using test::TypedRecording;

constexpr const char* kSource = R"code(
asm(".text\n.globl _text\n_text: nop");
struct worker { struct worker *next; long count; };
struct queue { long produced; struct { int owner, waiters; } lock; struct worker worker[2]; };
struct queue run_queue = {1};
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
#define NOINLINE __attribute__((noinline))
NOINLINE void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
NOINLINE void enqueue(void) { ACCESS(add_produced, run_queue.produced); ACCESS(add_second, run_queue.worker[1].count); }
void _start(void) { bump(&run_queue.worker[0]); enqueue(); }
)code";
constexpr uint64_t kMoved = 0x2a000000, kText = 0xffffffff81000000 + kMoved, kTextLength = 0x200000;
constexpr uint64_t kHeap = 0xffff888100004000, kModule = 0xffffffffc0400000;
constexpr uint16_t kKernel = PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP;

class KernelTypes : public testing::Test {
 protected:
  /// `flags`: what vmlinux is compiled with beside the kernel's own.
  void begin(const std::string& flags = "-g", bool registers = false) {
    options_.symbols.vmlinux = symbols::test::compile(
        dir_, "vmlinux", "c", kSource,
        flags +
            " -O2 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector -fno-pic -mcmodel=kernel" +
            " -fcf-protection=none -Wl,--build-id=sha1 -Wl,-Ttext=0xffffffff81000000 -Wl,-z,noseparate-code");
    options_.symbols.debugRoots.clear();
    vmlinux_ = symbols::ElfImage::open(options_.symbols.vmlinux);
    features_.buildIds = {{-1, vmlinux_->buildId(), "[kernel.kallsyms]", true}};
    recording_ = std::make_unique<TypedRecording>(registers);
    recording_->kernel(kText, kTextLength);
    recording_->kernel(kModule, 0x4000, "/lib/modules/6.1.0/kernel/fs/ext4.ko");
  }
  uint64_t at(const char* symbol) const { return vmlinux_->addressOfSymbol(symbol).value() + kMoved; }
  /// By two threads in turn.
  void touch(uint64_t ip, uint64_t address, const std::map<uint8_t, uint64_t>& registers = {}) {
    for (uint32_t i = 0; i < 10; ++i)
      recording_->sample(TypedRecording::kPid + i % 2, ip, address, registers, kKernel);
  }
  analysis::Report report() { return recording_->report(options_, features_); }
  /// Of a report with one row.
  analysis::DataName onlyRow(const analysis::Report& report) {
    EXPECT_EQ(report.lines.size(), 1u);
    if (report.lines.size() != 1 || report.lines[0].accesses.size() != 1) return {};
    return report.lines[0].accesses[0].data;
  }

  symbols::test::TempDir dir_;
  Options options_;
  perfdata::Features features_;
  std::shared_ptr<const symbols::ElfImage> vmlinux_;
  std::unique_ptr<TypedRecording> recording_;
};

TEST_F(KernelTypes, AVariableHasTheTypeAndFieldOfVmlinux) {
  begin();
  touch(at("add_second"), at("run_queue") + 16 + 16 + 8);
  const analysis::Report report = this->report();
  const analysis::DataName data = onlyRow(report);
  EXPECT_EQ(data.object, "run_queue");
  EXPECT_EQ(data.how, analysis::How::global);
  EXPECT_EQ(data.because, "variable `run_queue` covers the address");
  EXPECT_EQ(data.type, "queue");
  EXPECT_EQ(data.field, "worker[1].count");
  EXPECT_EQ(data.fieldOffset, 40u);
  EXPECT_EQ(data.base, at("run_queue"));
  EXPECT_EQ(report.lines[0].accesses[0].width, 8u);
  ASSERT_FALSE(report.types.empty());
  EXPECT_EQ(report.types[0].name, "queue");
  EXPECT_EQ(report.types[0].object, "[kernel.kallsyms]");
  EXPECT_EQ(report.types[0].binary, options_.symbols.vmlinux);
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_EQ(report.objects[0].object, "run_queue");
  EXPECT_EQ(report.objects[0].binary, "[kernel.kallsyms]");
  ASSERT_EQ(report.binaries.size(), 1u) << "the kernel is listed once";
  EXPECT_EQ(report.binaries[0].path, "[kernel.kallsyms]");
}

TEST_F(KernelTypes, AnObjectWithoutASymbolIsNamedByItsCode) {
  begin();
  touch(at("bump_count"), kHeap + 8);
  const analysis::Report report = this->report();
  const analysis::DataName data = onlyRow(report);
  EXPECT_EQ(data.object, "[kernel]");
  EXPECT_EQ(data.how, analysis::How::code);
  EXPECT_EQ(data.type, "worker");
  EXPECT_EQ(data.field, "count");
  EXPECT_EQ(data.base, kHeap);
  ASSERT_EQ(report.objects.size(), 1u);
  EXPECT_EQ(report.objects[0].object, "worker (kernel)");
}

TEST_F(KernelTypes, RegistersOfKernelCodeVote) {
  begin("-g", true);
  touch(at("bump_count"), kHeap + 8, {{kRegDi, kHeap}});
  EXPECT_EQ(onlyRow(report()).because, "pointer `worker` in bump");
  EXPECT_EQ(onlyRow(report()).base, kHeap);
}

TEST_F(KernelTypes, WithoutVmlinuxTheReasonNamesIt) {
  begin();
  touch(at("bump_count"), kHeap + 8);
  options_.symbols.vmlinux.clear();
  features_.buildIds[0].buildId = std::string(40, 'a');  // of no kernel here
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.how, analysis::How::unknown);
  EXPECT_EQ(data.type, "");
  EXPECT_NE(data.because.find("--vmlinux"), std::string::npos) << data.because;
}

TEST_F(KernelTypes, AVmlinuxWithoutDebugInformationNamesTheVariableAlone) {
  begin("");
  touch(at("add_produced"), at("run_queue"));
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.object, "run_queue");
  EXPECT_EQ(data.how, analysis::How::global);
  EXPECT_EQ(data.type, "");
  EXPECT_EQ(data.because, "symbol of [kernel.kallsyms], which has no debug information about its type");
}

TEST_F(KernelTypes, CodeOfAModuleSaysThatModulesAreNotRead) {
  begin();
  touch(kModule + 0x10, kHeap + 8);
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.how, analysis::How::unknown);
  EXPECT_EQ(data.because, "the accessing code is that of [ext4]: types of modules are not read");
}

}  // namespace
}  // namespace cacheline::c2c
