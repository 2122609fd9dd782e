// Types of what memory samples touch: by symbols, by the code around them, by their registers.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "fixture.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"
#include "tests/sharing/typed_recording.h"

namespace cacheline::sharing {
namespace {

using test::TypedRecording;

constexpr const char* kSource = R"code(
struct worker { long id; long count; long spare; };
struct worker total = {1};
__asm__(".data\n.balign 64\n.globl marked\n.type marked,@object\n.size marked,64\nmarked: .zero 128\n.text");
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0" : "+m"(place))
#define RAW(name, code) __asm__ volatile(".globl " #name "\n" #name ": " code "\n nop" : : "D"(worker) : "rax", "memory")
#define NOINLINE __attribute__((noinline))
NOINLINE void bump(struct worker *worker) { ACCESS(bump_count, worker->count); }
NOINLINE void raw(struct worker *worker) { RAW(raw_count, "incq 8(%%rdi)"); }
NOINLINE void chase(struct worker *worker) { RAW(raw_next, "movq (%%rax), %%rax"); }
NOINLINE void put(char *bytes) { ACCESS(put_word, *(long *)bytes); }
NOINLINE void local(void) { struct worker mine = {0}; ACCESS(local_count, mine.count); }
NOINLINE void add(void) { ACCESS(add_total, total.count); }
static inline __attribute__((always_inline)) void many(struct worker *worker) {
  RAW(crowd_count, ".rept 400\n incq 8(%%rdi)\n .endr");
}
NOINLINE void crowd(struct worker *worker) { many(worker); }
void _start(void) { bump(&total); raw(&total); chase(&total); put((char *)&total); local(); add(); crowd(&total); }
)code";
constexpr uint64_t kHeapAt = 0x5000000, kStack = 0x6000000;
constexpr uint16_t kSkidding = PERF_RECORD_MISC_USER;

class TypedMemory : public testing::Test {
 protected:
  /// The program, a heap and a stack.
  void begin(bool registers, const std::string& more = {}) {
    const std::string program =
        symbols::test::compile(dir_, "typed", "c", kSource + more,
                               "-g -O1 -static -no-pie -nostdlib -ffreestanding -fno-stack-protector");
    image_ = symbols::ElfImage::open(program);
    recording_ = std::make_unique<TypedRecording>(program, *image_, 0, registers);
    recording_->memory(kHeapAt, TypedRecording::kPage, "[heap]");
    recording_->memory(kStack, TypedRecording::kPage, "[stack]");
  }
  /// By two threads in turn.
  void access(const char* access, uint64_t address, const std::map<uint8_t, uint64_t>& registers = {},
              uint64_t skid = 0, uint16_t misc = kSkidding | PERF_RECORD_MISC_EXACT_IP) {
    for (uint32_t i = 0; i < 10; ++i)
      recording_->sample(TypedRecording::kPid + i % 2, at(access) + skid, address, registers, misc);
  }
  uint64_t at(const char* symbol) const { return image_->addressOfSymbol(symbol).value(); }
  /// What the accesses to `address` were found to be.
  analysis::DataName dataAt(uint64_t address) {
    const analysis::Report report = recording_->report();
    for (const analysis::Line& line : report.lines)
      for (const analysis::Access& access : line.accesses)
        if (line.address + access.offset == address) return access.data;
    ADD_FAILURE() << "nothing was accessed at " << address;
    return {};
  }

  symbols::test::TempDir dir_;
  std::shared_ptr<const symbols::ElfImage> image_;
  std::unique_ptr<TypedRecording> recording_;
};

/// Of objects of the type: displayed loads and lines.
std::pair<uint64_t, uint32_t> loadsOfType(const analysis::Report& report, const std::string& type) {
  for (const analysis::TypeHeat& heat : report.types)
    if (heat.name == type) return {heat.contended, heat.lines};
  return {};
}

TEST_F(TypedMemory, SumsHaveLinesThatAreNotListed) {
  for (const bool registers : {false, true}) {
    begin(registers);
    // One array, of 24 bytes an element.
    constexpr uint64_t kWorkers = 3000, kPool = 0x7000000, kSize = 24;
    recording_->memory(kPool, kWorkers * kSize, "//anon");
    for (uint64_t worker = kPool; worker < kPool + kWorkers * kSize; worker += kSize)
      for (uint32_t i = 0; i < 2; ++i)
        recording_->sample(TypedRecording::kPid + i, at("bump_count"), worker + 8, {{kRegDi, worker}});
    access("add_total", at("total") + 8);
    const analysis::Report all = recording_->report();
    const analysis::Report report = recording_->report({}, {}, {}, false);
    EXPECT_EQ(report.lines.size(), 1u);
    EXPECT_EQ(report.contendedLeftOut, report.contended - 10);
    EXPECT_EQ(loadsOfType(report, "worker"), loadsOfType(all, "worker"));
    EXPECT_EQ(loadsOfType(report, "worker").first, report.contended);
    ASSERT_GE(report.objects.size(), 2u);
    EXPECT_EQ(report.objects[0].contended, report.contended - 10);
    EXPECT_EQ(report.objects[0].lines, all.lines.size() - 1);
    EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  }
}

/// All that a report says of them.
std::string textOfSums(const analysis::Report& report) {
  std::ostringstream text;
  const auto list = [&text](const std::vector<uint32_t>& tids) {
    for (const uint32_t tid : tids) text << ' ' << tid;
    text << ';';
  };
  for (const analysis::ObjectSum& object : report.objects)
    text << object.object << ' ' << object.base.value_or(0) << ' ' << object.lines << ' '
         << static_cast<int>(object.verdict) << ' ' << object.contended << ' ' << object.records << ' '
         << object.loads << ' ' << object.stores << '\n';
  for (const analysis::TypeHeat& type : report.types) {
    text << type.name << ' ' << type.instances << ' ' << type.lines << ' ' << static_cast<int>(type.verdict)
         << ' ' << type.contended << ' ' << type.records << ' ' << type.memory->remoteHitm << '\n';
    for (const analysis::FieldHeat& field : type.fields) {
      text << "  " << field.field << ' ' << field.offset << ' ' << field.records << ' ' << field.loads << ' '
           << field.stores << ' ' << field.contended << ' ' << field.memory->remoteHitm << ' '
           << field.meanCycles.value_or(0);
      list(field.readers);
      list(field.writers);
      text << '\n';
    }
  }
  return text.str();
}

TEST_F(TypedMemory, SumsAreTheSameWhereAllLinesAreListed) {
  begin(false);
  constexpr uint64_t kLines = 1500, kPool = 0x7000000;
  recording_->memory(kPool, kLines * 64, "//anon");
  const auto tid = [](uint64_t number) { return static_cast<uint32_t>(TypedRecording::kPid + number); };
  for (uint64_t line = 0; line < kLines; ++line) {
    const uint64_t worker = kPool + line * 64;
    recording_->cycles(100 + line);
    // Two that read and see the same in it, one that writes, too, and one that has a pointer to bytes only.
    recording_->sample(tid(line % 3), at("bump_count"), worker + 8);
    recording_->sample(tid(4), at("raw_count"), worker + 8);
    recording_->sample(tid(9), at("crowd_count"), worker + 8);
    recording_->store(tid(5 + line % 2), at("bump_count"), worker + 8);
    if (line % 2 == 0) recording_->store(tid(1), at("add_total"), worker + 8);
    recording_->sample(tid(7), at("put_word"), worker + line % 3 * 8);
    if (line % 5 == 0) recording_->sample(tid(8), at("chase"), worker + 32);
  }
  access("add_total", at("total") + 8);
  const std::string all = textOfSums(recording_->report());
  EXPECT_NE(all.find("worker"), std::string::npos);
  for (const uint64_t prepassLoads : {uint64_t{1}, Options().prepassLoads}) {
    Options options;
    options.prepassLoads = prepassLoads;
    const analysis::Report report = recording_->report(options, {}, {}, false);
    EXPECT_LT(report.lines.size(), 2u);
    EXPECT_EQ(textOfSums(report), all);
  }
}

TEST_F(TypedMemory, SumsKnowOfNeighboursWithoutDisplayedLoads) {
  begin(false);
  constexpr uint64_t kPairs = 1500, kPool = 0x7000000;
  recording_->memory(kPool, kPairs * 128, "//anon");
  Options options;
  options.display = Display::remote;
  for (const bool neighbours : {false, true}) {
    for (uint64_t pair = kPool; pair < kPool + kPairs * 128; pair += 128)
      for (uint32_t i = 0; i < 8; ++i) {
        recording_->sample(TypedRecording::kPid + i % 2, at("bump_count"), pair + 8);
        if (neighbours) recording_->localHitm(TypedRecording::kPid + i % 2, at("bump_count"), pair + 64 + 8);
      }
    const analysis::Report report = recording_->report(options, {}, {}, false);
    EXPECT_TRUE(report.lines.empty());
    ASSERT_EQ(report.types.size(), 1u);
    EXPECT_EQ(report.types[0].lines, kPairs);
    EXPECT_EQ(std::ranges::count(report.types[0].flags, "adjacent"), neighbours ? 1 : 0);
  }
}

TEST_F(TypedMemory, SumsHaveSoManyLinesAndTheReportSaysHowManyNot) {
  begin(false);
  constexpr uint64_t kLines = 3000, kPool = 0x7000000;
  recording_->memory(kPool, kLines * 64, "//anon");
  for (uint64_t line = 0; line < kLines; ++line)
    for (uint32_t i = 0; i < 2; ++i)
      recording_->sample(TypedRecording::kPid + i, at("bump_count"), kPool + line * 64 + 8);
  Options options;
  options.mostSummed = 2100;  // two blocks
  const analysis::Report report = recording_->report(options, {}, {}, false);
  EXPECT_TRUE(report.lines.empty());
  EXPECT_EQ(loadsOfType(report, "worker"), std::pair(uint64_t{2 * 2048}, 2048u));
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0],
            "The sums of objects and types leave out 31.7% of the HITMs: of the lines with too few to be "
            "listed, 2048 are in the sums and 952 are not (--show-all adds all).");
}

TEST_F(TypedMemory, SumsHaveListedLinesAloneWhereThoseHaveNearlyAll) {
  begin(false);
  constexpr uint64_t kLines = 30, kPool = 0x7000000;
  recording_->memory(kPool, kLines * 64, "//anon");
  for (uint64_t line = 0; line < kLines; ++line)
    recording_->sample(TypedRecording::kPid, at("bump_count"), kPool + line * 64 + 8);
  for (int i = 0; i < 150; ++i) access("add_total", at("total") + 8);
  const analysis::Report report = recording_->report({}, {}, {}, false);
  EXPECT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.contendedLeftOut, kLines);
  EXPECT_EQ(loadsOfType(report, "worker"), std::pair(uint64_t{1500}, 1u));
}

TEST_F(TypedMemory, RowsAreNamedByVariableAndByTheTypeFollowedThroughTheCode) {
  begin(false);
  const uint64_t total = at("total");
  access("bump_count", kHeapAt + 24 + 8);
  access("add_total", total + 8);
  const analysis::Report report = recording_->report();
  ASSERT_EQ(report.lines.size(), 2u);
  for (const analysis::Line& line : report.lines) {
    ASSERT_EQ(line.accesses.size(), 1u);
    const analysis::DataName& data = line.accesses[0].data;
    const bool heap = line.address == kHeapAt;
    EXPECT_EQ(data.how, heap ? analysis::How::code : analysis::How::global);
    EXPECT_EQ(data.object, heap ? "[heap]" : "total");
    EXPECT_EQ(data.type, "worker");
    EXPECT_EQ(data.field, "count");
    EXPECT_EQ(data.base, heap ? kHeapAt + 24 : total);
  }
  ASSERT_EQ(report.types.size(), 1u);
  EXPECT_EQ(report.types[0].instances, 2u);
  EXPECT_EQ(report.types[0].memory->remoteHitm, 20u);
  ASSERT_EQ(report.types[0].fields.size(), 1u);
  EXPECT_EQ(report.types[0].fields[0].meanCycles, 200);
}

TEST_F(TypedMemory, APointerToBytesSaysNothingOfAWord) {
  begin(false);
  for (const char* code : {"bump_count", "raw_count", "crowd_count"}) access(code, kHeapAt + 24 + 8);
  access("put_word", kHeapAt + 24 + 16);
  access("put_word", kHeapAt + 400);  // nobody says what that is
  EXPECT_EQ(dataAt(kHeapAt + 24 + 16).type, "worker");
  EXPECT_EQ(dataAt(kHeapAt + 24 + 16).field, "spare");
  EXPECT_EQ(dataAt(kHeapAt + 400).type, "char");
}

TEST_F(TypedMemory, MuchCodeIsNamedByTwoThreadsAsByOne) {
  constexpr uint64_t kMany = 400, kLength = 4;  // instructions, and bytes of each
  begin(false);
  for (uint64_t i = 0; i < kMany; ++i) access("crowd_count", kHeapAt + 24 + 8, {}, i * kLength);
  const analysis::Report report = recording_->report();
  ASSERT_EQ(report.lines.size(), 1u);
  ASSERT_EQ(report.lines[0].accesses.size(), kMany);
  for (const analysis::Access& access : report.lines[0].accesses) {
    EXPECT_EQ(access.code->symbol, "crowd");
    ASSERT_EQ(access.code->inlined.size(), 2u);
    EXPECT_EQ(access.code->inlined[0].function, "many");
    EXPECT_EQ(access.data.type, "worker");
    EXPECT_EQ(access.data.field, "count");
  }
}

TEST_F(TypedMemory, RegistersNameTheVariableThatPointsThere) {
  begin(true);
  access("bump_count", kHeapAt + 24 + 8, {{kRegDi, kHeapAt + 24}});
  const analysis::DataName data = dataAt(kHeapAt + 24 + 8);
  EXPECT_EQ(data.how, analysis::How::code);
  EXPECT_EQ(data.because, "pointer `worker` in bump");
  EXPECT_EQ(data.type, "worker");
  EXPECT_EQ(data.field, "count");
  EXPECT_EQ(data.base, kHeapAt + 24);
}

/// As Go's linker leaves what a variable's literal points to.
TEST_F(TypedMemory, DataOfAFileThatNoSymbolNamesGoesByTheCode) {
  constexpr uint64_t kMapped = 0x7000000;
  for (const bool registers : {false, true}) {
    begin(registers);
    recording_->memory(kMapped, TypedRecording::kPage, "/data/mapped.mdb");
    const uint64_t marked = at("marked"), hidden = marked + 64;
    for (const uint64_t worker : {marked, hidden, kMapped})
      access("bump_count", worker + 8, {{kRegDi, worker}});
    EXPECT_EQ(dataAt(marked + 8).object, "marked");
    EXPECT_EQ(dataAt(marked + 8).type, "") << "what has a symbol goes by it";
    for (const uint64_t worker : {hidden, kMapped}) {
      const analysis::DataName data = dataAt(worker + 8);
      EXPECT_EQ(data.how, analysis::How::code);
      EXPECT_EQ(data.because,
                registers ? "pointer `worker` in bump" : "type of the address followed through the code");
      EXPECT_EQ(data.type, "worker");
      EXPECT_EQ(data.field, "count");
      EXPECT_EQ(data.base, worker);
    }
  }
}

TEST_F(TypedMemory, RegistersTellALocalVariableOnTheStack) {
  begin(true);
  // gcc and clang place it differently: whatever the base register is, its displacement is small.
  for (const uint8_t reg : {kRegSp, kRegBp}) {
    const std::map<uint8_t, uint64_t> frame = {{kRegSp, kStack + 0x800}, {kRegBp, kStack + 0x810}};
    for (int64_t displacement = -64; displacement <= 64; displacement += 8)
      access("local_count", frame.at(reg) + static_cast<uint64_t>(displacement), frame);
  }
  const analysis::Report report = recording_->report();
  size_t named = 0;
  for (const analysis::Line& line : report.lines) {
    for (const analysis::Access& access : line.accesses) {
      if (access.data.how != analysis::How::stack) continue;
      ++named;
      EXPECT_EQ(access.data.because, "local variable `mine` in local");
      EXPECT_EQ(access.data.field, "count");
    }
  }
  EXPECT_EQ(named, 1u);  // all other addresses contradict the registers
}

TEST_F(TypedMemory, AStackIsItsOwners) {
  constexpr uint64_t kWorkerStack = 0x7f0000000000, kLent = kWorkerStack + 0x1f8;
  constexpr uint32_t kWorker = TypedRecording::kPid + 2;
  for (const bool registers : {false, true}) {
    begin(registers);
    recording_->memory(kWorkerStack, 1 << 20, "//anon");
    recording_->sample(kWorker, at("add_total"), at("total") + 8, {{kRegSp, kWorkerStack + 0x80}});
    access("bump_count", kStack + 24 + 8, {{kRegDi, kStack + 24}});
    access("bump_count", kLent + 8, {{kRegDi, kLent}});
    EXPECT_EQ(analysis::objectName(dataAt(kStack + 24 + 8)), "worker (stack of main)");
    const analysis::DataName lent = dataAt(kLent + 8);
    EXPECT_EQ(lent.object, registers ? "[stack]" : "anonymous 0x7f0000000000");
    ASSERT_EQ(lent.stackOwner.has_value(), registers) << "only registers tell";
    if (!registers) continue;
    EXPECT_EQ(lent.stackOwner->tid, kWorker);
    EXPECT_EQ(analysis::objectName(lent), "worker (stack of thread 102)");
  }
}

/// Two stacks in one mapping, so that nobody knows whose a place is.
TEST_F(TypedMemory, AStackWithoutAnOwnerIsOne) {
  constexpr uint64_t kStacks = 0x7f0000000000, kLent = kStacks + 0x1000, kBeside = kStacks + 0x100;
  constexpr uint32_t kPid = TypedRecording::kPid;
  for (const bool registers : {false, true})
    for (const bool go : {false, true}) {
      begin(registers, go ? "__asm__(\".section .go.buildinfo,\\\"a\\\"\\n.quad 0\\n.text\");\n" : "");
      recording_->memory(kStacks, 1 << 20, "//anon");
      for (int i = 0; i < 10; ++i) {
        recording_->sample(kPid + 2, at("raw_count"), kLent + 8, {{kRegSp, kLent - 0x80}, {kRegDi, kLent}});
        recording_->sample(kPid + 3, at("raw_count"), kLent + 8, {{kRegSp, kLent + 0x8000}, {kRegDi, kLent}});
        recording_->sample(kPid + 3, at("raw_count"), kBeside + 8,
                           {{kRegSp, kLent + 0x8000}, {kRegDi, kBeside}});
      }
      EXPECT_EQ(dataAt(kLent + 8).object, registers && !go ? "[stack]" : "anonymous 0x7f0000000000");
      EXPECT_FALSE(dataAt(kLent + 8).stackOwner);
      EXPECT_EQ(dataAt(kBeside + 8).object, "anonymous 0x7f0000000000") << "below the stack pointer";
    }
}

TEST_F(TypedMemory, RegistersOfAnotherMomentDoNotVote) {
  begin(true);
  access("bump_count", kHeapAt + 24 + 8, {{kRegDi, kHeapAt + 0x400}});
  const analysis::DataName data = dataAt(kHeapAt + 24 + 8);
  EXPECT_EQ(data.because, "type of the address followed through the code");
  EXPECT_EQ(data.base, kHeapAt + 24);
}

TEST_F(TypedMemory, RegistersNameWhatTheCodeBehindAnInexactIpTouched) {
  constexpr uint64_t kRawLength = 4;  // of incq 8(%rdi)
  begin(true);
  access("raw_count", kHeapAt + 24 + 8, {{kRegDi, kHeapAt + 24}}, kRawLength, kSkidding);
  access("raw_count", kHeapAt + 96 + 8, {{kRegDi, kHeapAt + 0x400}}, kRawLength, kSkidding);
  EXPECT_EQ(dataAt(kHeapAt + 24 + 8).because, "pointer `worker` in raw");
  EXPECT_EQ(dataAt(kHeapAt + 24 + 8).base, kHeapAt + 24);
  EXPECT_EQ(dataAt(kHeapAt + 96 + 8).how, analysis::How::unknown);
}

TEST_F(TypedMemory, WithoutRegistersAnInexactIpNamesNothing) {
  begin(false);
  access("bump_count", kHeapAt + 24 + 8, {}, 0, kSkidding);
  EXPECT_EQ(dataAt(kHeapAt + 24 + 8).how, analysis::How::unknown);
  EXPECT_EQ(dataAt(kHeapAt + 24 + 8).because,
            "the samples do not say exactly which instruction made the access");
}

TEST_F(TypedMemory, AnAccessThatOverwroteItsOwnBaseIsNamedByTheOtherRegisters) {
  begin(true);
  access("raw_next", kHeapAt + 24 + 16, {{kRegAx, 0x77}, {kRegDi, kHeapAt + 24}});
  EXPECT_EQ(dataAt(kHeapAt + 24 + 16).because, "pointer `worker` in chase");
  EXPECT_EQ(dataAt(kHeapAt + 24 + 16).field, "spare");
}

TEST_F(TypedMemory, WithoutRegistersInARecordingThatHasThemTheCodeIsFollowed) {
  begin(true);
  access("bump_count", kHeapAt + 24 + 8, {{kRegDi, kHeapAt + 24}});
  access("bump_count", kHeapAt + 96 + 8, {{kRegDi, kHeapAt + 96}}, 0, PERF_RECORD_MISC_KERNEL);
  EXPECT_EQ(dataAt(kHeapAt + 24 + 8).because, "pointer `worker` in bump");
  EXPECT_EQ(dataAt(kHeapAt + 96 + 8).how, analysis::How::unknown);
}

struct Score {
  size_t rows = 0, typed = 0, right = 0;
};

/// A sample at every access of a program that says itself what its objects are: with the registers that the
/// CPU left after the access, as PEBS stores them.
Score score(const std::string& binary, const inference::test::LiveRun& run, bool registers) {
  constexpr int kRounds = 3;  // the program runs once; what is contended is touched all the time
  const auto image = symbols::ElfImage::open(binary);
  TypedRecording recording(binary, *image, run.loadBias, registers);
  for (const inference::test::NotedObject& object : run.objects)
    recording.memory(object.base / TypedRecording::kPage * TypedRecording::kPage,
                     object.size * object.count + TypedRecording::kPage, "//anon");
  std::map<std::pair<uint64_t, uint64_t>, const inference::test::NotedObject*> truths;  // by code and data
  for (int round = 0; round < kRounds; ++round) {
    for (const inference::test::LiveAccess& access : run.accesses) {
      const inference::test::NotedObject* truth = run.objectOf(access);
      if (truth == nullptr) continue;
      truths[{access.access + run.loadBias, access.address}] = truth;
      std::map<uint8_t, uint64_t> values;
      for (uint8_t reg = 0; reg < kRegCount; ++reg)
        if (access.registers.has(reg)) values[reg] = access.registers.value[reg];
      recording.sample(TypedRecording::kPid + access.access % 2, access.access + run.loadBias, access.address,
                       values);
    }
  }
  Score score;
  const analysis::Report report = recording.report();
  for (const analysis::Line& line : report.lines) {
    for (const analysis::Access& access : line.accesses) {
      const uint64_t address = line.address + access.offset;
      const auto truth = truths.find({access.codeAddress, address});
      if (truth == truths.end()) continue;
      ++score.rows;
      if (access.data.type.empty()) continue;
      ++score.typed;
      const inference::test::NotedObject& object = *truth->second;
      if (!object.is(access.data.type) || !access.data.base) continue;
      // `base` may be that of the element or that of the array.
      score.right += object.contains(*access.data.base);
    }
  }
  return score;
}

void judge(const std::string& extension, const std::string& program, const std::string& compiler) {
  const symbols::test::TempDir dir;
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    const std::string binary =
        symbols::test::compile(dir, std::string("program") + level, extension,
                               inference::test::kNoteInC + program, std::string("-g ") + level, compiler);
    const inference::test::LiveRun run =
        inference::test::runStepByStep(binary, *symbols::Module::open(binary, ""));
    const Score with = score(binary, run, true), without = score(binary, run, false);
    std::cout << compiler << " " << level << ": " << with.rows << " rows, " << with.typed << " typed, "
              << with.right << " right; without registers " << without.typed << " typed, " << without.right
              << " right\n";
    ASSERT_GT(with.rows, 20u);
    EXPECT_GE(with.typed * 100, with.rows * 90) << level;
    EXPECT_GE(with.right * 100, with.typed * 95) << level;
    EXPECT_GE(with.right, without.right) << level;
  }
}

TEST(TypedMemoryLive, CByGcc) {
  NEED_TOOL("gcc", "gcc");
  judge("c", inference::test::kHeapObjectsInC, "gcc");
}
TEST(TypedMemoryLive, CppByClang) {
  NEED_TOOL("clang++", "clang");
  judge("cpp", inference::test::kHeapObjectsInCpp, "clang++");
}

}  // namespace
}  // namespace cacheline::sharing
