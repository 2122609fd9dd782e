// Types of the kernel's data: variables and objects that its code has in its hands, by a vmlinux that lies
// elsewhere than the recorded kernel did.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fixture.h"
#include "tests/sharing/typed_recording.h"

namespace cacheline::sharing {
namespace {

using test::TypedRecording;

constexpr const char* kKernelSource = R"code(
asm(".text\n.globl _text\n_text: nop");
struct worker { struct worker *next; long count; };
struct queue { long produced; struct { int owner, waiters; } lock; struct worker worker[2]; };
struct queue run_queue = {1};
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
#define NOINLINE __attribute__((noinline))
#define PER_CPU __attribute__((section(".data..percpu")))
PER_CPU __attribute__((aligned(64))) struct worker first_of_cpu = {0};
PER_CPU __attribute__((aligned(64))) struct queue cpu_queue = {1};
struct calls { void (*first)(void), (*unlock)(void), (*other)(void); } calls = {0};
#define ON_OWN_CPU(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %%gs:%0" : "+m"(place))
NOINLINE void own(void) { ON_OWN_CPU(own_produced, cpu_queue.produced); }
NOINLINE void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
NOINLINE void enqueue(void) { ACCESS(add_produced, run_queue.produced); ACCESS(add_second, run_queue.worker[1].count); }
/* As the kernel unlocks: the call is replaced when it boots, and so is the fence, on some processors. */
#define ALTERNATIVE(from, flags, to) "661: " from "\n662: .pushsection .altinstructions, \"a\"\n" \
  ".long 661b - ., 663f - .\n.word " flags "\n.byte 662b - 661b, 664f - 663f\n.popsection\n" \
  ".pushsection .altinstr_replacement, \"ax\"\n663: " to "\n664: .popsection\n"
NOINLINE void unlock(struct worker *worker) {
  __asm__ volatile(".globl unlock_count\nunlock_count: " ALTERNATIVE("call *calls + 8", "0x8114", "movb $0, 8(%%rdi)")
                   ALTERNATIVE("lock; addl $0, -4(%%rsp)", "0x5a", "mfence") : : "D"(worker) : "memory");
}
NOINLINE void kept(struct worker *worker) { __asm__ volatile(".globl kept_call\nkept_call: call *calls + 16" : : "D"(worker)); }
void _start(void) { unlock(&run_queue.worker[0]); kept(&run_queue.worker[1]); own(); bump(&run_queue.worker[0]); enqueue(); }
)code";
constexpr const char* kModuleSource = R"code(
struct job { long id, done; };
struct job jobs[4];
__attribute__((section(".data..percpu"))) struct job own_job = {1};
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
__attribute__((noinline)) void bump_job(struct job *job) { ACCESS(finish, job->done); }
void all_jobs(void) { bump_job(&jobs[0]); ACCESS(second, jobs[1].done); }
)code";
constexpr uint64_t kMoved = 0x2a000000, kText = 0xffffffff81000000 + kMoved, kTextLength = 0x200000;
constexpr uint64_t kHeap = 0xffff888100004000, kModule = 0xffffffffc0400000;
constexpr uint16_t kKernel = PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_EXACT_IP;

class KernelTypes : public testing::Test {
 protected:
  /// Flags for a vmlinux whose per-CPU variables are linked at 0, as before Linux 6.15, or among the others.
  std::string perCpuAt(bool zero) {
    const std::string script = dir_.file(zero ? "zero.ld" : "among.ld");
    std::ofstream(script) << "SECTIONS { before = .; .data..percpu " << (zero ? "0" : "")
                          << " : { *(.data..percpu) } " << (zero ? ". = before; " : "")
                          << "} INSERT BEFORE .data;";
    return "-g -Wl,-T," + script;
  }
  /// `flags`: what vmlinux is compiled with beside the kernel's own.
  void begin(const std::string& flags = "-g", bool registers = false) {
    options_.symbols.vmlinux = symbols::test::compile(
        dir_, "vmlinux", "c", kKernelSource,
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
  void access(uint64_t ip, uint64_t address, const std::map<uint8_t, uint64_t>& registers = {}) {
    for (uint32_t i = 0; i < 10; ++i)
      recording_->sample(TypedRecording::kPid + i % 2, ip, address, registers, kKernel);
  }
  analysis::Report report() { return recording_->report(options_, features_); }
  /// The row's data at an address.
  static analysis::DataName rowAt(const analysis::Report& report, uint64_t address) {
    for (const analysis::Line& line : report.lines)
      for (const analysis::Access& access : line.accesses)
        if (line.address + access.offset == address) return access.data;
    ADD_FAILURE() << "no row at " << std::hex << address;
    return {};
  }
  /// CPU 2 and 3 touch their own copies, whose first bytes are at `copies`, and CPU 2 the other's list.
  analysis::Report ofPerCpuData(uint64_t copy2, uint64_t copy3) {
    const uint64_t own = at("own_produced"), section = vmlinux_->section(".data..percpu")->address;
    const uint64_t queue = *vmlinux_->addressOfSymbol("cpu_queue") - section;
    recording_->cpu(2);
    access(own, copy2 + queue);
    access(at("bump_count"), copy3 + queue + 16 + 16 + 8);
    recording_->cpu(3);
    access(own, copy3 + queue);
    return report();
  }
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
  access(at("add_second"), at("run_queue") + 16 + 16 + 8);
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
  access(at("bump_count"), kHeap + 8);
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

TEST_F(KernelTypes, ThePerCpuDataOfEachCpuIsFoundByTheCodeThatNamesItsOwn) {
  for (const bool zero : {true, false}) {
    begin(perCpuAt(zero));
    constexpr uint64_t kCopy2 = 0xffff88813bd00000, kCopy3 = 0xffff88813bd80000;
    const uint64_t section = vmlinux_->section(".data..percpu")->address;
    EXPECT_EQ(section == 0, zero);
    const uint64_t queue = *vmlinux_->addressOfSymbol("cpu_queue") - section;
    const analysis::Report report = ofPerCpuData(kCopy2, kCopy3);
    const analysis::DataName own = rowAt(report, kCopy2 + queue);
    EXPECT_EQ(own.object, "cpu_queue");
    EXPECT_EQ(own.how, analysis::How::global);
    EXPECT_EQ(own.because,
              "variable `cpu_queue` covers the address; it is CPU 2's copy of a per-CPU variable");
    EXPECT_EQ(own.type, "queue");
    EXPECT_EQ(own.field, "produced");
    EXPECT_EQ(own.base, kCopy2 + queue);
    const analysis::DataName others = rowAt(report, kCopy3 + queue + 40);
    EXPECT_EQ(others.object, "cpu_queue") << "by code that names no variable";
    EXPECT_EQ(others.field, "worker[1].count");
    EXPECT_NE(others.because.find("CPU 3's copy"), std::string::npos) << others.because;
    ASSERT_EQ(report.objects.size(), 1u) << "the copies add up";
    EXPECT_EQ(report.objects[0].object, "cpu_queue");
    EXPECT_EQ(report.lines[0].accesses[0].width, 8u);
  }
}

TEST_F(KernelTypes, WhereNoCodeTellsACpusCopyItIsNotGuessed) {
  begin(perCpuAt(true));
  constexpr uint64_t kCopy3 = 0xffff88813bd80000;
  access(at("bump_count"), kCopy3 + 8);
  EXPECT_EQ(onlyRow(report()).object, "[kernel]");
  // Copies begin at pages: an address that says otherwise was not reached by this instruction.
  begin(perCpuAt(true));
  access(at("own_produced"), kCopy3 + 8);
  EXPECT_EQ(onlyRow(report()).object, "[kernel]");
}

TEST_F(KernelTypes, ALineThatIsNotListedTellsACpusCopyToo) {
  begin(perCpuAt(true));
  constexpr uint64_t kCopy3 = 0xffff88813bd80000;
  recording_->cpu(3);
  recording_->sample(TypedRecording::kPid, at("own_produced"),
                     kCopy3 + *vmlinux_->addressOfSymbol("cpu_queue"), {}, kKernel);
  constexpr int kMany = 300;  // perf lists what has a thousandth of them
  for (int i = 0; i < kMany; ++i)
    access(at("bump_count"), kCopy3 + *vmlinux_->addressOfSymbol("first_of_cpu") + 8);
  const analysis::DataName data = onlyRow(recording_->report(options_, features_, {}, false));
  EXPECT_EQ(data.object, "first_of_cpu");
  EXPECT_EQ(data.field, "count");
  EXPECT_NE(data.because.find("CPU 3's copy"), std::string::npos) << data.because;
}

TEST_F(KernelTypes, WhatTheKernelPutsInPlaceOfACallIsFollowed) {
  begin();
  access(at("unlock_count"), kHeap + 8);
  const analysis::Report report = this->report();
  const analysis::DataName data = onlyRow(report);
  EXPECT_EQ(data.type, "worker");
  EXPECT_EQ(data.field, "count");
  EXPECT_EQ(data.base, kHeap);
  EXPECT_EQ(report.lines[0].accesses[0].width, 1u);
}

TEST_F(KernelTypes, AnInstructionThatNamesAnotherPlaceSaysNothingOfTheData) {
  begin();
  access(at("kept_call"), kHeap + 8);
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.how, analysis::How::unknown) << data.type << "." << data.field;
}

TEST_F(KernelTypes, RegistersOfKernelCodeVote) {
  begin("-g", true);
  access(at("bump_count"), kHeap + 8, {{kRegDi, kHeap}});
  EXPECT_EQ(onlyRow(report()).because, "pointer `worker` in bump");
  EXPECT_EQ(onlyRow(report()).base, kHeap);
}

TEST_F(KernelTypes, WithoutVmlinuxTheReasonNamesIt) {
  begin();
  access(at("bump_count"), kHeap + 8);
  options_.symbols.vmlinux.clear();
  features_.buildIds[0].buildId = std::string(40, 'a');  // of no kernel here
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.how, analysis::How::unknown);
  EXPECT_EQ(data.type, "");
  EXPECT_NE(data.because.find("--vmlinux"), std::string::npos) << data.because;
}

TEST_F(KernelTypes, AVmlinuxWithoutDebugInformationNamesTheVariableAlone) {
  begin("");
  access(at("add_produced"), at("run_queue"));
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.object, "run_queue");
  EXPECT_EQ(data.how, analysis::How::global);
  EXPECT_EQ(data.type, "");
  EXPECT_EQ(data.because, "symbol of [kernel.kallsyms], which has no debug information about its type");
}

TEST_F(KernelTypes, CodeOfAModuleWithoutItsFileSaysWhatIsMissing) {
  begin();
  access(kModule + 0x10, kHeap + 8);
  const analysis::DataName data = onlyRow(report());
  EXPECT_EQ(data.how, analysis::How::unknown);
  EXPECT_EQ(
      data.because,
      "types that the code of [ext4] touches need the module's file with debug information (--symfs DIR)");
}

/// As perCpuAt(). Linked among the others, per-CPU variables are listed where KASLR put them.
class KernelModules : public KernelTypes, public testing::WithParamInterface<bool> {};

TEST_P(KernelModules, CodeAndVariablesOfAModuleAreTypedByItsFile) {
  begin(perCpuAt(GetParam()));
  const std::string object = symbols::test::compile(
      dir_, "ext4", "c", kModuleSource,
      "-c -g -O2 -fno-pic -mcmodel=kernel -ffreestanding -fno-stack-protector -fcf-protection=none");
  options_.symbols.symfs = dir_.file("target");
  options_.symbols.home = dir_.file("home");
  const std::string folder = options_.symbols.symfs + "/lib/modules/6.1.0/kernel/fs";
  const std::string cache = options_.symbols.home + "/.debug/[kernel.kallsyms]/" + vmlinux_->buildId();
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(cache);
  symbols::test::mustRun("ld -r --build-id=sha1 -o " + folder + "/ext4.ko " + object);
  const auto module = symbols::ElfImage::open(folder + "/ext4.ko");
  features_.buildIds.push_back({-1, module->buildId(), "[ext4]", true});
  constexpr uint64_t kJobs = kModule + 0x30c0, kCopy2 = 0xffff88813bd00000;
  const symbols::Section section = *vmlinux_->section(".data..percpu");
  const uint64_t kOwnJob = section.size + 32;
  const uint64_t listed = GetParam() ? kOwnJob : section.address + kOwnJob + kMoved;
  std::ofstream(cache + "/kallsyms") << std::hex << kText << " T _text\n"
                                     << kJobs << " b jobs\t[ext4]\n"
                                     << listed << " a own_job\t[ext4]\n"
                                     << listed - 32 << " A __per_cpu_end\n";
  const auto code = [&](const char* name) {
    return *module->addressOfSymbol(name) - module->section(".text")->address + kModule;
  };
  access(code("finish"), kHeap + 8);
  access(code("second"), kJobs + 16 + 8);
  recording_->cpu(2);
  access(at("own_produced"), kCopy2 + *vmlinux_->addressOfSymbol("cpu_queue") - section.address);
  access(code("finish"), kCopy2 + kOwnJob + 8);
  access(code("finish"), kCopy2 + kOwnJob - 8);
  const analysis::Report report = this->report();
  const analysis::DataName heap = rowAt(report, kHeap + 8);
  EXPECT_EQ(heap.how, analysis::How::code) << heap.because;
  EXPECT_EQ(heap.type, "job");
  EXPECT_EQ(heap.field, "done");
  const analysis::DataName variable = rowAt(report, kJobs + 24);
  EXPECT_EQ(variable.object, "jobs");
  EXPECT_EQ(variable.because, "variable `jobs` covers the address");
  EXPECT_EQ(variable.type, "job[4]");
  EXPECT_EQ(variable.field, "done");
  EXPECT_EQ(variable.index, 1u);
  EXPECT_EQ(variable.base, kJobs);
  const analysis::DataName own = rowAt(report, kCopy2 + kOwnJob + 8);
  EXPECT_EQ(own.object, "own_job");
  EXPECT_EQ(rowAt(report, kCopy2 + kOwnJob - 8).object, "[kernel]") << "behind the kernel's own variables";
  EXPECT_EQ(own.field, "done");
  EXPECT_EQ(own.because, "variable `own_job` covers the address; it is CPU 2's copy of a per-CPU variable");
}

INSTANTIATE_TEST_SUITE_P(PerCpuAtZero, KernelModules, testing::Bool());

}  // namespace
}  // namespace cacheline::sharing
