// One address that variables take for several objects: only what the code speaks for is named.
#include <gtest/gtest.h>

#include <algorithm>

#include "fixture.h"
#include "tests/types/live_process.h"
#include "tests/types/live_programs.h"
#include "types/live_variables.h"

namespace cacheline::types::test {
namespace {

using symbols::test::compile;
using symbols::test::TempDir;

/// `undecided` casts a message to each of its kinds before it looks at the kind. In the others one of the two
/// is spoken for: by a member's own method, by a whole member there, by the function inlined there, as an
/// extension of the other, or as the bytes that the other lies in.
const char* const kCasts = R"code(
#include <atomic>
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
NOINLINE void byMember(Message* message) {
  Data* data = (Data*)message;
  Small* small = (Small*)message;
  if (message->kind == 1) { small->high += 3; } else { data->sum += 5; }
}
INLINE void beat(Ping* ping) { ping->count += 3; }
NOINLINE void byInlined(Message* message) {
  Data* data = (Data*)message;
  if (message->kind == 1) beat((Ping*)message); else data->body[3] ^= 5;
}
struct Node { int tag, flags; long cost; };
struct Query { int tag, flags; long cost; long rows, width; };
NOINLINE void byExtension(Node* node) {
  Query* query = (Query*)node;
  node->cost += 3;
  query->rows += query->width;
}
struct Packet { Message head; char payload[56]; };
struct Body { long sequence, count; };
NOINLINE void byBuffer(Packet* packet) {
  Body* body = (Body*)packet->payload;
  body->count += 3;
  packet->payload[30]++;
}
NOINLINE void overBuffer(Packet* packet) {
  Ping* ping = (Ping*)packet;
  ping->count += 3;
  packet->payload[31]++;
}
int main() {
  auto* packet = new Packet(); note("Packet", packet, sizeof *packet, 1);
  auto* ping = new Ping(); note("Ping", ping, sizeof *ping, 1);
  auto* data = new Data(); note("Data", data, sizeof *data, 1);
  auto* job = new Job(); note("Job", job, sizeof *job, 1);
  auto* small = new Small(); note("Small", small, sizeof *small, 1);
  auto* query = new Query(); note("Query", query, sizeof *query, 1);
  ping->head.kind = job->head.kind = small->head.kind = 1;
  undecided(&ping->head); undecided(&data->head);
  byMethod(&job->head); byMethod(&data->head);
  byMember(&small->head); byMember(&data->head);
  byInlined(&ping->head); byInlined(&data->head);
  byExtension((Node*)query); byBuffer(packet); overBuffer(packet);
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
    return all;
  };
  CastCounts withRegisters, without;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    const std::string function = module->framesAt(access.access).back().function;
    if (truth == nullptr || function == "main") continue;
    const uint64_t offset = access.address - truth->base;
    Doubt doubt, followedDoubt;
    const auto found = live.objectsAt(access.access, access.ip, run.slide, access.registers, access.address,
                                      access.width, &doubt);
    const auto operand = live.operandType(access.access, &followedDoubt);
    const std::string where = function + " at " + std::to_string(offset) + " of " + truth->type;
    const auto check = [&](bool known, TypeId type, uint64_t at, const Doubt& why, CastCounts& counts) {
      if (!known) {
        counts.undecided++;
        EXPECT_TRUE(function.starts_with("undecided")) << where;
        EXPECT_EQ(names(why), (std::vector<std::string>{"Data", "Ping"})) << where;
        return;
      }
      const std::string name = table.nameOf(type);
      // Where the kind is read one variable alone has the address, whatever is behind the message.
      const bool isHead = offset < 8 && (name == "Message" || function.starts_with("byInlined"));
      const bool isPing = name == "Ping" && function.starts_with("overBuffer");
      EXPECT_TRUE(name == truth->type || isHead || isPing) << name << " for " << where;
      EXPECT_EQ(at, offset) << where;
      counts.named++;
    };
    check(!found.empty(), found.empty() ? kNoType : found[0].type,
          found.empty() ? 0 : access.address - found[0].base, doubt, withRegisters);
    check(operand.has_value(), operand ? operand->type : kNoType, operand ? operand->offset : 0,
          followedDoubt, without);
  }
  for (const CastCounts& counts : {withRegisters, without}) {
    EXPECT_GE(counts.undecided, 3u);
    EXPECT_GE(counts.named, 12u);
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, LiveCasts,
                         testing::Values(std::pair("g++", "-O1"), std::pair("g++", "-O2"),
                                         std::pair("clang++", "-O1"), std::pair("clang++", "-O2")));

}  // namespace
}  // namespace cacheline::types::test
