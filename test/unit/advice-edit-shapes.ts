// Further shapes of definitions that edits have to keep or refuse, and ways to write a text.
import type { EditCase } from './advice-edit-cases';

export const editShapes: Record<string, EditCase[]> = {
  'ways to write a text': [
    {
      name: 'CR LF',
      file: 'crlf.c',
      type: 'queue',
      order: '*tail head',
      text: '#include <stddef.h>\r\nstruct queue {\r\n  long head; // read\r\n  long tail, size; // written\r\n};\r\nstruct queue queue;\r\n',
    },
    {
      name: 'other characters before the definition, and no line ending at the end',
      file: 'utf8.cpp',
      type: 'Größe',
      order: '*b a',
      text: '// Größe der Schlange 🐍 — “q”\nconst char *name = "日本語🐍";\nstruct Größe { long a; /* ä🐍 */ long b; };\nGröße one;',
    },
    {
      name: 'a byte order mark',
      file: 'mark.cpp',
      type: 'Pair',
      order: '*b a',
      text: '\uFEFFstruct Pair { long a; long b; };\nPair pair;\n',
    },
    {
      name: 'a header of both languages',
      file: 'both.h',
      type: 'pair',
      order: '*b a',
      text: `#ifdef __cplusplus
extern "C" {
#endif
struct pair {
  long a;
  long b;
};
struct pair *make_pair(void);
#ifdef __cplusplus
}
#endif
`,
    },
    {
      name: 'a header of both languages, as a whole',
      file: 'both-whole.h',
      type: 'pair',
      order: 'align',
      text: `struct pair { long a, b; };
struct pair *make_pair(void);
`,
    },
    {
      name: 'C that has alignas',
      file: 'stdalign.c',
      type: 'pair',
      order: 'align',
      text: `#include <stdalign.h>
struct pair {
  const volatile long a;
  long b;
} pair;
`,
    },
    {
      name: 'functions and macros around it that are not understood',
      file: 'around.c',
      type: 'pair',
      order: 'a *b',
      text: `#define EXPORT(type) type
#define LOOP(i) for (int i = 0; i < 2; ++i)
struct pair { long a; long b; } pairs[2];
EXPORT(int) sum(void) { int all = 0; LOOP(i) all += (int)pairs[i].a; return all; }
`,
    },
  ],
  'other definitions': [
    {
      name: 'a union as a whole',
      file: 'union.c',
      type: 'word',
      order: 'align',
      text: `union word { long number; char bytes[8]; } word;\n`,
    },
    {
      name: 'a union in another order',
      file: 'union-order.c',
      type: 'word',
      order: '*bytes number',
      reason: /is a union/,
      text: `union word { long number; char bytes[8]; } word;\n`,
    },
    {
      name: 'a structure inside',
      file: 'inside.c',
      type: 'inner',
      order: '*b a',
      text: `struct outer {
    int kind;
    struct inner {
        long a;
        long b;
    } inner;
};
struct outer outer;
`,
    },
    {
      name: 'around a structure inside',
      file: 'inside-outer.c',
      type: 'outer',
      order: 'next *inner *count kind',
      text: `struct outer {
\tint kind;
\tstruct inner {
\t\tlong a; /* one */
\t} inner, *next; /* of the list */
\tlong count;
};
struct outer outer;
`,
      reason: /declares several names with a type/,
    },
    {
      name: 'function pointers, arrays and a flexible array',
      file: 'pointers.c',
      type: 'object',
      order: '*counts call name *length data',
      text: `struct object {
  int (*call)(int, long);
  const char *const *name;
  unsigned long counts[2][4];
  unsigned length;
  char data[];
};
struct object *object;
`,
    },
    {
      name: 'a flexible array stays last',
      file: 'flexible.c',
      type: 'object',
      order: '*data length',
      reason: /has to stay last/,
      text: `struct object { unsigned length; char data[]; } *object;\n`,
    },
    {
      name: 'atomics of C',
      file: 'atomic.c',
      type: 'counts',
      order: '*writes *reads',
      text: `#include <stdatomic.h>
struct counts {
  _Atomic long reads;
  atomic_ulong writes;
  _Atomic(int) others;
} counts;
`,
    },
    {
      name: 'the first member is what pointers are cast to',
      file: 'cast.c',
      type: 'child',
      order: '*count parent',
      reason: /cast\.c:3 casts to a pointer to parent/,
      text: `struct parent { int kind; };
struct child { struct parent parent; long count; } child;
struct parent *up(struct child *c) { return (struct parent *)c; }
`,
    },
    {
      name: 'asserted sizes',
      file: 'asserted.c',
      type: 'pair',
      order: '*b',
      reason: /asserted\.c:2 asserts the layout of pair/,
      text: `struct pair { int a, b; } pair;
_Static_assert(sizeof(struct pair) == 8, "as the file has it");
`,
    },
    {
      name: 'a definition in a function',
      file: 'local.cpp',
      type: 'Local',
      order: '*b a',
      text: `long use() {
  struct Local { long a; long b; };
  static Local local;
  return local.a + local.b;
}
`,
    },
    {
      name: 'guards behind a definition in a namespace',
      file: 'guards.cpp',
      type: 'Queue',
      order: '*tail *head',
      text: `#include <atomic>
#include <cstddef>
namespace pool {
  struct Queue {
    std::atomic<long> head{0};
    std::atomic<long> tail{0};
    const char *name = "a";
  };  // one for all
}
pool::Queue queue;
`,
    },
  ],
  classes: [
    {
      name: 'access specifiers and functions stay',
      file: 'class.cpp',
      type: 'Pool',
      order: '*taken *given size',
      text: `#include <atomic>
#include <mutex>
#include <vector>
class Pool {
 public:
  void give() { ++given; }
  long size_now() const;

 private:
  std::mutex lock;
  long size = 0; // of all
  enum class Kind { one, two };

  // by takers
  std::atomic<long> taken{0};
  long sum() const { return taken + given; }
  // by givers
  std::atomic<long> given{0};
};
long Pool::size_now() const { return size; }
Pool pool;
`,
    },
    {
      name: 'a member does not turn public',
      file: 'access.cpp',
      type: 'Pool',
      order: '*given taken',
      reason: /given would turn from private to public/,
      text: `class Pool {
 public:
  long taken;
 private:
  long given;
};
Pool *pool;
Pool one;
`,
    },
    {
      name: 'with functions that are virtual, and a base',
      file: 'virtual.cpp',
      type: 'Worker',
      order: '*done *ticks name',
      text: `struct Base { long id; };
struct Worker : Base {
  virtual ~Worker() = default;
  const char *name = nullptr;
  long ticks = 0, done = 0;
  virtual void run() { ++ticks; }
};
Worker worker;
`,
    },
    {
      name: 'constructors with lists in the order of the members',
      file: 'lists.cpp',
      type: 'Worker',
      order: '*b a',
      reason: /lists\.cpp:3 initialises members in the order they have now/,
      text: `struct Worker {
  long a, b;
  Worker() : a(1), b(2) {}
};
Worker worker;
`,
    },
    {
      name: 'constructors outside of the class',
      file: 'lists-outside.cpp',
      type: 'Worker',
      order: '*b a',
      reason: /lists-outside\.cpp:6 initialises members in the order/,
      text: `struct Worker {
  long a;
  long b;
  explicit Worker(long);
};
Worker::Worker(long x) : a(x), b{2} {}
Worker worker(1);
`,
    },
    {
      name: 'constructors in another file',
      file: 'lists-elsewhere.cpp',
      type: 'Worker',
      order: '*b a',
      reason: /declares constructors of Worker \(line 4\) that are defined elsewhere/,
      text: `struct Worker {
  long a;
  long b;
  explicit Worker(long);
};
extern Worker worker;
`,
    },
    {
      name: 'constructors whose lists keep their order',
      file: 'lists-kept.cpp',
      type: 'Worker',
      order: '*c a b',
      text: `struct Worker {
  long a;
  long b;
  long c = 0;
  Worker() : a(1), b(2) {}
  Worker(const Worker &) = delete;
};
Worker worker;
Worker other{};
`,
    },
    {
      name: 'a value that uses another member',
      file: 'values.cpp',
      type: 'Worker',
      order: '*b a',
      reason: /values\.cpp:3 needs a of line 2/,
      text: `struct Worker {
  long a = 1;
  long b = a + 1;
};
Worker worker;
`,
    },
    {
      name: 'a constant and a type between members',
      file: 'between.cpp',
      type: 'Worker',
      order: '*slots a',
      reason: /between\.cpp:4 needs count of line 3/,
      text: `struct Worker {
  long a;
  static constexpr int count = 4;
  long slots[count];
};
Worker worker;
`,
    },
    {
      name: 'values in braces, and only alignments',
      file: 'braces.cpp',
      type: 'Worker',
      order: '*a *b',
      text: `struct Worker {
  long a{1}, b = 2;
  Worker(long x) : a(x), b(x) {}
};
Worker worker{3};
`,
    },
    {
      name: 'threads end before what they use',
      file: 'threads.cpp',
      type: 'Worker',
      order: '*count runner names',
      reason: /are destroyed in the reverse of their order/,
      text: `#include <string>
#include <thread>
struct Worker {
  std::string names;
  std::thread runner;
  long count;
};
Worker worker;
`,
    },
  ],
};
