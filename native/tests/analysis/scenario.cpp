// The program of the scenarios, and recordings of it.
#include "scenario.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cacheline::analysis::test {

namespace {

constexpr uint64_t kPage = 4096;

// Functions lie 64 bytes apart; every access is the first instruction, so that its address is its function's.
const char* const kSource = R"(
  .text
  .macro function name
    .balign 64
    .globl \name
    .type \name, @function
    \name:
  .endm
  .macro end name
    ret
    .size \name, . - \name
  .endm
  function add_one
    lock addq $1, (%rdi)
    nop
  end add_one
  function load_table
    movl (%rsi,%rcx,4), %eax
    nop
  end load_table
  function store_second
    movq %rax, 8(%rdi)
    nop
  end store_second
  function load_hidden
    movq hidden(%rip), %rax
    nop
  end load_hidden
  function idle
    nop
    nop
  end idle
  function read_tls
    movq %fs:0x10, %rax
    nop
  end read_tls
  function chase
    movq (%rdi), %rdi
    nop
  end chase
  function join
    cmpl $0, (%rsi)
    je 1f
    lock addq $1, (%rdi)
  1:
    nop
  end join
  function arms
    cmpl $0, (%rsi)
    je 1f
    lock addq $1, (%rdi)
    jmp 2f
  1:
    lock addq $1, 8(%rdi)
  2:
    movq (%rsi), %rax
  end arms
  function compared
    testl %eax, %eax
    je 1f
    lock addq $1, (%rdi)
  1:
    nop
  end compared
  function get
    movq (%rdi), %rax
  end get
  function caller
    call get
    nop
  end caller
  function loop
    xorl %edx, %edx
  1:
    movslq %edx, %rcx
    addl $1, %edx
    movq (%rsi,%rcx,8), %rcx
    addq %rcx, %rax
    cmpl %edx, %edi
    jne 1b
  end loop
  function look
    movq (%rdi), %rax
    movq %rax, %rdx
    cmpq $5, %rdx
    jne 1f
    movq 8(%rdi), %rdx
    testq %rdx, %rdx
  1:
    xorl %edx, %edx
    nop
    movq %rax, (%rdi)
  end look
  .globl _start
  .type _start, @function
  _start: hlt
  .size _start, . - _start

  .data
  .globl counters
  .type counters, @object
  counters: .quad 1, 2
  .size counters, 16
  .type flag, @object
  flag: .quad 3
  .size flag, 8
  .balign 64
  .type table, @object
  table: .fill 256, 1, 4
  .size table, 256

  .bss
  .type hidden, @object
  hidden: .zero 64
  .size hidden, 64
  .type far_away, @object
  far_away: .zero 0x3000
  .size far_away, 0x3000
  .section .note.GNU-stack, "", @progbits
)";

const char* const kGoMark = R"(
  .section .go.buildinfo, "a"
  .ascii "\377 Go buildinf:"
  .byte 8, 2
)";

std::string build(Link link) {
  static const perfdata::testing::TempFolder folder;
  const std::string source = folder / "program.s";
  std::ofstream(source) << kSource << (link == Link::go ? kGoMark : "");
  const std::string path = folder / (link == Link::go ? "go" : link == Link::pie ? "pie" : "fixed");
  const std::string layout = link == Link::pie
                                 ? " -pie -Wl,-Ttext=0x1000,-Tdata=0x4000,-Tbss=0x4fc0"
                                 : " -static -no-pie -Wl,-Ttext=0x401000,-Tdata=0x404000,-Tbss=0x404fc0";
  const std::string command =
      std::string(CACHELINE_TEST_CC) +
      " -g -nostdlib -nostartfiles -Wl,--build-id=sha1 -Wl,-z,norelro -Wl,-z,noseparate-code" + layout +
      " -o " + path + " " + source;
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
  return path;
}

}  // namespace

const std::string& program(Link link) {
  static const std::string fixed = build(Link::fixed), pie = build(Link::pie), go = build(Link::go);
  return link == Link::go ? go : link == Link::pie ? pie : fixed;
}

Scenario::Scenario(uint64_t more, bool switches) {
  perf_event_attr attr = perfdata::testing::clockAttr();
  attr.sample_type |= more;
  attr.context_switch = switches ? 1 : 0;
  builder_.event(attr, "cpu-clock:u", {1});
  builder_.at(time_);
  features_.arch = "x86_64";
  features_.numaNodes = {{0, 1024, 512, "0-3"}};
}

void Scenario::start(uint32_t pid, Link link, uint64_t bias) {
  startFile(pid, program(link), bias);
}

void Scenario::startFile(uint32_t pid, const std::string& path, uint64_t bias) {
  tick();
  builder_.thread(pid, pid).comm("program", true);
  mapFile(pid, path, bias);
}

void Scenario::mapFile(uint32_t pid, const std::string& path, uint64_t bias, uint64_t inode) {
  const auto image = symbols::ElfImage::open(path);
  for (const symbols::Segment& segment : image->segments()) {
    const uint64_t start = segment.address / kPage * kPage;
    const uint64_t fileEnd = (segment.address + segment.fileSize + kPage - 1) / kPage * kPage;
    const uint64_t end = (segment.address + segment.memorySize + kPage - 1) / kPage * kPage;
    if (segment.fileSize > 0)
      builder_.mmap2({.address = start + bias,
                      .length = fileEnd - start,
                      .pageOffset = segment.fileOffset / kPage * kPage,
                      .major = 8,
                      .minor = 1,
                      .inode = inode,
                      .file = path});
    if (end > fileEnd) anonymous(pid, fileEnd + bias, end - fileEnd);
  }
}

void Scenario::anonymous(uint32_t pid, uint64_t address, uint64_t length, const char* name) {
  builder_.thread(pid, pid).mmap2({.address = address,
                                   .length = length,
                                   .protection = PROT_READ | PROT_WRITE,
                                   .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                                   .file = name});
}

void Scenario::shared(uint32_t pid, uint64_t address, uint64_t length, uint64_t inode, uint64_t pageOffset,
                      const char* name) {
  builder_.thread(pid, pid).mmap2({.address = address,
                                   .length = length,
                                   .pageOffset = pageOffset,
                                   .major = 0,
                                   .minor = 0x1b,
                                   .inode = inode,
                                   .protection = PROT_READ | PROT_WRITE,
                                   .flags = MAP_SHARED,
                                   .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA,
                                   .file = name});
}

void Scenario::thread(uint32_t pid, uint32_t tid) {
  tick();
  builder_.thread(pid, pid).fork(pid, tid);
}

void Scenario::process(uint32_t parent, uint32_t pid) {
  tick();
  builder_.thread(parent, parent).fork(pid, pid);
}

void Scenario::sample(uint32_t pid, uint32_t tid, uint64_t ip, std::map<uint8_t, uint64_t> registers,
                      uint32_t cpu, uint16_t misc) {
  tick();
  registers.try_emplace(kRegSp, kStackPointer);
  if (cpu == kOwnCpu) cpu = cpus_.try_emplace(tid, static_cast<uint32_t>(cpus_.size())).first->second;
  builder_.thread(pid, tid).cpu(cpu).sample({.ip = ip, .misc = misc, .registers = std::move(registers)});
}

void Scenario::in(uint32_t pid, uint32_t tid, uint32_t cpu) {
  tick();
  builder_.thread(pid, tid).cpu(cpu).raw(PERF_RECORD_SWITCH, 0, {}, true);
}
void Scenario::blocks(uint32_t pid, uint32_t tid, uint32_t cpu) {
  tick();
  builder_.thread(pid, tid).cpu(cpu).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {}, true);
}

void Scenario::add(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu) {
  sample(pid, tid, kAfterAdd, {{kRegDi, address}}, cpu);
}
void Scenario::load(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu) {
  sample(pid, tid, kLoad, {{kRegSi, address - 4 * 5}, {kRegCx, 5}}, cpu);
}
void Scenario::store(uint32_t pid, uint32_t tid, uint64_t address, uint32_t cpu) {
  sample(pid, tid, kStore, {{kRegDi, address - 8}}, cpu);
}

Report analyzeAt(const std::string& path, bool showAll, const std::function<bool(double)>& progress) {
  const Recording recording = openRecording(path);
  const auto reader = perfdata::Reader::open(recording.perfData);
  return sharing::analyze(*reader, recording, {.showAll = showAll, .symbols = {}}, progress);
}

uint64_t statistic(const std::vector<Statistic>& list, std::string_view name) {
  for (const auto& [item, number] : list)
    if (item == name) return number.value_or(UINT64_MAX);
  ADD_FAILURE() << "no statistic " << name;
  return 0;
}

std::string Scenario::write() {
  const std::string folder = folder_ / "test.cacheline";
  std::filesystem::create_directories(folder);
  builder_.write(folder + "/perf.data", features_);
  if (!metaJson.empty()) std::ofstream(folder + "/meta.json") << metaJson;
  return folder;
}

Report Scenario::report(bool showAll) {
  return analyzeAt(write(), showAll);
}

void expectTotals(const Report& report) {
  const Unattributed& rest = report.unattributed;
  EXPECT_EQ(report.samples, report.attributed + rest.kernel + rest.noInstruction + rest.noMemoryOperand +
                                rest.clobbered + rest.threadLocal + rest.unmapped);
  EXPECT_EQ(report.attributed, statistic(report.stats, "loads") + statistic(report.stats, "stores"));
  uint64_t contended = 0;
  for (const Line& line : report.lines) {
    contended += line.contended;
    EXPECT_EQ(line.records, line.loads + line.stores);
    EXPECT_LE(line.contended, line.records);
    uint64_t rows = 0, rowsContended = 0, threads = 0;
    for (const Access& access : line.accesses) {
      rows += access.records;
      rowsContended += access.contended;
      EXPECT_EQ(access.records, access.loads + access.stores);
      uint64_t skids = 0;
      for (const uint32_t samples : access.skid) skids += samples;
      EXPECT_EQ(skids, access.records);
    }
    for (const ThreadStatistics& use : line.threads) threads += use.loads + use.stores;
    EXPECT_EQ(rows, line.records);
    EXPECT_EQ(threads, line.records);
    EXPECT_EQ(rowsContended, line.contended);
  }
  EXPECT_EQ(contended, report.contended);
  uint64_t objectsContended = 0, objectRecords = 0, lineRecords = 0;
  for (const ObjectSum& object : report.objects) {
    objectsContended += object.contended;
    objectRecords += object.records;
  }
  for (const Line& line : report.lines) lineRecords += line.records;
  EXPECT_EQ(objectsContended, report.contended);
  EXPECT_EQ(objectRecords, lineRecords);
}

const Line* lineAt(const Report& report, uint64_t address) {
  for (const Line& line : report.lines)
    if (line.address == address) return &line;
  return nullptr;
}

const Line* lineAt(const Report& report, uint64_t address, const std::string& space) {
  for (const Line& line : report.lines)
    if (line.address == address && line.space == space) return &line;
  return nullptr;
}

const ObjectSum* objectNamed(const Report& report, const std::string& name) {
  for (const ObjectSum& object : report.objects)
    if (object.object == name) return &object;
  return nullptr;
}

}  // namespace cacheline::analysis::test
