// Names, places and inlined calls of Rust and Go programs.
#include <gtest/gtest.h>

#include "fixture.h"
#include "symbols/module.h"

namespace cacheline::symbols {
namespace {

using namespace test;

TEST(Languages, Rust) {
  NEED_TOOL("rustc", "rustc");
  TempDir dir;
  const std::string source = R"rust(
use std::sync::atomic::{AtomicU64, Ordering};
pub struct Counter { pub value: AtomicU64 }
static COUNTERS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4]; // @counters
impl Counter {
    #[inline(never)]
    pub fn bump(&self, by: u64) -> u64 {
        COUNTERS[(by & 3) as usize].fetch_add(by, Ordering::SeqCst) + // @global
        self.value.fetch_add(by, Ordering::SeqCst) // @member
    }
}
fn main() {
    let counter = Counter { value: AtomicU64::new(1) };
    println!("{}", counter.bump(std::env::args().count() as u64));
}
)rust";
  writeFile(dir.file("prog.rs"), source);
  for (const char* flags : {"-C symbol-mangling-version=v0", "-C symbol-mangling-version=legacy"}) {
    CommandResult built = run("cd " + dir.path() + " && rustc -g -O " + flags + " -o prog prog.rs 2>&1");
    if (built.status != 0) built = run("cd " + dir.path() + " && rustc -g -O -o prog prog.rs 2>&1");
    ASSERT_EQ(built.status, 0) << built.output;
    auto module = Module::open(dir.file("prog"), "");
    ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
    bool global = false, member = false, variable = false;
    for (const Segment& segment : module->image()->segments()) {
      for (uint64_t a = segment.address; a < segment.address + segment.memorySize; a++) {
        if (!segment.executable) {
          if (auto v = module->variableAt(a); v && v->name == "prog::COUNTERS") {
            EXPECT_EQ(v->size, 32u);
            EXPECT_EQ(v->line, lineOf(source, "counters"));
            EXPECT_EQ(v->file, dir.file("prog.rs"));
            variable = true;
          }
          continue;
        }
        const auto frames = module->framesAt(a);
        if (frames.size() < 2 || frames.back().function.find("Counter") == std::string::npos ||
            !frames.back().function.ends_with("bump"))
          continue;
        EXPECT_EQ(frames.back().file, dir.file("prog.rs"));
        EXPECT_EQ(frames.back().function.find("_R"), std::string::npos) << frames.back().function;
        if (frames[frames.size() - 2].function.find("fetch_add") == std::string::npos) continue;
        global |= frames.back().line == lineOf(source, "global");
        member |= frames.back().line == lineOf(source, "member");
      }
    }
    EXPECT_TRUE(global) << flags;
    EXPECT_TRUE(member) << flags;
    EXPECT_TRUE(variable) << flags;
  }
}

TEST(Languages, Go) {
  NEED_TOOL("go", "golang-go");
  TempDir dir;
  const std::string source = R"go(package main

import (
	"fmt"
	"os"
	"sync/atomic"
)

var counters [4]int64 // @counters

func add(i int) int64 {
	return atomic.AddInt64(&counters[i&3], 1) // @add
}

//go:noinline
func work(n int) int64 {
	return add(n) + // @call
		int64(n)
}

func main() {
	fmt.Println(work(len(os.Args)))
}
)go";
  writeFile(dir.file("main.go"), source);
  const CommandResult built =
      run("cd " + dir.path() + " && HOME=" + dir.path() + " GOFLAGS=-mod=mod GOCACHE=" + dir.file("cache") +
          " GO111MODULE=off go build -o prog main.go 2>&1");
  ASSERT_EQ(built.status, 0) << built.output;
  auto module = Module::open(dir.file("prog"), "");
  ASSERT_EQ(module->status(), ModuleStatus::ok) << module->detail();
  const auto work = addressOf(*module->image(), "main.work");
  ASSERT_TRUE(work);
  bool inlined = false;
  for (uint64_t a = *work; a < *work + module->image()->functionAt(*work)->size; a++) {
    const auto frames = module->framesAt(a);
    ASSERT_FALSE(frames.empty());
    EXPECT_EQ(frames.back().function, "main.work");
    EXPECT_EQ(frames.back().file, dir.file("main.go"));
    for (size_t i = 0; i + 1 < frames.size(); i++)
      if (frames[i].function == "main.add" && frames[i + 1].line == lineOf(source, "call")) inlined = true;
  }
  EXPECT_TRUE(inlined);
  const auto counters = addressOf(*module->image(), "main.counters");
  ASSERT_TRUE(counters);
  const auto variable = module->variableAt(*counters + 31);
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable->name, "main.counters");
  EXPECT_EQ(variable->size, 32u);
}

}  // namespace
}  // namespace cacheline::symbols
