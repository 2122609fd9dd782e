// Sources in which an edit of a structure is easily wrong, by hazard: what is asked for, and what has to come of it.

export interface EditCase {
  name: string;
  /** Its ending says the language. */
  file: string;
  text: string;
  /** The type, or the variable of a structure without a name. */
  type: string;
  /** As of `membersChange`; `align`: the type as a whole. */
  order: string;
  /** Of the answer, where no edit is safe. */
  reason?: RegExp;
}

export const editCases: Record<string, EditCase[]> = {
  templates: [
    {
      name: 'members of a class template, with a specialisation beside it',
      file: 'ring.cpp',
      type: 'Ring<int>',
      order: '*tail *head',
      text: `#include <cstddef>
template <typename T>
struct Ring {
  T *slots; // of the heap
  long head;
  long tail;
};
template <>
struct Ring<bool> {
  long head;
};
Ring<int> ints;
Ring<bool> bits;
`,
    },
    {
      name: 'a specialisation',
      file: 'special.cpp',
      type: 'Ring<bool>',
      order: 'size *head',
      text: `template <typename T>
struct Ring {
  T *slots;
};
template <>
struct Ring<bool>
{
  long head, size;
};
Ring<int> ints;
Ring<bool> bits;
`,
    },
    {
      name: 'a class template as a whole',
      file: 'whole.hpp',
      type: 'Slot<long>',
      order: 'align',
      text: `template <class T> class [[nodiscard]] Slot final {
 public:
  T value;
};
Slot<long> slot;
Slot<long> *use() { return &slot; }
`,
    },
  ],
  'bit-fields': [
    {
      name: 'a storage unit moves as a whole',
      file: 'bits.c',
      type: 'flags',
      order: 'count *ready done',
      text: `struct flags {
  unsigned ready : 1; /* by the reader */
  unsigned done : 1;  /* by the writer */
  long count;
};
struct flags all;
`,
    },
    {
      name: 'a storage unit is not parted',
      file: 'parted.c',
      type: 'flags',
      order: 'ready count done',
      reason: /share storage/,
      text: `struct flags {
  unsigned ready : 1;
  unsigned done : 1;
  long count;
};
struct flags all;
`,
    },
    {
      name: 'two units do not become one',
      file: 'merged.c',
      type: 'flags',
      order: 'a b',
      reason: /come to share storage/,
      text: `struct flags { int a : 3; long count; int b : 3; } all;
`,
    },
    {
      name: 'bits without a name',
      file: 'fill.cpp',
      type: 'Flags',
      order: 'count low',
      reason: /fill\.cpp:2 has something other than a plain declaration/,
      text: `struct Flags {
  unsigned low : 3, : 5, high : 3;
  long count;
};
Flags all;
`,
    },
  ],
  'anonymous members': [
    {
      name: 'a union without a name moves with its members',
      file: 'anonymous.c',
      type: 'cell',
      order: '*#2 kind',
      text: `struct cell {
  int kind;
  long other;
  /* by kind */
  union {
    long number;
    double real;
  };
};
struct cell cells[4];
`,
    },
    {
      name: 'of C++',
      file: 'anonymous.cpp',
      type: 'Cell',
      order: 'kind *#1',
      text: `struct Cell {
  int kind;
  union { long number; double real; };
  long other;
};
Cell cells[4];
`,
    },
    {
      name: 'a structure of a variable without a name',
      file: 'shared.c',
      type: 'shared',
      order: '*a *b',
      text: `static struct { long a; long b; } shared;
long *use(void) { return &shared.a; }
`,
    },
    {
      name: 'a structure with the name of its typedef',
      file: 'typedef.c',
      type: 'Name',
      order: '*b a',
      text: `#include <stddef.h>
typedef struct {
\tlong a;
\tlong b;
} Name;
Name name;
`,
    },
  ],
  attributes: [
    {
      name: 'packed',
      file: 'packed.c',
      type: 'wire',
      order: '*b',
      reason: /packs wire/,
      text: `struct __attribute__((packed)) wire { char a; long b; };
struct wire wire;
`,
    },
    {
      name: 'packed behind the members',
      file: 'packed-behind.c',
      type: 'wire',
      order: 'align',
      reason: /packs wire/,
      text: `struct wire { char a; long b; } __attribute__((aligned(4), packed));
struct wire wire;
`,
    },
    {
      name: 'packed by a pragma',
      file: 'pragma.cpp',
      type: 'Wire',
      order: '*b',
      reason: /packs Wire/,
      text: `#pragma pack(push, 1)
struct Wire { char a; long b; };
#pragma pack(pop)
Wire wire;
`,
    },
    {
      name: 'a pragma that ended before',
      file: 'pragma-ended.cpp',
      type: 'Free',
      order: '*b',
      text: `#pragma pack(push, 1)
struct Wire { char a; long b; };
#pragma pack(pop)
struct Free { char a; long b; };
Wire wire;
Free free_one;
`,
    },
    {
      name: 'stay with their member',
      file: 'attributes.cpp',
      type: 'Stats',
      order: '*misses hits',
      text: `struct Stats {
  [[maybe_unused]] long hits;
  [[maybe_unused]] long misses __attribute__((aligned(16)));
  __attribute__((unused)) long other;
};
Stats stats;
`,
    },
    {
      name: 'an alignment that is there',
      file: 'aligned.cpp',
      type: 'Stats',
      order: '*hits *misses',
      text: `struct Stats {
  alignas(64) long hits;
  alignas(16) long misses;
};
Stats stats;
`,
    },
  ],
  'comments between members': [
    {
      name: 'before, behind, and going on',
      file: 'comments.c',
      type: 'queue',
      order: '*tail *head lock',
      text: `struct queue { // one for each worker
  /* taken by all */
  int lock;

  // where the consumer reads;
  // only it writes
  long head; // of the ring
             // in elements
  long tail; /* of the ring,
                in elements */
  long size; ///< of the ring
  ///< in elements
  /* ends here */
};
struct queue queues[2];
`,
    },
    {
      name: 'on one line',
      file: 'one-line.c',
      type: 'pair',
      order: '*b a',
      text: `struct pair { long a; /* first */ long b; /* second */ };
struct pair pairs[2];
`,
    },
    {
      name: 'a line comment that would swallow what follows',
      file: 'swallow.c',
      type: 'pair',
      order: '*b a',
      text: `struct pair { long a; // first
  long b; };
struct pair pairs[2];
`,
    },
  ],
  'several declarators': [
    {
      name: 'part where one of them starts a line',
      file: 'several.c',
      type: 'counts',
      order: 'a *b',
      text: `struct counts {
  long a, b, c; // of each worker
};
struct counts counts;
`,
    },
    {
      name: 'in another order',
      file: 'several.cpp',
      type: 'Counts',
      order: '*c sum *a b',
      text: `struct Counts {
\tlong a = 1, *b = nullptr, c{3};  // of each worker
\tlong sum;
};
Counts counts;
`,
    },
    {
      name: 'of a type that is defined with them',
      file: 'defined.c',
      type: 'counts',
      order: 'a *b',
      reason: /declares several names with a type between them/,
      text: `struct counts { struct { long x; } a, b; } counts;
`,
    },
  ],
  'preprocessor lines': [
    {
      name: 'members before and behind an #if',
      file: 'if.c',
      type: 'stats',
      order: 'a *only *b',
      text: `#define WIDE 1
struct stats {
  long a;
#if WIDE
  long only;
#else
  int narrow;
#endif
  long b;
};
struct stats stats;
`,
    },
    {
      name: 'are not passed by',
      file: 'if-order.c',
      type: 'stats',
      order: '*b a',
      reason: /if-order\.c:3 has a preprocessor line/,
      text: `struct stats {
  long a;
#ifdef DEBUG
  long only;
#endif
  long b;
};
struct stats stats;
`,
    },
    {
      name: 'a member of both branches',
      file: 'branches.c',
      type: 'stats',
      order: '*b',
      reason: /several branches/,
      text: `struct stats {
#ifdef WIDE
  long b;
#else
  int b;
#endif
};
struct stats stats;
`,
    },
  ],
};
