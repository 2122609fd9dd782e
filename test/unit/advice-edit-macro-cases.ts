// Sources whose macros declare, annotate or hide what an edit needs to know.
import type { EditCase } from './advice-edit-cases';

export const macroCases: Record<string, EditCase[]> = {
  macros: [
    {
      name: 'declare a member',
      file: 'macro.c',
      type: 'node',
      order: '*count',
      reason: /declares no member next/,
      text: `#define LINK(name) struct node *name
struct node {
  LINK(next);
  long count;
};
struct node nodes[2];
`,
    },
    {
      name: 'have the type of a member',
      file: 'macro-type.c',
      type: 'node',
      order: 'next *count',
      text: `#define ENTRY(type) struct type *
struct node {
  ENTRY(node) next;
  long count;
};
struct node nodes[2];
`,
    },
    {
      name: 'stand before a member without a semicolon',
      file: 'macro-before.cpp',
      type: 'Node',
      order: 'kind *count *size',
      text: `#define OBJECT static_assert(sizeof(int) == 4);
struct Node {
  int kind;
  OBJECT
  long count;
  OBJECT
  Node *size;
};
Node node;
`,
    },
    {
      name: 'stand before a member, where others may not pass them',
      file: 'macro-order.cpp',
      type: 'Node',
      order: '*count kind',
      reason: /that a macro declares or annotates/,
      text: `#define OBJECT typedef int Self;
struct Node {
  int kind;
  OBJECT
  long count;
};
Node node;
`,
    },
    {
      name: 'annotate members',
      file: 'annotated.cpp',
      type: 'Node',
      order: '*count *flag slots list kind',
      text: `#include <map>
#define GUARDED_BY(lock)
#define REQUIRES(lock)
struct Node {
  int kind;
  std::map<int, int> list GUARDED_BY(kind); // by kind
  long count GUARDED_BY(kind) = 0;
  int *slots[3] GUARDED_BY(kind) = {};
  unsigned flag : 3 = 1;
  void run(std::map<int, int> = {}) REQUIRES(kind);
};
Node node;
`,
    },
    {
      name: 'write the definition',
      file: 'macro-whole.c',
      type: 'node',
      order: '*count',
      reason: /has no readable definition of node/,
      text: `#define DEFINE(name) struct name { long count; }
DEFINE(node);
struct node node;
`,
    },
    {
      name: 'stand between struct and the name',
      file: 'macro-export.cpp',
      type: 'Node',
      order: 'next *count',
      text: `#define EXPORT __attribute__((visibility("default")))
struct Base {};
class EXPORT Node final : public Base {
 public:
  Node *next;
  long count;
};
Node node;
`,
    },
    {
      name: 'before the name of what is aligned as a whole',
      file: 'macro-whole-export.cpp',
      type: 'Node',
      order: 'align',
      text: `#define EXPORT __attribute__((visibility("default")))
struct EXPORT Node {
  long count;
};
Node node;
`,
    },
    {
      name: 'pack',
      file: 'macro-packed.c',
      type: 'node',
      order: '*count',
      reason: /packs node/,
      text: `#define PACKED __attribute__((packed))
struct PACKED node {
  char kind;
  long count;
};
struct node node;
`,
    },
  ],
};
