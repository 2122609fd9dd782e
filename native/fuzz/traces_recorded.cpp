// libFuzzer over trace.jsonl. What is read has words in range and times in order, and its paths are valid
// JSON; else it is Error(unreadable).
#include <rapidjson/document.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "traces/recorded.h"
#include "traces/trace.h"

using namespace cacheline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Each object accesses its words in turn, on CPUs that its bytes choose.
traces::TracedLife lifeOf(const traces::RecordedObject& object) {
  traces::TracedLife life;
  life.variable = !object.allocated.has_value();
  life.truncated = !object.cut.empty();
  life.words = object.words;
  for (const uint32_t word : object.words)
    life.accesses.push_back({object.variable,
                             static_cast<traces::StepKind>(word % 4),
                             {{word, object.cut}},
                             word,
                             static_cast<uint32_t>(object.address % 3),
                             object.end - object.start});
  if (object.freed) life.freed = {object.variable, object.freed->cpu, object.freed->ns};
  return life;
}

}  // namespace

/// A whole trace, where the corpus folder (the last argument that is no option) is empty.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string corpus = *argc > 1 ? (*argv)[*argc - 1] : "";
  if (corpus.empty() || corpus[0] == '-' || !std::filesystem::is_directory(corpus) ||
      !std::filesystem::is_empty(corpus))
    return 0;
  std::ofstream(corpus + "/seed")
      << R"({"type":"t","member":"","size":16,"words":[{"offset":0,"length":8},{"offset":8,"length":8}]})"
      << '\n'
      << R"({"pid":1,"address":"0x10","name":"","allocated":{"ns":1,"tid":1,"cpu":0,"frames":[1]},)"
      << R"("freed":{"ns":9,"tid":2,"cpu":1,"frames":[]},"start":1,"end":9,"words":[0,1],"hits":1,"cut":""})"
      << '\n'
      << R"({"elapsedNs":10,"costNs":1,"refused":0})" << '\n';
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const traces::RecordedTrace read = traces::parseTrace({reinterpret_cast<const char*>(data), size});
    traces::Trace trace;
    trace.type = read.type;
    std::vector<traces::TracedLife> lives;
    for (const traces::RecordedObject& object : read.objects) {
      require(object.start <= object.end);
      for (const uint32_t word : object.words) require(word < read.words.size());
      lives.push_back(lifeOf(object));
    }
    trace.paths = traces::pathsOf(lives);
    uint64_t count = 0;
    for (const traces::Path& path : trace.paths) count += path.count;
    require(count == read.objects.size());
    rapidjson::Document document;
    require(!document.Parse<rapidjson::kParseValidateEncodingFlag>(traces::traceJson(trace).c_str())
                 .HasParseError());
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::unreadable && !error.nextStep().empty());
  }
  return 0;
}
