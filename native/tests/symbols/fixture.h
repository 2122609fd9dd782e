// Test programs compiled on the spot: sources as strings, lines found by marker comments, judges run as
// commands.
#pragma once

#include <elfutils/libdw.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_image.h"

namespace cacheline::symbols::test {

/// The deleter of libdw's handles.
struct DwarfEnd {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};

/// A folder that is removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void writeFile(const std::string& path, const std::string& content);
std::string readFile(const std::string& path);

struct CommandResult {
  int status = -1;
  std::string output;  ///< standard output; standard error goes to the test's own
};
/// Runs a shell command.
CommandResult run(const std::string& command);
/// Runs a command that must succeed, else the test fails; its standard output.
std::string mustRun(const std::string& command);
bool haveTool(const std::string& name);

/// Compiles with the compiler the tests were built with, or with `compiler`. `extension` "c" or "cpp";
/// returns the binary's path.
std::string compile(const TempDir& dir, const std::string& name, const std::string& extension,
                    const std::string& source, const std::string& flags, std::string compiler = {});

/// 1-based line of the only line of `source` with the comment `// @marker`.
uint32_t lineOf(const std::string& source, const std::string& marker);

/// Address of a symbol as `nm` would say it, found by scanning the image's own table; nullopt where there is
/// none.
std::optional<uint64_t> addressOf(const ElfImage& image, const std::string& mangledName);

/// Every sized function and object that `nm` lists is found at its address, and more than `fewest` objects
/// are.
void expectSymbolsOfNm(const std::string& binary, size_t fewest);

/// A C++ program with scopes, templates, statics and std::atomic inlined through two levels.
const std::string& scopesSource();

}  // namespace cacheline::symbols::test

/// Skips a test that needs a tool, and says what to install.
#define NEED_TOOL(tool, package) \
  if (!cacheline::symbols::test::haveTool(tool)) GTEST_SKIP() << "needs " tool ": apt-get install " package
