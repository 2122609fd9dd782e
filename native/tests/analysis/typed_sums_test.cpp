// Sums of types whose names do not tell them apart.
#include <algorithm>
#include <set>

#include "typed_program.h"

namespace cacheline::analysis::test {
namespace {

class TypedSums : public Recorded {};

/// The macros of one header may make different structures of it.
TEST_F(TypedSums, NamesakesThatDifferInsideHaveSumsOfTheirOwn) {
  const perfdata::testing::TempFolder folder;
  const std::string header = folder / "outer.h", other = folder / "other.c";
  std::ofstream(header) << "struct inner { INNER; }; struct outer { long n; struct inner i; };\n";
  const std::string access = R"(
#include ")" + header + R"("
#define ACCESS(name, place) __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
)";
  std::ofstream(other) << "#define INNER int x[2]; long y" + access +
                              "struct outer two; void second(void) { ACCESS(two_y, two.i.y); }\n";
  const Program program("-g " + other, ("#define INNER long a, b" + access + R"(
struct outer one;
void second(void);
void first(void) { ACCESS(one_b, one.i.b); }
void _start(void) { first(); second(); }
)")
                                           .c_str());
  begin(program);
  for (int i = 0; i < 20; i++) {
    touch(kMain, "one_b");
    touch(kThread, "one_b");
    touch(kMain, "two_y");
    touch(kThread, "two_y");
  }
  analyze();
  std::multiset<std::string> fields;
  for (const TypeHeat& type : report_.types)
    for (const FieldHeat& field : type.fields) fields.insert(type.name + "." + field.field);
  EXPECT_EQ(fields, (std::multiset<std::string>{"inner.b", "inner.y", "outer.i.b", "outer.i.y"}));
}

TEST_F(TypedSums, AnonymousTypesOfOneSizeHaveSumsOfTheirOwn) {
  static const Program anonymous("-g", R"(
typedef struct { long one, two; } first_t;
typedef struct { long three, four; } second_t;
first_t first = {1, 1};
second_t second = {1, 1};
#define ACCESS(name, place) \
  __asm__ volatile(".globl " #name "\n" #name ": incq %0\n nop" : "+m"(place))
void _start(void) { ACCESS(first_two, first.two); ACCESS(second_three, second.three); }
)");
  begin(anonymous);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "first_two");
    touch(kThread, "second_three");
  }
  analyze();
  std::vector<std::string> fields;
  for (const TypeHeat& type : report_.types)
    for (const FieldHeat& field : type.fields)
      fields.push_back(std::to_string(type.layout.line) + ":" + field.field);
  std::sort(fields.begin(), fields.end());
  EXPECT_EQ(fields, (std::vector<std::string>{"2:two", "3:three"}));
}

TEST_F(TypedSums, AThreadThatReadsAndWritesIsInEitherList) {
  static const Program program("-g", R"(
struct pair { long n, unused; } pair;
void _start(void) {
  __asm__ volatile(".globl put_n\nput_n: movq %1, %0\n nop" : "=m"(pair.n) : "r"(1L));
  __asm__ volatile(".globl get_n\nget_n: movq %0, %%rcx\n nop" : : "m"(pair.n) : "rcx");
}
)");
  begin(program);
  for (int i = 0; i < 10; ++i) {
    touch(kMain, "put_n");
    touch(kMain, "get_n");
    touch(kThread, "get_n");
  }
  analyze();
  const TypeHeat& type = typeNamed("pair", false);
  ASSERT_EQ(type.fields.size(), 1u);
  EXPECT_EQ(type.fields[0].writers, (std::vector<uint32_t>{kMain}));
  EXPECT_EQ(type.fields[0].readers, (std::vector<uint32_t>{kMain, kThread}));
}

}  // namespace
}  // namespace cacheline::analysis::test
