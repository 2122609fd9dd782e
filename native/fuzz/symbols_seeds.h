// Seeds for the fuzzers of native/symbols, a 32-bit object among them.
#pragma once

#include "fuzz/seeds.h"

namespace cacheline::symbols {

inline void compileSymbolSeeds(int argc, char** argv) {
  const char* const source = R"code(
struct C { long v; static int s; inline long add(long x) { return v += x; } };
int C::s = 2;
namespace n { long array[4]; }
static thread_local C* mine;
static inline long twice(C& c) { return c.add(1) + c.add(2); }
#ifdef __x86_64__
extern "C" void unlock(char*) {
  asm volatile("661: call *0(%rip); 662:\n"
               ".pushsection .altinstr_replacement, \"ax\"; 771: movb $0, (%rdi); 772: .popsection\n"
               ".pushsection .altinstructions, \"a\"; .long 661b - ., 771b - .; .word 0; .byte 662b - 661b, 772b - 771b; .popsection");
}
#endif
extern "C" long work(C* c) { static int calls; calls++; mine = c; return mine->add(twice(*c)) + C::s + n::array[calls & 3]; }
)code";
  compileSeeds(argc, argv, source,
               {"-O2 -gdwarf-4 -shared", "-O2 -gdwarf-5 -shared", "-O2 -gdwarf-5 -gz=zlib -shared",
                "-gdwarf-4 -O0 -shared", "-O2 -s -shared", "-O2 -m32 -g -shared", "-O2 -g -c"});
}

}  // namespace cacheline::symbols
