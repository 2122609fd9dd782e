// The report names the program's own function that a heap block is for, whatever of a standard library is
// between it and the allocator.
#include <gtest/gtest.h>

#include <set>

#include "fixture.h"
#include "record/recorder.h"
#include "sharing/analyze.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

using symbols::test::haveTool;
using symbols::test::mustRun;

/// Every function in_… makes one block and works on it long enough to be sampled. Nothing is freed: a block
/// at the address of another would take its place.
const char* const kContainers = R"(
#include <algorithm>
#include <any>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <string>
#include <thread>
#include <time.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#define NOINLINE __attribute__((noinline))
// Atomic additions take nearly all of the time, unoptimised too.
#define ADD __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
NOINLINE void work(long* word) {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  const long end = t.tv_sec * 1000000000 + t.tv_nsec + 40000000;
  do {
    for (int i = 0; i < 1000; i++) { ADD ADD ADD ADD }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while (t.tv_sec * 1000000000 + t.tv_nsec < end);
}
struct Obj { mutable long n[16] = {}; bool operator<(const Obj& o) const { return n[0] < o.n[0]; }
             bool operator==(const Obj& o) const { return n[0] == o.n[0]; }
             void operator()(int) const { work(n); } };
struct Key { long k; bool operator==(const Key& o) const { return k == o.k; } };
namespace std {
template <> struct hash<Obj> { size_t operator()(const Obj&) const { return 0; } };
template <> struct hash<Key> { NOINLINE size_t operator()(const Key& key) const {
  static Obj* table = new Obj; if (key.k == 1) work(table->n); return 1; } };
}
NOINLINE void in_map() { static std::map<int, Obj> c; work(c[1].n); }
NOINLINE void in_multimap() { static std::multimap<int, Obj> c; work(c.emplace(1, Obj())->second.n); }
NOINLINE void in_set() { static std::set<Obj> c; work(c.insert(Obj()).first->n); }
NOINLINE void in_multiset() { static std::multiset<Obj> c; work(c.insert(Obj())->n); }
NOINLINE void in_list() { static std::list<Obj> c; work(c.emplace_back().n); }
NOINLINE void in_forward_list() { static std::forward_list<Obj> c; work(c.emplace_front().n); }
NOINLINE void in_unordered_map() { static std::unordered_map<int, Obj> c; work(c[1].n); }
NOINLINE void in_unordered_set() { static std::unordered_set<Obj> c; work(c.insert(Obj()).first->n); }
NOINLINE void in_deque() { static std::deque<Obj> c; work(c.emplace_back().n); }
NOINLINE void in_vector() { static std::vector<Obj> c; c.push_back(Obj()); work(c[0].n); }
NOINLINE void in_string() { static std::string c(500, 'x'); work(reinterpret_cast<long*>(&c[64])); }
NOINLINE void in_function() { static std::function<void(int)> f = Obj(); f(1); }
NOINLINE void in_any() { static std::any a = Obj(); work(std::any_cast<Obj&>(a).n); }
NOINLINE void in_make_shared() { static auto p = std::make_shared<Obj>(); work(p->n); }
NOINLINE void in_make_unique() { static auto p = std::make_unique<Obj>(); work(p->n); }
#ifdef __GLIBCXX__
NOINLINE void in_pmr() { static std::pmr::list<Obj> c; c.emplace_back(); work(c.back().n); }
#else
NOINLINE void in_pmr() { static auto p = new Obj; work(p->n); }
#endif
// Functions of the program that a library calls.
struct InThread { void operator()() const { static auto p = std::make_shared<Obj>(); work(p->n); } };
struct InForEach { void operator()(int) const { static std::list<Obj> c; work(c.emplace_back().n); } };
struct InStdFunction { void operator()() const { static std::map<int, Obj> c; work(c[1].n); } };
int main() {
  for (auto f : {in_map, in_multimap, in_set, in_multiset, in_list, in_forward_list, in_unordered_map,
                 in_unordered_set, in_deque, in_vector, in_string, in_function, in_any, in_make_shared,
                 in_make_unique, in_pmr}) f();
  std::thread(InThread()).join();
  int numbers[1] = {1};
  std::for_each(numbers, numbers + 1, InForEach());
  std::function<void()> f{InStdFunction{}};
  f();
  std::unordered_map<Key, int> keys;
  return keys[Key{1}];
}
)";
const std::set<std::string> kContainerSites{"in_map()",
                                            "in_multimap()",
                                            "in_set()",
                                            "in_multiset()",
                                            "in_list()",
                                            "in_forward_list()",
                                            "in_unordered_map()",
                                            "in_unordered_set()",
                                            "in_deque()",
                                            "in_vector()",
                                            "in_string()",
                                            "in_function()",
                                            "in_any()",
                                            "in_make_shared()",
                                            "in_make_unique()",
                                            "in_pmr()",
                                            "InThread::operator()() const",
                                            "InForEach::operator()(int) const",
                                            "InStdFunction::operator()() const",
                                            "std::hash<Key>::operator()(Key const&) const"};

const char* const kRust = R"(
use std::collections::*; use std::mem::forget; use std::rc::Rc; use std::sync::Arc; use std::time::*;
#[inline(never)] fn work(word: *const u64) {
  let word = word as *mut u64;
  let start = Instant::now();
  while start.elapsed() < Duration::from_millis(80) {
    for _ in 0..10000 { unsafe { word.write_volatile(word.read_volatile() + 1); } }
  }
}
type Obj = [u64; 16];
#[derive(Clone)] struct Named { values: Vec<u64> }
#[inline(never)] fn in_vec() { let v = vec![1u64; 100]; work(&v[9]); forget(v); }
#[inline(never)] fn in_push() { let mut v: Vec<Obj> = Vec::new(); v.push([1; 16]); work(&v[0][9]); forget(v); }
#[inline(never)] fn in_collect() { let v: Vec<Obj> = (0..9).map(|n| [n; 16]).collect(); work(&v[0][9]); forget(v); }
#[inline(never)] fn in_box() { let b = Box::new([1u64; 16]); work(&b[9]); forget(b); }
#[inline(never)] fn in_arc() { let b = Arc::new([1u64; 16]); work(&b[9]); forget(b); }
#[inline(never)] fn in_rc() { let b = Rc::new([1u64; 16]); work(&b[9]); forget(b); }
#[inline(never)] fn in_hash_map() { let mut m = HashMap::new(); m.insert(1, [1u64; 16]); work(&m[&1][9]); forget(m); }
#[inline(never)] fn in_tree_map() { let mut m = BTreeMap::new(); m.insert(1, [1u64; 16]); work(&m[&1][9]); forget(m); }
#[inline(never)] fn in_string() { let s = "x".repeat(500); work(unsafe { s.as_ptr().add(64 - s.as_ptr() as usize % 8) } as *const u64); forget(s); }
fn main() {
  for f in [in_vec, in_push, in_collect, in_box, in_arc, in_rc, in_hash_map, in_tree_map, in_string] { f(); }
  let named = Named { values: vec![1; 100] }.clone(); work(&named.values[9]); forget(named);
  std::thread::spawn(|| { let b = Box::new([1u64; 16]); work(&b[9]); forget(b); }).join().unwrap();
}
)";

/// Which functions allocated what the program accesses, as a report says.
std::set<std::string> sitesOf(const TemporaryFolder& folder, const std::string& program) {
  RecordOptions options = optionsFor(folder, {program});
  options.heap = HeapOptions{CACHELINE_HEAP_AGENT, 1};
  EXPECT_EQ(recordNow(options).exitStatus, 0);
  const analysis::Recording recording = analysis::openRecording(options.outputDirectory);
  const auto reader = perfdata::Reader::open(recording.perfData);
  sharing::Options all;
  all.showAll = true;
  std::set<std::string> sites;
  const analysis::Report report = sharing::analyze(*reader, recording, all);
  for (const auto& line : report.lines)
    for (const auto& access : line.accesses)
      if (access.data.allocation) sites.insert(access.data.allocation->function);
  return sites;
}

void expectSites(const std::string& compileCommand, const std::string& extension, const std::string& source,
                 const std::set<std::string>& expected) {
  SCOPED_TRACE(compileCommand);
  const TemporaryFolder folder;
  const std::string file = folder.file("sites." + extension);
  writeFile(file, source);
  mustRun(compileCommand + " -o " + folder.file("sites") + ' ' + file);
  const std::set<std::string> sites = sitesOf(folder, folder.file("sites"));
  for (const std::string& site : expected) EXPECT_TRUE(sites.contains(site)) << site;
  for (const std::string& site : sites) EXPECT_TRUE(expected.contains(site)) << site;
}

TEST(AllocationSites, OfContainersByGcc) {
  if (!haveTool("g++")) GTEST_SKIP() << "needs g++";
  for (const char* flags : {"-O0", "-O2"})
    expectSites(std::string("g++ -std=c++17 -g -pthread ") + flags, "cpp", kContainers, kContainerSites);
}
TEST(AllocationSites, OfContainersByClang) {
  if (!haveTool("clang++")) GTEST_SKIP() << "needs clang++";
  expectSites("clang++ -std=c++17 -g -pthread -O2", "cpp", kContainers, kContainerSites);
}
TEST(AllocationSites, OfRust) {
  if (!haveTool("rustc")) GTEST_SKIP() << "needs rustc";
  std::set<std::string> expected{"sites::in_vec",      "sites::in_push",     "sites::in_collect",
                                 "sites::in_box",      "sites::in_arc",      "sites::in_rc",
                                 "sites::in_hash_map", "sites::in_tree_map", "sites::in_string"};
  expected.insert("<sites::Named as core::clone::Clone>::clone");
  expected.insert("sites::main::{{closure}}");
  expectSites("rustc --edition 2021 -g -C opt-level=2", "rs", kRust, expected);
  expected.erase("sites::main::{{closure}}");
  expected.insert("sites::main::{closure#0}");
  expectSites("rustc --edition 2021 -g -C opt-level=2 -C symbol-mangling-version=v0", "rs", kRust, expected);
}

}  // namespace
}  // namespace cacheline::record::test
