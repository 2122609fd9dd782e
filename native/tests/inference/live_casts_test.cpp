// One address that variables take for several objects: only what the code speaks for is named.
#include <gtest/gtest.h>

#include <algorithm>

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

/// `undecided` casts a message to each of its kinds before it looks at the kind; compilers read parts of
/// members, and several at once. In the others the code speaks for one of the two (a member's own method, a
/// hole in the other one), or one is a part, an extension or a view of the other, or lies in its bytes.
const char* const kCasts = R"code(
#include <atomic>
#include <cstdlib>
#define NOINLINE __attribute__((noinline))
#define INLINE __attribute__((always_inline)) static inline
struct Message { int kind, length; };
struct Ping { Message head; long sequence, count; };
struct Data { Message head; long bytes, sum; long body[5]; };
NOINLINE long undecided(Message* message) {
  Ping* ping = (Ping*)message;
  Data* data = (Data*)message;
  if (message->kind == 1) { ping->sequence += 3; ping->count ^= 5; }
  else { data->bytes += 7; data->sum ^= 9; data->body[2] += 1; }
  return message->length++;
}
struct Job { Message head; std::atomic<long> done; };
NOINLINE void byMethod(Message* message) {
  Data* data = (Data*)message;
  Job* job = (Job*)message;
  if (message->kind == 1) job->done.fetch_add(1); else data->body[1]++;
}
struct Small { Message head; int low, high, rest[2]; };
struct Gap { Message head; int low; alignas(32) long wide; };
NOINLINE void byMember(Message* message) {
  Gap* gap = (Gap*)message;
  Small* small = (Small*)message;
  if (message->kind == 1) { small->high += 3; } else { gap->wide += 5; }
}
struct Packet { Message head; char payload[56]; };
struct Count { Message head; long sequence, total; };
struct Flags { Message head; char first, second; int rest; long more; };
NOINLINE long undecidedPart(Message* message) {
  Count* count = (Count*)message;
  Flags* flags = (Flags*)message;
  if (message->kind == 1) return count->sequence & 1 ? 7 : count->total;
  flags->more++;
  return flags->first;
}
NOINLINE void undecidedBuffer(Packet* packet) {
  Ping* ping = (Ping*)packet;
  Count* count = (Count*)packet;
  if (packet->payload[31]++ == 0) ping->count += 3; else count->total ^= 5;
}
struct Body { long sequence, count; };
struct Move { Message head; int x, y; long z; };
NOINLINE void undecidedStores(Message* message) {
  Count* count = (Count*)message;
  Move* move = (Move*)message;
  if (message->kind == 1) { count->sequence += 3; } else { move->x = 0; move->y = 0; move->z ^= 5; }
}
struct Slot { alignas(8) char bytes[16]; };
NOINLINE void bySlot(Slot* slot) {
  Body* body = (Body*)slot;
  body->count += 3;
  slot->bytes[3]++;
}
struct References { long number; };
struct Conn { long references, bytes; };
INLINE void retain(References* references) { __atomic_fetch_add(&references->number, 1, __ATOMIC_RELAXED); }
NOINLINE void byView(Conn* conn) {
  retain((References*)conn);
  conn->bytes += 3;
}
struct Key { int type, code; long when; };
struct Mouse { int type, x; long when; };
union Event { Key key; Mouse mouse; };
NOINLINE long ofUnion(Event* event, int isKey) {
  Key* key = &event->key;
  Mouse* mouse = &event->mouse;
  if (isKey) key->code += 3; else mouse->when ^= 5;
  return key->type++;
}
struct Header { long size, flags; };
struct Payload { long in, out, errors, rest[4]; };
NOINLINE void behindHeader(Header* header) {
  Payload* payload = (Payload*)(header + 1);
  header->flags += 3;
  payload->out += 5;
  payload->errors += 7;
  header->size ^= 9;
}
struct Base { long kind, uses; };
struct First : Base { void use() { uses += 3; } };
struct Second : Base { void use() { uses ^= 5; } };
NOINLINE void ofBase(Base* base) {
  First* first = static_cast<First*>(base);
  Second* second = static_cast<Second*>(base);
  if (base->kind == 1) first->use(); else second->use();
}
struct Node { int tag, flags; long cost; };
struct Query { int tag, flags; long cost; long rows, width; };
NOINLINE void byExtension(Node* node) {
  Query* query = (Query*)node;
  node->cost += 3;
  query->rows += query->width;
}
NOINLINE void byBuffer(Packet* packet) {
  Body* body = (Body*)packet->payload;
  body->count += 3;
  packet->payload[30]++;
}
int main() {
  auto* packet = new Packet(); note("Packet", packet, sizeof *packet, 1);
  auto* ping = new Ping(); note("Ping", ping, sizeof *ping, 1);
  auto* data = new Data(); note("Data", data, sizeof *data, 1);
  auto* job = new Job(); note("Job", job, sizeof *job, 1);
  auto* small = new Small(); note("Small", small, sizeof *small, 1);
  auto* gap = new Gap(); note("Gap", gap, sizeof *gap, 1);
  auto* query = new Query(); note("Query", query, sizeof *query, 1);
  auto* count = new Count(); note("Count", count, sizeof *count, 1);
  auto* flags = new Flags(); note("Flags", flags, sizeof *flags, 1);
  auto* move = new Move(); note("Move", move, sizeof *move, 1);
  auto* slot = new Slot(); note("Slot", slot, sizeof *slot, 1);
  auto* conn = new Conn(); note("Conn", conn, sizeof *conn, 1);
  auto* event = new Event(); note("Event", event, sizeof *event, 1);
  auto* header = (Header*)calloc(1, sizeof(Header) + sizeof(Payload)); note("Header", header, sizeof *header, 1);
  note("Payload", header + 1, sizeof(Payload), 1);
  auto* second = new Second(); note("Second|Base", second, sizeof *second, 1);
  ping->head.kind = job->head.kind = small->head.kind = count->head.kind = 1;
  undecided(&ping->head); undecided(&data->head);
  byMethod(&job->head); byMethod(&data->head);
  byMember(&small->head); byMember(&gap->head);
  undecidedPart(&count->head); undecidedPart(&flags->head);
  byView(conn); ofUnion(event, 0); ofUnion(event, 1); behindHeader(header); ofBase(second);
  byExtension((Node*)query); byBuffer(packet); undecidedBuffer(packet); undecidedBuffer(packet);
  undecidedStores(&move->head); undecidedStores(&count->head); bySlot(slot);
  return 0;
}
)code";

struct CastCounts {
  size_t undecided = 0, named = 0;
};

class LiveCasts : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(LiveCasts, OnlyWhatTheCodeSpeaksForIsNamed) {
  const auto& [compiler, level] = GetParam();
  if (std::string_view(compiler) == "g++") {
    NEED_TOOL("g++", "g++");
  } else {
    NEED_TOOL("clang++", "clang");
  }
  const TempDir dir;
  const std::string binary =
      compile(dir, "casts", "cpp", std::string(kNoteInC) + kCasts, std::string("-g ") + level, compiler);
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const TypeTable& table = types.table();
  const LiveRun run = runStepByStep(binary, *module);
  const auto names = [&](const Doubt& doubt) {
    std::vector<std::string> all;
    for (const TypeId type : doubt.casts) all.push_back(table.nameOf(type));
    std::sort(all.begin(), all.end());
    std::string text;
    for (const std::string& name : all) text += (text.empty() ? "" : " ") + name;
    return text;
  };
  CastCounts withRegisters, without;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    const std::string function = module->framesAt(access.access).back().function;
    if (truth == nullptr || function == "main") continue;
    const uint64_t offset = access.address - truth->base;
    Doubt doubt, followedDoubt;
    const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                      access.address, access.width, &doubt);
    const auto operand = live.operandType(access.access, &followedDoubt);
    const std::string where = function + " at " + std::to_string(offset) + " of " + truth->type;
    const auto check = [&](bool known, TypeId type, uint64_t at, const Doubt& why, CastCounts& counts) {
      if (!known) {
        counts.undecided++;
        EXPECT_TRUE(function.starts_with("undecided")) << where;
        const std::string between = names(why);
        EXPECT_TRUE(between == "Data Ping" || between == "Count Flags" || between == "Count Packet Ping" ||
                    between == "Count Move")
            << between << " for " << where;
        return;
      }
      const std::string name = table.nameOf(type);
      const bool isHead = name == "Message" && offset < 8;
      EXPECT_TRUE(truth->is(name) || isHead) << name << " for " << where;
      EXPECT_EQ(at, offset) << where;
      counts.named++;
    };
    check(!found.empty(), found.empty() ? kNoType : found[0].type,
          found.empty() ? 0 : access.address - found[0].base, doubt, withRegisters);
    // Without values a header may be the first of many, and a union what the first variable says.
    if (!function.starts_with("behindHeader") && !function.starts_with("ofUnion"))
      check(operand.has_value(), operand ? operand->type : kNoType, operand ? operand->offset : 0,
            followedDoubt, without);
  }
  for (const CastCounts& counts : {withRegisters, without}) {
    EXPECT_GE(counts.undecided, 8u);
    EXPECT_GE(counts.named, 20u);
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, LiveCasts,
                         testing::Values(std::pair("g++", "-O1"), std::pair("g++", "-O2"),
                                         std::pair("clang++", "-O1"), std::pair("clang++", "-O2")));

}  // namespace
}  // namespace cacheline::inference::test
