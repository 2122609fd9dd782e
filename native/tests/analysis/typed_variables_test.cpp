// What the reports call the variable that leads to an object: a pointer only where it is one.
#include "typed_program.h"

namespace cacheline::analysis::test {
namespace {

class TypedVariables : public Recorded {
 protected:
  /// `because` of an object that the argument of a function leads to.
  std::string becauseOf(const std::string& access) {
    static const Program variables("-g", R"(
struct item { long id, hits; };
struct iterator { item *at; };
typedef item *handle;
#define NOINLINE extern "C" __attribute__((noinline))
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
NOINLINE void by_pointer(item *own) { ACCESS(pointer_hits, own->hits); }
NOINLINE void by_handle(const handle own) { ACCESS(handle_hits, own->hits); }
NOINLINE void by_reference(item &own) { ACCESS(reference_hits, own.hits); }
NOINLINE void by_iterator(iterator own) { ACCESS(iterator_hits, own.at->hits); }
item one;
extern "C" void _start() { by_pointer(&one); by_handle(&one); by_reference(one); by_iterator({&one}); }
)",
                                   true);
    begin(variables);
    for (int i = 0; i < 10; ++i) touch(i % 2 ? kMain : kThread, access, kHeap);
    analyze();
    const DataName& data = accessAt(kHeap + 8).data;
    EXPECT_EQ(data.type, "item");
    EXPECT_EQ(data.field, "hits");
    return data.because;
  }
};

TEST_F(TypedVariables, PointersAreCalledSo) {
  EXPECT_EQ(becauseOf("pointer_hits"), "pointer `own` in by_pointer");
}

TEST_F(TypedVariables, SoArePointersByAnotherName) {
  EXPECT_EQ(becauseOf("handle_hits"), "pointer `own` in by_handle");
}

TEST_F(TypedVariables, SoAreReferences) {
  EXPECT_EQ(becauseOf("reference_hits"), "pointer `own` in by_reference");
}

TEST_F(TypedVariables, WhatOnlyHoldsAPointerIsNotCalledOne) {
  EXPECT_EQ(becauseOf("iterator_hits"), "what variable `own` leads to in by_iterator");
}

}  // namespace
}  // namespace cacheline::analysis::test
