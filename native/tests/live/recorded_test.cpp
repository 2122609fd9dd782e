// Real samples of threads that fight over heap objects: how many get a type, and how many the right one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "decode/access.h"
#include "fixture.h"
#include "inference/live_variables.h"
#include "perfdata/reader.h"
#include "record/recorder.h"
#include "tests/inference/live_process.h"

namespace cacheline::inference::test {
namespace {

using namespace layouts;
using namespace types;
using symbols::test::compile;
using symbols::test::TempDir;

/// What all programs begin with: noted objects go to the file named by their argument.
const char* const kHead = R"code(
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define NOINLINE __attribute__((noinline))
static FILE* notes;
static void note(const char* type, const void* object, unsigned long size, unsigned long count) {
  fprintf(notes, "%s %lu %lu %lu\n", type, (unsigned long)object, size, count);
}
static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static void threads(void* (*body)(void*), void* first, void* second) {
  pthread_t ids[2];
  fclose(notes);
  pthread_create(&ids[0], 0, body, first);
  pthread_create(&ids[1], 0, body, second);
  pthread_join(ids[0], 0);
  pthread_join(ids[1], 0);
}
#define WHILE_TIME while (used() < 0.4)
)code";

struct Program {
  const char* name;
  const char* extension;
  const char* source;
};

const Program kPrograms[] = {
    {"per-thread counters in one array", "c", R"code(
struct worker { long id; long count; double sum; };
static void* body(void* argument) {
  struct worker* worker = argument;
  WHILE_TIME for (int i = 0; i < 20000; i++) { worker->count++; worker->sum += i; __asm__ volatile("" : : : "memory"); }
  return 0;
}
int main(int n, char** v) {
  notes = fopen(v[1], "w");
  struct worker* workers = calloc(2, sizeof *workers); note("worker", workers, sizeof *workers, 2);
  threads(body, workers, workers + 1); return n == 9;
}
)code"},
    {"hash table with locks", "c", R"code(
struct entry { struct entry* next; unsigned long key; long hits; };
struct bucket { unsigned long lock; struct entry* first; long lookups; };
struct table { unsigned long size; struct bucket* buckets; long total; };
static struct table* shared;
NOINLINE static struct entry* find(struct table* table, unsigned long key) {
  struct bucket* bucket = &table->buckets[key % table->size];
  while (__atomic_exchange_n(&bucket->lock, 1, __ATOMIC_ACQUIRE)) {}
  bucket->lookups++;
  struct entry* entry = bucket->first;
  while (entry && entry->key != key) entry = entry->next;
  if (entry) entry->hits++;
  __atomic_store_n(&bucket->lock, 0, __ATOMIC_RELEASE);
  return entry;
}
static void* body(void* argument) {
  unsigned long seed = (unsigned long)argument;
  WHILE_TIME for (int i = 0; i < 20000; i++) { seed = seed * 6364136223846793005ul + 1; if (find(shared, (seed >> 33) % 32)) __atomic_fetch_add(&shared->total, 1, __ATOMIC_RELAXED); }
  return 0;
}
int main(int n, char** v) {
  notes = fopen(v[1], "w");
  shared = calloc(1, sizeof *shared); note("table", shared, sizeof *shared, 1);
  shared->size = 8; shared->buckets = calloc(8, sizeof *shared->buckets); note("bucket", shared->buckets, sizeof *shared->buckets, 8);
  for (unsigned long key = 0; key < 32; key++) {
    struct entry* entry = calloc(1, sizeof *entry); note("entry", entry, sizeof *entry, 1);
    struct bucket* bucket = &shared->buckets[key % 8]; entry->key = key; entry->next = bucket->first; bucket->first = entry;
  }
  threads(body, (void*)1, (void*)2); return n == 9;
}
)code"},
    {"atomics of a shared object", "cpp", R"code(
#include <atomic>
#include <memory>
struct Clock { long padding[3]; std::atomic<long> now{0}; std::atomic<long> readers{0}; long tick() { return now.fetch_add(1, std::memory_order_relaxed); } };
struct Service { long id = 1; std::unique_ptr<Clock> clock = std::make_unique<Clock>(); std::atomic<int> state{0}; };
static void* body(void* argument) {
  auto* service = static_cast<Service*>(argument);
  long sum = 0;
  WHILE_TIME for (int i = 0; i < 20000; i++) { sum += service->clock->tick(); if ((i & 3) == 0) service->clock->readers++; service->state.store(i & 7); }
  service->id += sum; return nullptr;
}
int main(int n, char** v) {
  notes = fopen(v[1], "w");
  auto* service = new Service; note("Service", service, sizeof *service, 1); note("Clock", service->clock.get(), sizeof(Clock), 1);
  threads(body, service, service); return n == 9;
}
)code"},
    {"statistics in a vector, by reference", "cpp", R"code(
#include <atomic>
#include <vector>
struct Statistics { std::atomic<long> requests{0}; long bytes = 0; long histogram[8] = {}; };
struct Server { std::vector<Statistics>& all; long index; };
inline void account(Statistics& statistics, long bytes) { statistics.requests.fetch_add(1); statistics.bytes += bytes; statistics.histogram[bytes & 7]++; }
static void* body(void* argument) {
  auto& server = *static_cast<Server*>(argument);
  WHILE_TIME for (long i = 0; i < 20000; i++) account(server.all[static_cast<unsigned long>(server.index)], i);
  return nullptr;
}
int main(int n, char** v) {
  notes = fopen(v[1], "w");
  std::vector<Statistics> all(2); note("Statistics", all.data(), sizeof(Statistics), 2);
  Server first{all, 0}, second{all, 1}; note("Server", &first, sizeof first, 1); note("Server", &second, sizeof second, 1);
  threads(body, &first, &second); return n == 9;
}
)code"},
    {"list of jobs by virtual calls", "cpp", R"code(
struct Job { Job* next = nullptr; long runs = 0; virtual ~Job() = default; virtual void run(long by) = 0; };
struct Adder : Job { long sum = 0; void run(long by) override { runs++; sum += by; } };
struct Queue { Job* first = nullptr; volatile long rounds = 0; };
static void* body(void* argument) {
  auto* queue = static_cast<Queue*>(argument);
  WHILE_TIME for (int i = 0; i < 5000; i++) { queue->rounds = queue->rounds + 1; for (Job* job = queue->first; job; job = job->next) job->run(i); }
  return nullptr;
}
int main(int n, char** v) {
  notes = fopen(v[1], "w");
  auto* queue = new Queue; note("Queue", queue, sizeof *queue, 1);
  for (int i = 0; i < 4; i++) { auto* job = new Adder; note("Adder|Job", job, sizeof *job, 1); job->next = queue->first; queue->first = job; }
  threads(body, queue, queue); return n == 9;
}
)code"},
};

struct RecordedScore : perfdata::RecordVisitor {
  explicit RecordedScore(const std::string& program, const std::string& notes)
      : binary(program), module(symbols::Module::open(program, "")), types(*module), live(*module, types) {
    std::ifstream lines(notes);
    for (NotedObject object; lines >> object.type >> object.base >> object.size >> object.count;)
      objects.push_back(object);
  }

  void onMmap(const perfdata::Mmap& mmap) override {
    if (mmap.data || mmap.file != binary) return;  // its code tells the load bias
    if (const auto address = module->image()->addressOfFileOffset(mmap.pageOffset))
      loadBias = mmap.address - *address;
  }

  void onSample(const perfdata::Sample& sample) override {
    const uint64_t ip = sample.ip - loadBias;
    const symbols::Symbol* function = module->image()->functionAt(ip);
    if (function == nullptr) return;
    const decode::AccessPlan plan = decode::planAccess(
        module->image()->bytesAt(function->address, function->size), function->address, ip);
    uint64_t address = 0;
    if (plan.failure != decode::Failure::none ||
        !decode::effectiveAddress(plan.operand, sample.registers, address))
      return;
    for (const NotedObject& object : objects)
      if (object.contains(address)) return judge(object, plan, ip, sample.registers, address);
  }

  void judge(const NotedObject& truth, const decode::AccessPlan& plan, uint64_t ip,
             const Registers& registers, uint64_t address) {
    samples++;
    const auto found = live.objectsAt(plan.codeAddress, ip, loadBias, registers, address, plan.operand.width);
    if (const auto operand = live.operandType(plan.codeAddress)) {
      followed++;
      followedRight += truth.is(nameOf(operand->type));
    }
    if (found.empty()) return;
    typed++;
    const uint64_t size = types.table().sizeOf(found.front().type).value_or(1);
    const uint64_t ahead = address - found.front().base;
    right += truth.is(nameOf(found.front().type)) &&
             (found.front().array ? ahead % size : ahead) == (address - truth.base) % truth.size;
  }

  std::string nameOf(TypeId type) { return types.table().nameOf(types.table().strip(type)); }

  std::string binary;
  std::shared_ptr<symbols::Module> module;
  BinaryTypes types;
  LiveVariables live;
  std::vector<NotedObject> objects;
  uint64_t loadBias = 0;
  size_t samples = 0, typed = 0, right = 0, followed = 0, followedRight = 0;
};

void recordAll(const std::string& c, const std::string& cpp) {
  size_t samples = 0, typed = 0, right = 0;
  for (const Program& program : kPrograms) {
    SCOPED_TRACE(program.name);
    const TempDir dir;
    const bool isC = std::string(program.extension) == "c";
    const std::string binary = compile(dir, "program", program.extension, std::string(kHead) + program.source,
                                       "-g -O2 -pthread", isC ? c : cpp);
    record::RecordOptions options;
    options.command = {binary, dir.file("notes")};
    options.outputDirectory = dir.file("out");
    std::filesystem::create_directories(options.outputDirectory);
    try {
      record::record(options, std::atomic<bool>{false});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::impossible) throw;
      GTEST_SKIP() << error.what() << " " << error.nextStep();
    }
    RecordedScore score(binary, dir.file("notes"));
    perfdata::Reader::open(options.outputDirectory + "/perf.data")->readAll(score);
    std::cout << (isC ? c : cpp) << " -O2, " << program.name << ": " << score.samples << " samples, "
              << score.typed << " typed, " << score.right << " right; without registers " << score.followed
              << ", " << score.followedRight << " right\n";
    ASSERT_GT(score.samples, 50u);
    EXPECT_GE(score.typed * 100, score.samples * 80);
    EXPECT_GE(score.right * 100, score.typed * 90);
    samples += score.samples;
    typed += score.typed;
    right += score.right;
  }
  EXPECT_GE(right * 100, typed * 95);
  std::cout << "all: " << samples << " samples, " << typed << " typed, " << right << " right\n";
}

TEST(LiveRecorded, HeapObjectsByGcc) {
  NEED_TOOL("g++", "g++");
  recordAll("gcc", "g++");
}
TEST(LiveRecorded, HeapObjectsByClang) {
  NEED_TOOL("clang++", "clang");
  recordAll("clang", "clang++");
}

}  // namespace
}  // namespace cacheline::inference::test
