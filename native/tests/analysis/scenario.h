// Recordings made by hand over a small program whose every instruction is known.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "sharing/analyze.h"
#include "symbols/elf_image.h"

namespace cacheline::analysis::test {

/// The program (assembly, compiled once a test program). Code addresses are fixed by its layout:
inline constexpr uint64_t kText = 0x401000;
inline constexpr uint64_t kAdd = kText + 0x00;         ///< lock addq $1, (%rdi)      8 bytes, locked
inline constexpr uint64_t kAfterAdd = kText + 0x05;    ///< nop: samples here have skid 1
inline constexpr uint64_t kLoad = kText + 0x40;        ///< movl (%rsi,%rcx,4), %eax  4 bytes
inline constexpr uint64_t kStore = kText + 0x80;       ///< movq %rax, 8(%rdi)        8 bytes
inline constexpr uint64_t kLoadBss = kText + 0xc0;     ///< movq hidden(%rip), %rax   8 bytes
inline constexpr uint64_t kNoOperand = kText + 0x100;  ///< nop in a function of its own
inline constexpr uint64_t kTls = kText + 0x140;        ///< movq %fs:0x10, %rax
inline constexpr uint64_t kClobbered = kText + 0x183;  ///< movq (%rdi), %rdi; then nop: here
inline constexpr uint64_t kJoinedAdd = kText + 0x1c5;  ///< lock addq $1, (%rdi), unless jumped over to kJoin
inline constexpr uint64_t kJoin = kText + 0x1ca;       ///< nop: a locked access falls through to it
inline constexpr uint64_t kFirstArm = kText + 0x20a;   ///< jmp kArmsJoin, right behind lock addq $1, (%rdi)
inline constexpr uint64_t kSecondAdd = kText + 0x20c;  ///< lock addq $1, 8(%rdi), which falls through to
inline constexpr uint64_t kArmsJoin = kText + 0x212;   ///< movq (%rsi), %rax
inline constexpr uint64_t kComparedAdd = kText + 0x244;   ///< lock addq $1, (%rdi), jumped over to
inline constexpr uint64_t kComparedJoin = kText + 0x249;  ///< nop, where eax is 0
inline constexpr uint64_t kGetLoad = kText + 0x280;       ///< movq (%rdi), %rax; ret
inline constexpr uint64_t kReturn = kText + 0x2c5;        ///< nop behind the only call of that
inline constexpr uint64_t kLoopHead = kText + 0x302;      ///< movslq %edx, %rcx, behind xorl %edx, %edx
inline constexpr uint64_t kLoopLoad =
    kText + 0x308;  ///< movq (%rsi,%rcx,8), %rcx; adds to rax, until edx is edi
inline constexpr uint64_t kFirstLook = kText + 0x340;  ///< movq (%rdi), %rax; movq %rax, %rdx
inline constexpr uint64_t kSecondLook =
    kText + 0x34c;  ///< movq 8(%rdi), %rdx; testq %rdx, %rdx; a jump may skip it
inline constexpr uint64_t kLooked = kText + 0x355;  ///< nop behind both; then movq %rax, (%rdi)
inline constexpr uint64_t kData = 0x404000;  ///< .data: counters (two 8-byte words), flag (8), table (256)
inline constexpr uint64_t kHidden =
    0x404fc0;                               ///< .bss, 64 bytes: the rest of the last page of the file mapping
inline constexpr uint64_t kFar = 0x405000;  ///< .bss, 0x3000 bytes: anonymous memory behind it

/// How the program is linked; `go`: as `fixed`, with what marks a program of Go 1.18 and later.
enum class Link { fixed, pie, go };

/// Path of the program. `debug`: with line information of code.
const std::string& program(Link link = Link::fixed);

/// Reads and analyzes the recording at `path`.
Report analyzeAt(const std::string& path, bool showAll = false,
                 const std::function<bool(double)>& progress = {});

/// A number of the report's head; UINT64_MAX where it is null, and a failure where there is none of the name.
uint64_t statistic(const std::vector<Statistic>& list, std::string_view name);

/// A recording in the making: time goes on by 2 ms a sample.
class Scenario {
 public:
  /// `more`: PERF_SAMPLE_* that samples have beside the usual ones. `switches`: there are records of context
  /// switches.
  explicit Scenario(uint64_t more = 0, bool switches = false);
  /// exec of the program in `pid` with its mappings, moved by `bias` (of the PIE).
  void start(uint32_t pid, Link link = Link::fixed, uint64_t bias = 0);
  void startFile(uint32_t pid, const std::string& path, uint64_t bias = 0);
  /// A library that the program loads.
  void mapFile(uint32_t pid, const std::string& path, uint64_t bias = 0, uint64_t inode = 77);
  void anonymous(uint32_t pid, uint64_t address, uint64_t length, const char* name = "//anon");
  void shared(uint32_t pid, uint64_t address, uint64_t length, uint64_t inode, uint64_t pageOffset,
              const char* name = "/dev/shm/board");
  void thread(uint32_t pid, uint32_t tid);      ///< a new thread of pid
  void process(uint32_t parent, uint32_t pid);  ///< fork
  void sample(uint32_t pid, uint32_t tid, uint64_t ip, std::map<uint8_t, uint64_t> registers,
              uint32_t cpu = kOwnCpu, uint16_t misc = PERF_RECORD_MISC_USER);
  /// Each thread has a CPU, by the order in which they are sampled.
  static constexpr uint32_t kOwnCpu = UINT32_MAX;
  /// `lock addq` at `address`, sampled with skid 1.
  void add(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu = kOwnCpu);
  void load(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu = kOwnCpu);
  void store(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu = kOwnCpu);

  /// A thread is put on a CPU, or leaves it.
  void in(uint32_t pid, uint32_t tid, uint32_t cpu);
  void blocks(uint32_t pid, uint32_t tid, uint32_t cpu);

  perfdata::testing::RecordBuilder& records() { return builder_; }
  perfdata::Features& features() { return features_; }
  /// Writes NAME.cacheline/{perf.data,meta.json} and analyzes it.
  Report report(bool showAll = false);
  std::string write();  ///< the folder
  std::string metaJson =
      R"({"schema":"cacheline-recording/1","collector":"clock","machine":{"lineSize":64}})";
  std::string file(const std::string& name) const { return folder_ / name; }

  /// Stack pointer of samples that name none: no mapping is near it.
  static constexpr uint64_t kStackPointer = 0x7ffdcafe0000;
  static constexpr uint64_t kStart = 1'000'000'000;
  static constexpr uint64_t kUnit = 2'000'000;
  void pass() { tick(); }                  ///< time in which nothing is sampled
  uint64_t time() const { return time_; }  ///< of the last record, ns

 private:
  void tick() { builder_.at(time_ += kUnit); }
  perfdata::testing::TempFolder folder_;
  perfdata::testing::RecordBuilder builder_;
  perfdata::Features features_;
  uint64_t time_ = kStart;
  std::map<uint32_t, uint32_t> cpus_;  ///< by tid
};

/// Every sample is attributed or counted under one reason; lines, rows and threads add up.
void expectTotals(const Report& report);

const Line* lineAt(const Report& report, uint64_t address);
const Line* lineAt(const Report& report, uint64_t address, const std::string& space);
const ObjectSum* objectNamed(const Report& report, const std::string& name);

}  // namespace cacheline::analysis::test
