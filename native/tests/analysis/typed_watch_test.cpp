// Types of rows that only a watchpoint saw.
#include <gtest/gtest.h>

#include "typed_program.h"
#include "watch_files.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr const char* kWatchedProgram = R"(
struct item { long id, count, rest[6]; };
struct item pool[8];
struct count { long number; };
struct request { long id; struct count state; } request;
struct response { struct count references, sent; long body[2]; } response;
#define NOINLINE __attribute__((noinline))
NOINLINE void bump(struct item *item) { __asm__ volatile(".globl bump_count\nbump_count: incq %0\n nop" : "+m"(item->count)); }
NOINLINE void peek(struct item *item) { __asm__ volatile(".globl peek_count\npeek_count: incq %0\n nop" : "+m"(item->count)); }
NOINLINE void set_state(struct request *request) { __asm__ volatile(".globl request_state\nrequest_state: incq %0\n nop" : "+m"(request->state.number)); }
NOINLINE void set_sent(struct response *response) { __asm__ volatile(".globl response_sent\nresponse_sent: incq %0\n nop" : "+m"(response->sent.number)); }
NOINLINE void add(struct count *count) { __asm__ volatile(".globl add_number\nadd_number: incq %0\n nop" : "+m"(count->number)); }
NOINLINE void raw(void) { __asm__ volatile(".globl raw_count\nraw_count: incq (%rdi)\n nop"); }
NOINLINE void wide(void) { __asm__ volatile(".globl load_wide\nload_wide: movq (%rdi), %rdi\n nop"); }
NOINLINE void narrow(void) { __asm__ volatile(".globl load_narrow\nload_narrow: movl (%rdi), %edi\n nop"); }
NOINLINE void joined(void) { __asm__ volatile("jz 1f\n.globl load_joined\nload_joined: movq (%rdi), %rdi\n1: nop"); }
void _start(void) { set_state(&request); set_sent(&response); add(&request.state); bump(pool); peek(pool); raw(); wide(); narrow(); joined(); }
)";
constexpr uint64_t kItem = kHeap + 2 * 64, kCount = kItem + 8, kFree = kHeap + 0x1000;

class TypedWatch : public Recorded {
 protected:
  TypedWatch() {
    static const Program program("-g", kWatchedProgram);
    begin(program);
  }
  void bumpBoth() {
    for (int i = 0; i < 20; ++i) {
      touch(kMain, "bump_count", kItem);
      touch(kThread, "bump_count", kItem);
    }
  }
  /// `access` with its argument hits the watched word.
  void watch(const std::string& access, uint64_t argument, uint64_t word) {
    files_.window(kMain, scenario_.time() + kMs, 5, {{word, "word"}});
    files_.hit(kMain, kThread, program_->after(access), word, {{kRegDi, argument}});
  }
  void analyzeWatched() {
    touch(kMain, "bump_count", kHeap + 0x2000);  // behind the window
    const std::string folder = scenario_.write();
    files_.write(folder);
    report_ = analyzeAt(folder, true);
  }
  WatchFiles files_;
};

TEST_F(TypedWatch, TheCodeOfARowThatOnlyAWatchpointSawIsFollowed) {
  watch("peek_count", kFree, kFree + 8);
  bumpBoth();
  watch("peek_count", kItem, kCount);
  analyzeWatched();
  for (const uint64_t place : {kCount, kFree + 8}) {
    const DataName& data = dataAt(place, "peek_count");
    EXPECT_EQ(data.type, "item");
    EXPECT_EQ(data.field, "count");
    EXPECT_EQ(data.base, place - 8);
    EXPECT_EQ(data.because, "type of the address followed through the code");
  }
}

TEST_F(TypedWatch, SuchARowIsOfTheObjectThatOthersAgreedOn) {
  bumpBoth();
  watch("raw_count", kCount, kCount);
  watch("raw_count", kFree, kFree);  // nobody else was there
  analyzeWatched();
  const DataName& data = dataAt(kCount, "raw_count");
  EXPECT_EQ(data.type, "item");
  EXPECT_EQ(data.field, "count");
  EXPECT_EQ(data.because, "pointer `item` in bump, from other accesses to the object");
  EXPECT_EQ(dataAt(kFree, "raw_count").because, "no variable that is live at the access leads to it");
}

/// Rows say nothing of time.
TEST_F(TypedWatch, WhatMayBeEitherOfTwoObjectsIsSaidToBe) {
  bumpBoth();
  watch("request_state", kFree, kFree + 8);
  watch("response_sent", kFree, kFree + 8);
  watch("add_number", kFree + 8, kFree + 8);
  analyzeWatched();
  const DataName& data = dataAt(kFree + 8, "add_number");
  EXPECT_EQ(data.type, "response");
  EXPECT_EQ(data.field, "sent.number | request.state.number");
  EXPECT_NE(data.because.find("other code takes it for request.state.number"), std::string::npos)
      << data.because;
  EXPECT_EQ(dataAt(kFree + 8, "request_state").field, "state.number");
}

/// It overwrote what it was reached by: of a word as wide as the access, that does not matter.
TEST_F(TypedWatch, ARowWhoseAccessIsNotKnownSaysSo) {
  bumpBoth();
  watch("load_wide", 0, kCount);
  watch("load_narrow", 0, kCount);
  watch("load_joined", 0, kCount);
  analyzeWatched();
  EXPECT_EQ(dataAt(kCount, "load_wide").field, "count");
  const DataName& narrow = dataAt(kCount, "load_narrow");
  EXPECT_EQ(narrow.type, "");
  EXPECT_EQ(narrow.because, "it is not known which bytes of the watched word the access touched");
  EXPECT_EQ(dataAt(kCount, "load_joined").because, "it is not known which instruction made the access");
}

}  // namespace
}  // namespace cacheline::analysis
