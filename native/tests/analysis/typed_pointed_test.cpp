// Arrays that pointers with static storage lead to.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// `pin_uses` keeps the pointer in a register, `drop_uses` adds it to the index, of which `keep_uses` keeps a
/// copy, `take_word` knows the lock alone.
const Program& descriptors() {
  static const Program program("-g", R"(
struct lock { int word; };
struct desc { long tag; struct lock lock; int uses; };
union padded { struct desc desc; char pad[64]; };
static union padded *descs;
static struct desc *only;
__attribute__((noinline)) void pin(long i) {
  union padded *all = descs;
  __asm__ volatile(".globl pin_uses\npin_uses: incl %0\n nop" : "+m"(all[i].desc.uses));
  __asm__ volatile("" ::"r"(all));
}
__attribute__((noinline)) void drop(long i) { __asm__ volatile(".globl drop_uses\ndrop_uses: decl %0\n nop" : "+m"(descs[i].desc.uses)); }
__attribute__((noinline)) void keep(long i) {
  __asm__ volatile(".globl keep_uses\nkeep_uses: incl %0\n nop" : "+m"(descs[i].desc.uses));
  __asm__ volatile("" ::"r"(i));
}
__attribute__((noinline)) void take(struct lock *lock) { __asm__ volatile(".globl take_word\ntake_word: incl %0\n nop" : "+m"(lock->word)); }
__attribute__((noinline)) void count(void) { __asm__ volatile(".globl count_uses\ncount_uses: incl %0\n nop" : "+m"(only->uses)); }
void _start(void) { __asm__ volatile("" : "=m"(descs), "=m"(only)); pin(1); drop(1); keep(1); take(&descs->desc.lock); count(); }
)");
  return program;
}

class TypedPointed : public Recorded {
 protected:
  static constexpr uint64_t kArray = kHeap + 0x40, kElement = 64, kLock = 8, kUses = 12;
  static constexpr int kSamples = 6;

  void pin(uint32_t tid, uint64_t array, uint64_t index) {
    scenario_.sample(kMain, tid, program_->after("pin_uses"), {{kRegAx, array}, {kRegDi, index * kElement}});
  }
  void drop(uint32_t tid, uint64_t array, uint64_t index) {
    touch(tid, "drop_uses", array + index * kElement);
  }
  void take(uint32_t tid, uint64_t element) { touch(tid, "take_word", element + kLock); }
  const ObjectSum* sumOf(const std::string& name) {
    const auto found =
        std::ranges::find_if(report_.objects, [&](const ObjectSum& object) { return object.object == name; });
    return found != report_.objects.end() ? &*found : nullptr;
  }
};

TEST_F(TypedPointed, ElementsGoByThePointerAndTheirIndex) {
  begin(descriptors());
  for (int i = 0; i < kSamples; ++i) {
    pin(kMain, kArray, 1);
    pin(kThread, kArray, 9);
    drop(kThread, kArray, 12);            // no register has the array's start there
    take(kMain, kArray + 3 * kElement);   // of an element that no other code touched
    take(kMain, kArray + 64 * kElement);  // behind all that was seen of the array
  }
  analyze();
  for (const auto& [index, field, at] :
       {std::tuple(1, "desc.uses", kUses), std::tuple(9, "desc.uses", kUses),
        std::tuple(12, "desc.uses", kUses), std::tuple(3, "desc.lock.word", kLock)}) {
    const DataName& data = accessAt(kArray + static_cast<uint64_t>(index) * kElement + at).data;
    EXPECT_EQ(data.object, "descs[]") << index;
    EXPECT_EQ(data.type, "padded") << index;
    EXPECT_EQ(data.field, field) << index;
    EXPECT_EQ(data.index, static_cast<uint64_t>(index));
    EXPECT_EQ(data.base, kArray) << index;
    EXPECT_EQ(data.offset, static_cast<uint64_t>(index) * kElement + at);
    EXPECT_NE(data.because.find("`descs`"), std::string::npos) << data.because;
  }
  EXPECT_EQ(accessAt(kArray + 64 * kElement + kLock).data.object, "[heap]");
  ASSERT_NE(sumOf("descs[]"), nullptr);
  EXPECT_EQ(sumOf("descs[]")->records, 4u * kSamples);
  EXPECT_EQ(sumOf("descs[]")->lines, 4u);
  EXPECT_EQ(sumOf("descs[]")->base, kArray);
}

TEST_F(TypedPointed, NoIndexIsSaidWhereNoSampleShowsThePointersValue) {
  begin(descriptors());
  for (int i = 0; i < kSamples; ++i) {
    drop(kMain, kArray, 4);
    drop(kThread, kArray, 7);
    take(kMain, kArray + 4 * kElement);
  }
  analyze();
  for (const uint64_t place : {4 * kElement + kUses, 7 * kElement + kUses, 4 * kElement + kLock}) {
    const DataName& data = accessAt(kArray + place).data;
    EXPECT_EQ(data.object, "descs[]");
    EXPECT_EQ(data.type, "padded");
    EXPECT_FALSE(data.index);
  }
  ASSERT_NE(sumOf("descs[]"), nullptr);
  EXPECT_EQ(sumOf("descs[]")->records, 3u * kSamples);
}

TEST_F(TypedPointed, ThePointersValueIsTheSumLessWhatItWasAddedTo) {
  begin(descriptors());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t index : {3u, 8u})
      scenario_.sample(kMain, index == 3 ? kMain : kThread, program_->after("keep_uses"),
                       {{kRegAx, kArray + index * kElement}, {kRegDi, index}});
  analyze();
  for (const uint64_t index : {3u, 8u}) {
    EXPECT_EQ(accessAt(kArray + index * kElement + kUses).data.object, "descs[]");
    EXPECT_EQ(accessAt(kArray + index * kElement + kUses).data.index, index);
    EXPECT_EQ(accessAt(kArray + index * kElement + kUses).data.base, kArray);
  }
}

/// As when an array grows: what code without the pointer's value touches may be in either.
TEST_F(TypedPointed, APointerWithTwoValuesLeadsToTwoArrays) {
  constexpr uint64_t kSecond = kHeap + 0x2000;
  begin(descriptors());
  for (int i = 0; i < kSamples; ++i) {
    pin(kMain, kArray, 2);
    pin(kThread, kSecond, 2);
    drop(kThread, kSecond, 5);
  }
  analyze();
  EXPECT_EQ(accessAt(kArray + 2 * kElement + kUses).data.base, kArray);
  EXPECT_EQ(accessAt(kSecond + 2 * kElement + kUses).data.base, kSecond);
  EXPECT_EQ(accessAt(kSecond + 2 * kElement + kUses).data.index, 2u);
  EXPECT_EQ(accessAt(kSecond + 5 * kElement + kUses).data.object, "descs[]");
  EXPECT_FALSE(accessAt(kSecond + 5 * kElement + kUses).data.index);
}

TEST_F(TypedPointed, WhatIsNotCountedIsNoArray) {
  begin(descriptors());
  for (const uint32_t tid : {kMain, kThread})
    for (int i = 0; i < kSamples; ++i)
      scenario_.sample(kMain, tid, program_->after("count_uses"), {{kRegAx, kHeap}});
  analyze();
  EXPECT_EQ(accessAt(kHeap + kUses).data.object, "[heap]");
  EXPECT_EQ(accessAt(kHeap + kUses).data.type, "desc");
  EXPECT_EQ(accessAt(kHeap + kUses).data.field, "uses");
}

/// Of a container of the standard library people know the variable alone.
TEST_F(TypedPointed, AContainersElementsGoByTheContainer) {
  static const Program program("-g", R"(
namespace std { template <class T> struct vector { struct impl { T *_M_start, *_M_finish; } _M_impl; }; }
struct slot { long hits, misses; };
static struct cached { long count; std::vector<slot> slots; } cache;
extern "C" {
__attribute__((noinline)) void hit(long i) {
  slot *all = cache.slots._M_impl._M_start;
  __asm__ volatile(".globl hit_slot\nhit_slot: incq %0\n nop" : "+m"(all[i].misses));
  __asm__ volatile("" ::"r"(all));
}
__attribute__((noinline)) void end(long i) {
  slot *all = cache.slots._M_impl._M_finish;
  __asm__ volatile(".globl end_slot\nend_slot: incq %0\n nop" : "+m"(all[i].misses));
  __asm__ volatile("" ::"r"(all));
}
void _start() { __asm__ volatile("" : "=m"(cache)); hit(1); end(-1); }
}
)",
                               true);
  begin(program);
  for (int i = 0; i < kSamples; ++i) {
    scenario_.sample(kMain, kThread, program.after("hit_slot"), {{kRegAx, kArray}, {kRegDi, 3 * 16}});
    scenario_.sample(kMain, kThread, program.after("end_slot"), {{kRegAx, kHeap + 0x800}, {kRegDi, 16}});
  }
  analyze();
  EXPECT_EQ(accessAt(kArray + 3 * 16 + 8).data.object, "cache.slots[]");
  EXPECT_EQ(accessAt(kArray + 3 * 16 + 8).data.index, 3u);
  EXPECT_EQ(accessAt(kHeap + 0x800 + 16 + 8).data.object, "[heap]");
  EXPECT_EQ(accessAt(kHeap + 0x800 + 16 + 8).data.type, "slot");
}

/// The order of the samples decides nothing: all six.
class TypedPointedOrder : public TypedPointed, public testing::WithParamInterface<int> {};

TEST_P(TypedPointedOrder, NamesTheSame) {
  begin(descriptors());
  std::array<int, 3> order{0, 1, 2};
  for (int i = 0; i < GetParam(); ++i) std::ranges::next_permutation(order);
  for (const int which : order)
    for (int i = 0; i < kSamples; ++i) {
      if (which == 0) pin(kMain, kArray, 1);
      if (which == 1) take(kThread, kArray + kElement);
      if (which == 2) drop(kThread, kArray, 6);
    }
  analyze();
  std::string names;
  for (const uint64_t place : {kElement + kLock, kElement + kUses, 6 * kElement + kUses}) {
    const DataName& data = accessAt(kArray + place).data;
    names +=
        data.object + std::to_string(data.index.value_or(99)) + ' ' + data.type + '.' + data.field + '\n';
  }
  EXPECT_EQ(names, "descs[]1 padded.desc.lock.word\ndescs[]1 padded.desc.uses\ndescs[]6 padded.desc.uses\n");
}
INSTANTIATE_TEST_SUITE_P(Orders, TypedPointedOrder, testing::Range(0, 6));

}  // namespace
}  // namespace cacheline::analysis
