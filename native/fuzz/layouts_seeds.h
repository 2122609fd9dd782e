// Seeds for the fuzzer of native/types: many kinds of types.
#pragma once

#include "fuzz/seeds.h"

namespace cacheline::layouts {

inline void compileTypeSeeds(int argc, char** argv) {
  const char* const source = R"code(
struct Opaque;
namespace n {
struct Base { long count; int id; };
struct Left : virtual Base { long l; };
struct Right : virtual Base { virtual void f(); long r; };
struct Both : Left, Right { unsigned a : 3, b : 7; union { int i; struct { char x, y; }; }; Opaque* o; };
template <typename T, int N> struct Pool { T items[N][2]; typedef struct { T first; } Inner; Inner inner; T tail[]; };
enum class Color : short { red };
struct All { const volatile Both* both; Color color; int Base::*member; void (*call)(Both&, ...); Both&& moved; };
void Right::f() {}
}
n::Both both;
n::Pool<n::Base, 4> pool;
long work(n::All* all) { struct Local { int a; } local{all->both->a}; n::Both* inner = &both; return local.a + inner->id; }
)code";
  const std::string common = "-O1 -shared -fno-exceptions -fno-rtti ";
  compileSeeds(
      argc, argv, source,
      {common + "-gdwarf-4", common + "-gdwarf-5", common + "-gdwarf-4 -fdebug-types-section",
       common + "-gdwarf-3", common + "-gdwarf-5 -fdebug-types-section",
       common + "-gdwarf-4 -c -fdebug-types-section", common + "-gdwarf-5 -c -fdebug-types-section -gz=zlib"},
      {common + "-gdwarf-4 -gsimple-template-names"});
}

}  // namespace cacheline::layouts
