// Seeds for the fuzzers that read binaries: small objects with debug information, compiled when the corpus is
// empty.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cacheline {

/// Compiles `source` (C++) with gcc and clang and each of `flags` into the corpus folder, the last argument
/// of a libFuzzer program that is no option, where it is an empty folder. Without objects to start from a
/// mutator never gets past the ELF magic. Aborts where a compiler fails.
inline void compileSeeds(int argc, char** argv, const char* source, const std::vector<std::string>& flags,
                         const std::vector<std::string>& flagsOfClang = {}) {
  namespace fs = std::filesystem;
  const std::string corpus = argc > 1 ? argv[argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !fs::is_directory(corpus) || !fs::is_empty(corpus)) return;
  std::string scratch = (fs::temp_directory_path() / "cacheline-seeds-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) std::abort();
  const std::string file = scratch + "/seed.cpp";
  std::ofstream(file) << source;
  size_t made = 0;
  const auto compile = [&](const std::string& compiler, const std::string& options) {
    const std::string object = corpus + "/" + std::to_string(made++) + ".so";
    const std::string command = compiler + " -w -nostdlib -fPIC " + options + " -o " + object + " " + file;
    if (std::system(command.c_str()) != 0) std::abort();
  };
  for (const std::string& options : flags)
    for (const char* compiler : {"c++", "clang++"}) compile(compiler, options);
  for (const std::string& options : flagsOfClang) compile("clang++", options);
  fs::remove_all(scratch);
}

}  // namespace cacheline
