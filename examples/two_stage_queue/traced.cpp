// A packet goes through two queues: one thread allocates and fills it, a second one on another processor changes
// it, a third one reads and frees it. `cacheline trace packet` shows that way.
//
// The three threads are bound to processors, so that the way is known: the second thread runs on another
// processor than the first and the third, which share one.
#include <atomic>
#include <cstdint>

#include "../common.h"

// More words than a processor has debug registers.
struct packet {
  uint64_t number;
  uint32_t length;
  uint32_t route;
  uint64_t checksum;
  uint64_t data[5];
};

// One producer, one consumer.
class stage {
 public:
  void put(packet* item) {
    long tries = 0;
    while (head_.load(std::memory_order_relaxed) - tail_.load(std::memory_order_acquire) == kSlots) back_off(&tries);
    slots_[head_.load(std::memory_order_relaxed) % kSlots] = item;
    head_.fetch_add(1, std::memory_order_release);
  }
  packet* take() {
    long tries = 0;
    while (tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_acquire)) back_off(&tries);
    packet* item = slots_[tail_.load(std::memory_order_relaxed) % kSlots];
    tail_.fetch_add(1, std::memory_order_release);
    return item;
  }

 private:
  static constexpr uint64_t kSlots = 64;
  alignas(64) std::atomic<uint64_t> head_ = 0;
  alignas(64) std::atomic<uint64_t> tail_ = 0;
  packet* slots_[kSlots] = {};
};

static stage first, second;
static long rounds;
static uint64_t sum;

static __attribute__((noinline)) packet* make_packet(uint64_t number) {
  packet* item = new packet;
  item->number = number;
  item->length = 64 + number % 1000;
  for (uint64_t i = 0; i < 5; i++) item->data[i] = number + i;
  return item;
}

static __attribute__((noinline)) void route_packet(packet* item) {
  item->route = item->length % 7;
  uint64_t checksum = item->number;
  for (const uint64_t word : item->data) checksum ^= word;
  item->checksum = checksum;
}

static __attribute__((noinline)) uint64_t send_packet(packet* item) {
  const uint64_t sent = item->checksum + item->route;
  delete item;
  return sent;
}

static void run_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    perror("sched_setaffinity");
    exit(1);
  }
}

static void* produce(void*) {
  run_on(0);
  for (long i = 0; i < rounds; i++) first.put(make_packet(static_cast<uint64_t>(i)));
  return nullptr;
}

static void* route(void*) {
  run_on(1);
  for (long i = 0; i < rounds; i++) {
    packet* item = first.take();
    route_packet(item);
    second.put(item);
  }
  return nullptr;
}

static void* consume(void*) {
  run_on(0);
  for (long i = 0; i < rounds; i++) sum += send_packet(second.take());
  return nullptr;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 2'000'000);
  const double start = seconds_now();
  const pthread_t threads[] = {start_thread(produce, nullptr), start_thread(route, nullptr),
                               start_thread(consume, nullptr)};
  for (const pthread_t thread : threads) join_thread(thread);
  printf("%ld packets, checksum %llu\n", rounds, static_cast<unsigned long long>(sum));
  print_elapsed(start);
  return 0;
}
