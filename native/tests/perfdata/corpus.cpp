// Foreign files: every file of the folder CACHELINE_CORPUS reads with the counts of its manifest, or fails
// with one clear error.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

const std::map<std::string, uint32_t> kTypes = {{"MMAP", PERF_RECORD_MMAP},
                                                {"LOST", PERF_RECORD_LOST},
                                                {"COMM", PERF_RECORD_COMM},
                                                {"EXIT", PERF_RECORD_EXIT},
                                                {"FORK", PERF_RECORD_FORK},
                                                {"SAMPLE", PERF_RECORD_SAMPLE},
                                                {"MMAP2", PERF_RECORD_MMAP2},
                                                {"LOST_SAMPLES", PERF_RECORD_LOST_SAMPLES},
                                                {"FINISHED_ROUND", kRecordFinishedRound}};

TEST(Corpus, EveryFileReadsOrFailsWithOneClearError) {
  const char* folder = std::getenv("CACHELINE_CORPUS");
  if (folder == nullptr)
    GTEST_SKIP() << "CACHELINE_CORPUS is not set: it names a folder of perf.data files with a manifest.json";
  std::ifstream in(std::string(folder) + "/manifest.json");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  rapidjson::Document manifest;
  manifest.Parse(text.c_str());
  ASSERT_TRUE(manifest.IsArray()) << folder << "/manifest.json";

  size_t read = 0, refused = 0;
  for (const auto& entry : manifest.GetArray()) {
    const std::string name = entry["name"].GetString();
    SCOPED_TRACE(name);
    const auto started = std::chrono::steady_clock::now();
    try {
      const auto reader = Reader::open(std::string(folder) + "/" + name);
      Collector got;
      reader->readAll(got);
      ++read;
      for (const std::string& warning : reader->warnings()) std::printf("%s\n", warning.c_str());
      if (entry.HasMember("records")) {
        for (const auto& record : entry["records"].GetObject()) {
          const auto type = kTypes.find(record.name.GetString());
          if (type != kTypes.end()) {
            EXPECT_EQ(reader->recordCounts()[type->second], record.value.GetUint64())
                << record.name.GetString();
          }
        }
        if (entry["records"].HasMember("SAMPLE") && reader->warnings().empty()) {
          EXPECT_EQ(got.samples.size(), entry["records"]["SAMPLE"].GetUint64());
        }
      }
    } catch (const Error& error) {
      ++refused;
      std::printf("%s\n", error.what());
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(2));
  }
  std::printf("%zu files read, %zu refused\n", read, refused);
  EXPECT_GT(read, 0u);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
