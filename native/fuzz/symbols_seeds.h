// Seeds for the fuzzers of native/symbols: small objects with debug information, a 32-bit one
// among them, compiled when the corpus is empty.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cacheline::symbols {

/// Fills the corpus folder, the last argument of a libFuzzer program that is no option, where it is an empty
/// folder. Without objects to start from a mutator never gets past the ELF magic.
inline void compileSeeds(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::string corpus = argc > 1 ? argv[argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !fs::is_directory(corpus) || !fs::is_empty(corpus)) return;
  std::string scratch = (fs::temp_directory_path() / "cacheline-seeds-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) std::abort();
  const std::string source = scratch + "/seed.cpp";
  std::ofstream(source) << R"code(
struct C { long v; static int s; inline long add(long x) { return v += x; } };
int C::s = 2;
namespace n { long array[4]; }
static inline long twice(C& c) { return c.add(1) + c.add(2); }
extern "C" long work(C* c) { static int calls; calls++; return twice(*c) + C::s + n::array[calls & 3]; }
)code";
  const char* const flags[] = {"-gdwarf-4 -shared",
                               "-gdwarf-5 -shared",
                               "-gdwarf-5 -gz=zlib -shared",
                               "-gdwarf-4 -O0 -shared",
                               "-s -shared",
                               "-m32 -g -shared",
                               "-g -c"};
  for (const char* compiler : {"c++", "clang++"})
    for (size_t i = 0; i < std::size(flags); i++) {
      const std::string object = corpus + "/" + compiler + std::to_string(i) + ".so";
      const std::string command =
          std::string(compiler) + " -O2 -nostdlib -fPIC " + flags[i] + " -o " + object + " " + source;
      if (std::system(command.c_str()) != 0) std::abort();
    }
  fs::remove_all(scratch);
}

}  // namespace cacheline::symbols
