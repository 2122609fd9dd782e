// Sources in which the order of members means something, or a type has several definitions.
import type { EditCase } from './advice-edit-cases';

export const orderCases: Record<string, EditCase[]> = {
  'values by position': [
    {
      name: 'in C',
      file: 'position.c',
      type: 'pair',
      order: '*b a',
      reason: /position\.c:2 gives values by position.*clang-reorder-fields --record-name pair --fields-order b,a/,
      text: `struct pair { int a; long b; };
struct pair pairs[] = { { 1, 2 }, { 3, 4 } };
`,
    },
    {
      name: 'only alignments are asked for',
      file: 'position-aligned.c',
      type: 'pair',
      order: '*a *b',
      text: `struct pair { int a; long b; };
struct pair pairs[] = { { 1, 2 }, { 3, 4 } };
`,
    },
    {
      name: 'of a structure around it',
      file: 'position-around.c',
      type: 'pair',
      order: '*b a',
      reason: /position-around\.c:3 gives values by position/,
      text: `struct pair { int a; long b; };
typedef struct { int kind; struct pair pair; } outer;
static outer all = { 1, { 2, 3 } };
int use(void) { return all.kind; }
`,
    },
    {
      name: 'names and zero',
      file: 'named.c',
      type: 'pair',
      order: '*b a',
      text: `struct pair { int a; long b; };
struct pair named = { .a = 1, .b = 2 };
struct pair zero = { 0 };
`,
    },
    {
      name: 'names in C++, which asks for their order',
      file: 'named.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /names members in the order they have now/,
      text: `struct Pair { int a; long b; };
Pair named = { .a = 1, .b = 2 };
`,
    },
    {
      name: 'results',
      file: 'results.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /by position/,
      text: `struct Pair { int a; long b; };
Pair make() { return {1, 2}; }
`,
    },
    {
      name: 'arguments',
      file: 'arguments.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /by position/,
      text: `struct Pair { int a; long b; };
void take(Pair);
void give() { take({1, 2}); }
`,
    },
    {
      name: 'bindings',
      file: 'bindings.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /bind names by position/,
      text: `struct Pair { int a; long b; };
long sum(Pair pair) { auto [a, b] = pair; return a + b; }
`,
    },
    {
      name: 'of a class that derives from it',
      file: 'derived.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /derived\.cpp:3 gives values by position/,
      text: `struct Pair { long a; long b; };
struct Triple : Pair { long c; };
Triple triple{{1, 2}, 3};
`,
    },
    {
      name: 'in parentheses, as C++20 has them',
      file: 'parentheses.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /parentheses\.cpp:2 gives values by position/,
      text: `struct Pair { long a; long b; };
auto make = [] { return Pair(1, 2); };
Pair pair = make();
`,
    },
    {
      name: 'that a template passes on',
      file: 'passed.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /passed\.cpp:3 gives values by position/,
      text: `#include <memory>
struct Pair { long a; long b; };
std::unique_ptr<Pair> make() { return std::make_unique<Pair>(1, 2); }
Pair pair;
`,
    },
    {
      name: 'of elements',
      file: 'elements.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /elements\.cpp:4 gives values by position/,
      text: `#include <vector>
struct Pair { long a; long b; };
std::vector<Pair> pairs(2);
void add() { pairs.emplace_back(1, 2); }
`,
    },
    {
      name: 'by a macro',
      file: 'by-macro.c',
      type: 'pair',
      order: '*b a',
      reason: /by-macro\.c:3 gives values by a macro/,
      text: `struct pair { long a; long b; };
#define INIT(x, y) { x, y }
struct pair pair = INIT(1, 2);
`,
    },
    {
      name: 'in a macro',
      file: 'in-macro.c',
      type: 'pair',
      order: '*b a',
      reason: /in-macro\.c:2 has a macro that may give values/,
      text: `struct pair { long a; long b; };
#define MAKE(x, y) ((struct pair){ x, y })
struct pair make(void) { return MAKE(1, 2); }
`,
    },
    {
      name: 'comparisons',
      file: 'comparison.cpp',
      type: 'Pair',
      order: '*b a',
      reason: /comparison\.cpp:6 compares members in their order/,
      text: `#include <compare>

struct Pair {
  long a;
  long b;
  auto operator<=>(const Pair &) const = default;
};
Pair pair;
`,
    },
  ],
  'several definitions': [
    {
      name: 'in two branches',
      file: 'twice.c',
      type: 'stats',
      order: '*a',
      reason: /at lines 2 and 4/,
      text: `#ifndef WIDE
struct stats { int a; };
#else
struct stats { long a; };
#endif
struct stats stats;
`,
    },
    {
      name: 'in two namespaces',
      file: 'namespaces.cpp',
      type: 'two::Stats',
      order: '*b a',
      text: `namespace one {
struct Stats { int a; };
}
namespace two {
struct Stats { long a; long b; };
}
one::Stats one_stats;
two::Stats two_stats;
`,
    },
  ],
};
