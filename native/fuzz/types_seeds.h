// Seeds for the fuzzer of native/types: small objects with many kinds of types, compiled when the corpus is
// empty.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cacheline::types {

/// Fills the corpus folder, the last argument of a libFuzzer program that is no option, where it is empty.
inline void compileTypeSeeds(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::string corpus = argc > 1 ? argv[argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !fs::is_directory(corpus) || !fs::is_empty(corpus)) return;
  std::string scratch = (fs::temp_directory_path() / "cacheline-seeds-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) std::abort();
  const std::string source = scratch + "/seed.cpp";
  std::ofstream(source) << R"code(
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
  const char* const flags[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -fdebug-types-section", "-gdwarf-3",
                               "-gdwarf-5 -fdebug-types-section"};
  for (const char* compiler : {"c++", "clang++"})
    for (size_t i = 0; i < std::size(flags); i++) {
      const std::string object = corpus + "/" + compiler + std::to_string(i) + ".so";
      const std::string command =
          std::string(compiler) + " -w -O1 -nostdlib -shared -fPIC -fno-exceptions -fno-rtti " + flags[i] +
          (compiler[1] == 'l' && i == 0 ? " -gsimple-template-names" : "") + " -o " + object + " " + source;
      if (std::system(command.c_str()) != 0) std::abort();
    }
  fs::remove_all(scratch);
}

}  // namespace cacheline::types
