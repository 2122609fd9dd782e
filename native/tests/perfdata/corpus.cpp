// Foreign files: every file of the folder CACHELINE_CORPUS reads with the counts of its manifest, or fails
// with one clear error.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

const std::map<std::string, uint32_t> kCorpusTypes = {{"0", 0},
                                                      {"MMAP", PERF_RECORD_MMAP},
                                                      {"LOST", PERF_RECORD_LOST},
                                                      {"COMM", PERF_RECORD_COMM},
                                                      {"EXIT", PERF_RECORD_EXIT},
                                                      {"THROTTLE", PERF_RECORD_THROTTLE},
                                                      {"UNTHROTTLE", PERF_RECORD_UNTHROTTLE},
                                                      {"FORK", PERF_RECORD_FORK},
                                                      {"SAMPLE", PERF_RECORD_SAMPLE},
                                                      {"MMAP2", PERF_RECORD_MMAP2},
                                                      {"AUX", PERF_RECORD_AUX},
                                                      {"ITRACE_START", PERF_RECORD_ITRACE_START},
                                                      {"LOST_SAMPLES", PERF_RECORD_LOST_SAMPLES},
                                                      {"SWITCH_CPU_WIDE", PERF_RECORD_SWITCH_CPU_WIDE},
                                                      {"NAMESPACES", PERF_RECORD_NAMESPACES},
                                                      {"KSYMBOL", PERF_RECORD_KSYMBOL},
                                                      {"BPF_EVENT", PERF_RECORD_BPF_EVENT},
                                                      {"ATTR", kRecordHeaderAttr},
                                                      {"EVENT_TYPE", kRecordHeaderEventType},
                                                      {"BUILD_ID", kRecordHeaderBuildId},
                                                      {"FINISHED_ROUND", kRecordFinishedRound},
                                                      {"ID_INDEX", kRecordIdIndex},
                                                      {"AUXTRACE_INFO", kRecordAuxtraceInfo},
                                                      {"AUXTRACE", kRecordAuxtrace},
                                                      {"THREAD_MAP", kRecordThreadMap},
                                                      {"CPU_MAP", kRecordCpuMap},
                                                      {"EVENT_UPDATE", kRecordEventUpdate},
                                                      {"TIME_CONV", kRecordTimeConv},
                                                      {"FEATURE", kRecordHeaderFeature},
                                                      {"COMPRESSED", kRecordCompressed},
                                                      {"FINISHED_INIT", kRecordFinishedInit},
                                                      {"COMPRESSED2", kRecordCompressed2}};

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
          const auto type = kCorpusTypes.find(record.name.GetString());
          ASSERT_NE(type, kCorpusTypes.end()) << record.name.GetString();
          EXPECT_EQ(reader->recordCounts()[type->second], record.value.GetUint64()) << type->first;
        }
        if (entry["records"].HasMember("SAMPLE")) {
          EXPECT_EQ(got.samples.size(), entry["records"]["SAMPLE"].GetUint64());
        }
      }
    } catch (const Error& error) {
      ++refused;
      EXPECT_NE(name.find("odd_fuzz/"), std::string::npos)
          << "only made-up files may be refused: " << error.what();
      std::printf("%s\n", error.what());
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(2));
  }
  std::printf("%zu files read, %zu refused\n", read, refused);
  EXPECT_GT(read, 0u);
}

/// Of a file that was cut at `size`: "" where it was read without a word.
std::string saidOfCut(const std::vector<uint8_t>& bytes, size_t size) {
  try {
    const auto reader = Reader::fromBytes({bytes.data(), size}, "FILE");
    RecordVisitor nobody;
    reader->readAll(nobody);
    return reader->warnings().empty() ? "" : reader->warnings().front();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    return error.what();
  }
}

TEST(Corpus, CutAnywhereIsNeverSilent) {
  const char* folder = std::getenv("CACHELINE_CORPUS");
  if (folder == nullptr)
    GTEST_SKIP() << "CACHELINE_CORPUS is not set: it names a folder of perf.data files with a manifest.json";
  size_t cuts = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file() || file.path().parent_path() == folder) continue;
    SCOPED_TRACE(file.path());
    const auto bytes = readBytes(file.path());
    const size_t step = std::max<size_t>(997, bytes.size() / 53);
    for (size_t size = 0; size < bytes.size(); size += step, ++cuts) {
      EXPECT_NE(saidOfCut(bytes, size), "") << "cut at " << size;
    }
  }
  EXPECT_GT(cuts, 100u);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
