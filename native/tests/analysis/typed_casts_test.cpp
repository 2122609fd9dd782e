// Objects of which the code alone cannot say what they are: it has them as one type and as another.
#include "typed_program.h"
#include "watch_files.h"

namespace cacheline::analysis::test {
namespace {

constexpr const char* kInDoubt =
    "live variables give the pointer several types, and nothing says which is right: ping, data";

/// `both` has its argument as either kind of message; of use_data() there is no doubt.
class TypedCasts : public Recorded {
 protected:
  TypedCasts() {
    static const Program messages("-g", R"(
struct message { int kind, length; };
struct ping { struct message head; long sequence, count; };
struct data { struct message head; long bytes, sum, body[5]; };
#define NOINLINE __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
NOINLINE void both(struct message *message) {
  struct ping *ping = (struct ping *)message;
  struct data *data = (struct data *)message;
  if (message->kind == 1) ACCESS(ping_count, ping->count); else ACCESS(data_bytes, data->bytes);
}
NOINLINE void use_data(struct data *data) { ACCESS(data_sum, data->sum); }
struct ping ping; struct data data;
void _start(void) { both(&ping.head); both(&data.head); use_data(&data); }
)");
    begin(messages);
  }
  void useInTurns(const std::string& access, uint64_t argument) {
    for (int i = 0; i < 10; ++i) touch(i % 2 ? kMain : kThread, access, argument);
  }
};

TEST_F(TypedCasts, WhatNobodyCanTellHasNoNameButAReason) {
  useInTurns("ping_count", kHeap);
  analyze();
  const DataName& count = accessAt(kHeap + 16).data;
  EXPECT_EQ(count.type, "");
  EXPECT_EQ(count.because, kInDoubt);
}

TEST_F(TypedCasts, WhatOthersAgreeOnNamesIt) {
  for (int i = 0; i < 3; ++i) {
    useInTurns("data_bytes", kHeap);
    useInTurns("data_sum", kHeap);
  }
  analyze();
  const DataName& bytes = dataAt(kHeap + 8, "data_bytes");
  EXPECT_EQ(bytes.type, "data");
  EXPECT_EQ(bytes.field, "bytes");
  EXPECT_EQ(bytes.base, kHeap);
}

/// The votes of rows that only a watchpoint saw are without registers, as those of a memory PMU.
TEST_F(TypedCasts, NorIsItNamedByTheFollowedCode) {
  WatchFiles files;
  files.window(kMain, scenario_.time() + kMs, 5, {{kHeap + 16, "word"}});
  files.hit(kMain, kThread, program_->after("ping_count"), kHeap + 16, {{kRegDi, kHeap}});
  useInTurns("data_sum", kHeap + 0x1000);
  const std::string folder = scenario_.write();
  files.write(folder);
  report_ = analyzeAt(folder, true);
  const DataName& count = dataAt(kHeap + 16, "ping_count");
  EXPECT_EQ(count.type, "");
  EXPECT_EQ(count.because, kInDoubt);
}

}  // namespace
}  // namespace cacheline::analysis::test
