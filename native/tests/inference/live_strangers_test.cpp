// What live pointers only happen to reach into is no outer object of the accessed one.
#include <gtest/gtest.h>

#include "fixture.h"
#include "inference/live_variables.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using symbols::test::compile;
using symbols::test::TempDir;

/// The end of an array; a variable in a register that another branch uses for something larger; the members
/// of a container's element by the element's own methods.
const char* const kStrangers = R"code(
#include <atomic>
#include <list>
#include <map>
#include <unordered_map>
#define NOINLINE __attribute__((noinline))
struct Item { long key; std::atomic<long> count; long pad[5]; };
struct Control { std::atomic<long> epoch, done; };
struct Queue { Item items[3]; Control control; };
NOINLINE void sweep(Item* first, Item* end, Control* control, int n) {
  for (int i = 0; i < n; i++) {
    for (Item* item = first; item != end; ++item) item->count.fetch_add(1);
    if (i & 1) control->done.fetch_add(1); else control->epoch.fetch_add(1);
  }
}
struct Message { int kind, length; };
struct Ping { Message head; long sequence; std::atomic<long> count; };
struct Data { Message head; std::atomic<long> bytes, sum; long body[5]; };
NOINLINE void handle(Message* message) {
  switch (message->kind) {
    case 1: { Ping* ping = (Ping*)message; ping->count.fetch_xor(5); break; }
    default: { Data* data = (Data*)message; data->bytes.fetch_add(1); data->sum.fetch_add(3); }
  }
}
struct Stats { std::atomic<long> hits; long plain; long pad[6]; };
NOINLINE void eachOfList(std::list<Stats>& list) {
  for (auto it = list.begin(); it != list.end(); ++it) { it->hits.fetch_add(1); it->plain++; }
}
NOINLINE void eachOfMap(std::map<int, Stats>& map) {
  for (auto it = map.begin(); it != map.end(); ++it) { it->second.hits.fetch_add(1); it->second.plain++; }
}
NOINLINE void eachOfHash(std::unordered_map<int, Stats>& hash) {
  for (auto& one : hash) { one.second.hits.fetch_add(1); one.second.plain++; }
}
std::list<Stats> list;
std::unordered_map<int, Stats> hash;
std::map<int, Stats> map;
int main() {
  auto* queue = new Queue();
  note("Item|Queue", queue->items, sizeof(Item), 3);
  note("Control|Queue", &queue->control, sizeof(Control), 1);
  sweep(queue->items, queue->items + 3, &queue->control, 4);
  auto* ping = new Ping(); note("Ping|Message", ping, sizeof *ping, 1);
  auto* data = new Data(); note("Data|Message", data, sizeof *data, 1);
  ping->head.kind = 1;
  handle(&data->head); handle(&ping->head);
  for (int i = 0; i < 2; i++) { list.emplace_back(); map[i].plain = hash[i].plain = 1; }
  for (Stats& one : list) note("std::_List_node<Stats>", (char*)&one - 16, sizeof one + 16, 1);
  for (auto& one : map)
    note("std::_Rb_tree_node<std::pair<int const, Stats>>|std::_Rb_tree_node<std::pair<const int, Stats>>",
         (char*)&one - 32, sizeof one + 32, 1);
  for (auto& one : hash)
    note("std::__detail::_Hash_node<std::pair<int const, Stats>, false>|"
         "std::__detail::_Hash_node<std::pair<const int, Stats>, false>|std::pair<int const, Stats>|"
         "std::pair<const int, Stats>",
         (char*)&one - 8, sizeof one + 8, 1);
  eachOfList(list); eachOfMap(map); eachOfHash(hash);
  return 0;
}
)code";

void expectNoStrangers(const std::string& compiler) {
  const TempDir dir;
  for (const char* level : {"-O1", "-O2"}) {
    const std::string binary =
        compile(dir, std::string("strangers") + level, "cpp", std::string(kNoteInC) + kStrangers,
                std::string("-g ") + level, compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    const TypeTable& table = types.table();
    const LiveRun run = runStepByStep(binary, *module);
    size_t named = 0;
    for (const LiveAccess& access : run.accesses) {
      const NotedObject* truth = run.objectOf(access);
      const std::string function = module->framesAt(access.access).back().function;
      const bool isOurs =
          function.starts_with("sweep") || function.starts_with("handle") || function.starts_with("eachOf");
      // A node's links are no part of its element.
      const bool isLink =
          truth != nullptr && truth->type.starts_with("std::") && access.address - truth->base < 16;
      if (truth == nullptr || !isOurs || isLink) continue;
      const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
      if (found.empty()) continue;
      named++;
      EXPECT_TRUE(truth->is(table.nameOf(found[0].type)))
          << table.nameOf(found[0].type) << " for " << truth->type << " in " << function << " " << compiler
          << level << " at " << std::hex << access.access << ", how " << static_cast<int>(found[0].how);
    }
    EXPECT_GT(named, 20u) << compiler << level;
  }
}

/// Each of them is a `std::atomic`, whose base class is as large.
const char* const kWrapped = R"code(
#include <atomic>
#include <vector>
__attribute__((noinline)) void bump(std::vector<std::atomic<long>>& counts, int n) {
  for (int i = 0; i < n; i++) counts[i & 3].fetch_add(1);
}
__attribute__((noinline)) void first(std::vector<std::atomic<long>>& counts) { counts[0].fetch_add(1); }
int main() {
  std::vector<std::atomic<long>> counts(4);
  note("std::atomic<long>|std::atomic<long int>", counts.data(), sizeof counts[0], 4);
  bump(counts, 6); first(counts);
  return 0;
}
)code";

TEST(LiveStrangers, AnObjectIsNamedByItsOutermostClassOfThatSize) {
  NEED_TOOL("clang++", "clang");
  const TempDir dir;
  for (const char* compiler : {"g++", "clang++"})
    for (const char* level : {"-O1", "-O2"}) {
      const std::string binary =
          compile(dir, std::string("wrapped") + level, "cpp", std::string(kNoteInC) + kWrapped,
                  std::string("-g ") + level, compiler);
      const auto module = symbols::Module::open(binary, "");
      BinaryTypes types(*module);
      LiveVariables live(*module, types);
      const LiveRun run = runStepByStep(binary, *module);
      size_t named = 0;
      for (const LiveAccess& access : run.accesses) {
        const std::string function = module->framesAt(access.access).back().function;
        const NotedObject* truth = run.objectOf(access);
        if (truth == nullptr || function == "main") continue;
        const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                          access.address, access.width);
        ASSERT_FALSE(found.empty()) << compiler << level;
        EXPECT_TRUE(truth->is(types.table().nameOf(found[0].type))) << compiler << level << function;
        named++;
      }
      EXPECT_EQ(named, 7u) << compiler << level;
    }
}

TEST(LiveStrangers, ByGcc) {
  NEED_TOOL("g++", "g++");
  expectNoStrangers("g++");
}
TEST(LiveStrangers, ByClang) {
  NEED_TOOL("clang++", "clang");
  expectNoStrangers("clang++");
}

}  // namespace
}  // namespace cacheline::inference::test
