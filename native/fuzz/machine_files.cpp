// libFuzzer over the texts that /proc has of processes. Whatever they say, times and pages stay within what a
// machine can have, and a shell reads a quoted word as one word.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "machine/conclusion.h"
#include "machine/node_memory.h"
#include "machine/task_files.h"

using namespace cacheline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// How many words of a line without expansions a POSIX shell sees; -1 where a quote is left open.
int wordsOf(std::string_view line) {
  int words = 0;
  bool inWord = false, quoted = false;
  for (size_t i = 0; i < line.size(); i++) {
    if (line[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted && line[i] == '\\') {
      i++;
    } else if (!quoted && line[i] == ' ') {
      inWord = false;
      continue;
    }
    if (!inWord) words++;
    inWord = true;
  }
  return quoted ? -1 : words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& [node, kinds] : machine::parseNumaMaps(text.substr(0, text.find('\n')), 4096))
    require(machine::bytesOf(kinds) <= uint64_t{1} << 57);
  machine::parseNumaMaps(text, 4096);
  if (const auto stat = machine::parseTaskStat(text)) {
    require(text.find("(" + stat->name + ")") != std::string_view::npos);
    require(stat->cpuNs <= UINT64_MAX / 2);
  }
  machine::parseSchedstat(text);
  const std::string word(text);
  require(wordsOf(machine::shellLine({word, "b", word})) == 3);
  return 0;
}
