// Who called: recordings with pieces of stacks and with chains of frame pointers, over frames known to the
// byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "analysis/caller_table.h"
#include "scenario.h"
#include "sharing/analyze.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// `outer` calls `middle`, both with frame pointers, which calls `leaf`. `_start` has no caller.
const char* const kFramesSource = R"(
  .text
  .globl _start, outer, middle, leaf, thief, in_leaf, in_middle, popped, in_thief, after_leaf, after_middle, after_outer
  .type _start, @function
  _start:
    .cfi_startproc
    .cfi_undefined rip
    call outer
  after_outer:
    hlt
    .cfi_endproc
    .size _start, . - _start
  .type outer, @function
  outer:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register rbp
    sub $16, %rsp
    call middle
  after_middle:
    leave
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size outer, . - outer
  .type middle, @function
  middle:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register rbp
    lock incq (%rdi)
  in_middle:
    call leaf
  after_leaf:
    pop %rbp
    .cfi_def_cfa rsp, 8
    lock incq (%rdi)
  popped:
    ret
    .cfi_endproc
    .size middle, . - middle
  .type leaf, @function
  leaf:
    .cfi_startproc
    lock incq (%rdi)
  in_leaf:
    ret
    .cfi_endproc
    .size leaf, . - leaf
  .type thief, @function
  thief:
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    xor %ebp, %ebp
    lock incq (%rdi)
  in_thief:
    pop %rbp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size thief, . - thief
  .section .note.GNU-stack, "", @progbits
)";

const std::string& callingProgram() {
  static const perfdata::testing::TempFolder folder;
  static const std::string path = [] {
    std::ofstream(folder / "calls.s") << kFramesSource;
    const std::string command = std::string(CACHELINE_TEST_CC) +
                                " -nostdlib -nostartfiles -static -no-pie -o " + (folder / "calls") + " " +
                                (folder / "calls.s");
    if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot compile: " + command);
    return std::string(folder / "calls");
  }();
  return path;
}

uint64_t label(const char* name) {
  static const auto image = symbols::ElfImage::open(callingProgram());
  const auto address = image->addressOfSymbol(name);
  if (!address) throw std::runtime_error(name);
  return *address;
}

constexpr uint64_t kCounted = 0x5000000, kFramesStack = 0x7ffc00001000;

/// Two threads that add to one line of the heap, so that it is in the report.
class Called : public Scenario {
 public:
  Called() : Scenario(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER) {
    startFile(100, callingProgram());
    thread(100, 101);
    anonymous(100, kCounted, 0x10000);
  }
  void sampled(uint64_t ip, std::vector<uint64_t> stack, std::vector<uint64_t> chain = {},
               uint64_t frame = kFramesStack + 0x100, uint64_t data = kCounted) {
    for (const uint32_t tid : {100, 101}) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(stack.data());
      records()
          .at(time_ += kUnit)
          .thread(100, tid)
          .sample({.ip = ip,
                   .callchain = chain,
                   .stack = {bytes, bytes + stack.size() * 8},
                   .registers = {{kRegDi, data}, {kRegSp, kFramesStack}, {kRegBp, frame}}});
    }
  }
  /// The chains of the access at `offset` of the heap, as functions; "0" for a caller that is not known.
  std::vector<std::string> chains(uint64_t offset = 0) {
    const Recording recording = openRecording(write());
    const auto reader = perfdata::Reader::open(recording.perfData);
    const Report report =
        sharing::analyze(*reader, recording, {.showAll = true, .callers = true, .symbols = {}});
    std::vector<std::string> list;
    for (const Line& line : report.lines)
      for (const Access& access : line.accesses) {
        if (line.address + access.offset != kCounted + offset) continue;
        EXPECT_TRUE(access.callers);
        for (const Callers& chain : *access.callers) {
          std::string text = std::to_string(chain.records);
          for (const CallerFrame& frame : chain.frames)
            text += frame.codeAddress == 0 ? " 0" : " " + frame.symbol;
          list.push_back(text);
        }
      }
    return list;
  }

 private:
  uint64_t time_ = kStart + 1'000'000'000;
};

using Chains = std::vector<std::string>;

/// From `leaf` outwards: its return address, the frame of middle, that of outer. The frame pointer is
/// kFramesStack + 8.
std::vector<uint64_t> stackInLeaf() {
  return {
      label("after_leaf"), kFramesStack + 40, label("after_middle"), 11, 22, 33, label("after_outer"), 44};
}

TEST(Callers, AreFoundInTheRecordedStack) {
  Called s;
  s.sampled(label("in_leaf"), stackInLeaf(), {}, kFramesStack + 8);
  EXPECT_EQ(s.chains(), Chains{"2 middle outer _start"});
}

TEST(Callers, AStackThatIsCutOffGivesTheFramesThatAreThere) {
  const std::vector<uint64_t> whole = stackInLeaf();
  const Chains wanted = {"",
                         "2 middle",
                         "2 middle",
                         "2 middle outer",
                         "2 middle outer",
                         "2 middle outer",
                         "2 middle outer",
                         "2 middle outer _start"};
  for (size_t words = 0; words < wanted.size(); ++words) {
    Called s;
    s.sampled(label("in_leaf"), {whole.begin(), whole.begin() + static_cast<ptrdiff_t>(words)}, {},
              kFramesStack + 8);
    EXPECT_EQ(s.chains(), wanted[words].empty() ? Chains() : Chains{wanted[words]}) << words;
  }
}

TEST(Callers, ARegisterThatAnEpilogueHasPoppedIsInItsRegisterAgain) {
  Called s;
  // The rules say that it is in memory, below the stack pointer by now.
  s.sampled(label("popped"), {label("after_middle"), 11, 22, 33, label("after_outer")}, {},
            kFramesStack + 24);
  EXPECT_EQ(s.chains(), Chains{"2 outer _start"});
}

TEST(Callers, AStackOfGarbageEndsTheChain) {
  for (const uint64_t garbage :
       {uint64_t{0}, uint64_t{1}, kCounted, kFramesStack, ~uint64_t{0}, label("in_leaf")}) {
    Called s;
    s.sampled(label("in_leaf"), std::vector<uint64_t>(512, garbage), {}, garbage);
    for (const std::string& chain : s.chains())
      EXPECT_LE(std::count(chain.begin(), chain.end(), ' '), 16) << chain;
  }
}

TEST(Callers, EndWhereNoCodeIs) {
  for (const uint64_t garbage : {uint64_t{0x16}, kCounted + 0x100, ~uint64_t{0}}) {
    Called s;
    std::vector<uint64_t> stack = stackInLeaf();
    stack[2] = garbage;
    s.sampled(label("in_leaf"), stack, {}, kFramesStack + 8);
    EXPECT_EQ(s.chains(), Chains{"2 middle"}) << garbage;
  }
}

TEST(Callers, OfFramePointersAreThoseOfCodeThatKeepsOne) {
  Called s;
  s.sampled(label("in_middle"), {},
            {PERF_CONTEXT_USER, label("in_middle"), label("after_middle"), label("after_outer")});
  EXPECT_EQ(s.chains(), Chains{"2 outer _start"});
}

TEST(Callers, OfFramePointersLackTheOneOfCodeWithoutAny) {
  Called s;
  s.sampled(label("in_leaf"), {},
            {PERF_CONTEXT_USER, label("in_leaf"), label("after_middle"), label("after_outer")});
  EXPECT_EQ(s.chains(), Chains{"2 0 outer _start"});
}

/// The register is the caller's again, whose frame the kernel took for the code's own.
TEST(Callers, OfFramePointersLackTheOneOfCodeThatHasPoppedIts) {
  Called s;
  s.sampled(label("popped"), {}, {PERF_CONTEXT_USER, label("popped"), label("after_outer")});
  EXPECT_EQ(s.chains(), Chains{"2 0 _start"});
}

TEST(Callers, OfFramePointersAreUnknownWhereTheRegisterHoldsSomethingElse) {
  Called s;
  s.sampled(label("in_thief"), {}, {PERF_CONTEXT_USER, label("in_thief"), 0x1234, label("after_outer")});
  EXPECT_EQ(s.chains(), Chains{"2 0"});
}

TEST(Callers, AreThoseOfTheRow) {
  Called s;
  for (int i = 0; i < 3; ++i) s.sampled(label("in_leaf"), stackInLeaf(), {}, kFramesStack + 8, kCounted);
  s.sampled(label("in_leaf"), {label("after_outer")}, {}, kFramesStack + 8, kCounted);
  s.sampled(label("in_leaf"), {label("after_middle"), 1, 2, 3, label("after_outer")}, {}, kFramesStack + 24,
            kCounted + 256);
  EXPECT_EQ(s.chains(0), (Chains{"6 middle outer _start", "2 _start"})) << "most samples first";
  EXPECT_EQ(s.chains(256), Chains{"2 outer _start"}) << "the same code at another line";
}

TEST(CallerTable, ListsTheCommonestAndOfEqualsThoseWithTheLowestAddresses) {
  constexpr uint32_t kChains = 200, kRow = 7, kOtherRow = 8;
  CallerTable table;
  const auto add = [&](uint32_t row, uint32_t frame) { table.add(row, std::vector{frame}, false); };
  const auto listed = [&] {
    std::vector<uint32_t> frames;
    const auto addressOf = [](uint32_t frame) { return uint64_t{0x1000} - frame; };
    table.of(kRow, addressOf, [&](uint32_t frame) {
      frames.push_back(frame);
      return CallerFrame();
    });
    return frames;
  };
  for (uint32_t frame = kChains; frame > 0; frame--) add(kRow, frame);
  for (uint32_t i = 0; i < 5; i++) add(kOtherRow, 150);
  for (const uint32_t twice : {120, 150}) add(kRow, twice);
  EXPECT_EQ(listed(), (std::vector<uint32_t>{150, 120, 200, 199, 198, 197, 196, 195, 194, 193}));
  CallerTable more;
  for (uint32_t i = 0; i < 3; i++) more.add(kRow, std::vector{uint32_t{7}}, true);
  table.add(more);
  EXPECT_EQ(listed(), (std::vector<uint32_t>{7, 150, 120, 200, 199, 198, 197, 196, 195, 194}));
}

}  // namespace
}  // namespace cacheline::analysis
