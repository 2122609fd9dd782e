// Recordings by the installed perf in the forms it can write: through a pipe, compressed, a file a thread.
// What `perf report -D` counts, the reader counts; what `perf script` prints, it delivers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "base/error.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

const char* const kProgram = "sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; ls / >/dev/null'";

/// The totals that perf prints: "SAMPLE" -> 117, ...
std::map<std::string, uint64_t> countsOfPerf(const std::string& file) {
  const auto [text, status] =
      runShell("perf report -D --stats -i " + file + " 2>/dev/null | sed -n '/^Aggregated stats/,$p'");
  EXPECT_EQ(status, 0);
  std::map<std::string, uint64_t> counts;
  std::istringstream lines(text.substr(0, text.find("stats:", text.find("stats:") + 1)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, events;
    uint64_t count = 0;
    if (words >> name >> events >> count && events == "events:") counts[name] = count;
  }
  return counts;
}

const std::map<std::string, uint32_t> kTypes = {{"MMAP", PERF_RECORD_MMAP},
                                                {"COMM", PERF_RECORD_COMM},
                                                {"EXIT", PERF_RECORD_EXIT},
                                                {"FORK", PERF_RECORD_FORK},
                                                {"SAMPLE", PERF_RECORD_SAMPLE},
                                                {"MMAP2", PERF_RECORD_MMAP2},
                                                {"KSYMBOL", PERF_RECORD_KSYMBOL},
                                                {"ATTR", kRecordHeaderAttr},
                                                {"FINISHED_ROUND", kRecordFinishedRound},
                                                {"ID_INDEX", kRecordIdIndex},
                                                {"THREAD_MAP", kRecordThreadMap},
                                                {"CPU_MAP", kRecordCpuMap},
                                                {"EVENT_UPDATE", kRecordEventUpdate},
                                                {"TIME_CONV", kRecordTimeConv},
                                                {"FEATURE", kRecordHeaderFeature},
                                                {"COMPRESSED", kRecordCompressed},
                                                {"FINISHED_INIT", kRecordFinishedInit}};

class PerfForms : public ::testing::Test {
 protected:
  void SetUp() override { CACHELINE_NEEDS_PERF(); }

  /// Records with `options` and compares. `needed`: a record type without which this proves nothing.
  void expectSame(const std::string& options, const std::string& path, uint32_t needed) {
    const auto [output, status] =
        runShell("perf record " + options + " -- " + kProgram + " > " + (folder_ / "out"));
    if (status != 0) GTEST_SKIP() << "perf cannot record this here: " << output;
    const auto reader = Reader::open(path);
    Collector got;
    reader->readAll(got);
    EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
    EXPECT_FALSE(reader->features().hostname.empty());
    EXPECT_FALSE(reader->features().cpuPlaces.empty());
    EXPECT_NE(reader->events().at(0).name.find("cpu-clock"), std::string::npos) << reader->events()[0].name;
    if (needed != 0) {
      EXPECT_GT(reader->recordCounts()[needed], 0u);
    }
    size_t compared = 0;
    for (const auto& [name, count] : countsOfPerf(path)) {
      const auto type = kTypes.find(name);
      if (type == kTypes.end()) continue;
      EXPECT_EQ(reader->recordCounts()[type->second], count) << name;
      ++compared;
    }
    EXPECT_GE(compared, 5u);

    std::ostringstream ours;
    for (const auto& s : got.samples)
      ours << static_cast<int32_t>(s.tid) << ' ' << std::hex << s.ip << std::dec << ' ' << s.time << '\n';
    const auto [theirs, scripted] =
        runShell("perf script --ns -G -F tid,time,ip -i " + path +
                 " 2>/dev/null | sed -E 's/^ *(-?[0-9]+) +([0-9]+)\\.([0-9]+): +([0-9a-f]+).*/"
                 "\\1 \\4 \\2\\3/; s/ 0+([0-9]+)$/ \\1/'");
    EXPECT_EQ(scripted, 0);
    EXPECT_GT(got.samples.size(), 0u);
    EXPECT_EQ(ours.str(), theirs);
  }

  TempFolder folder_;
};

TEST_F(PerfForms, APipe) {
  expectSame("-e cpu-clock -o -", folder_ / "out", kRecordHeaderAttr);
}

TEST_F(PerfForms, APipeOfTwoEvents) {
  expectSame("-e cpu-clock,task-clock -g -d -o -", folder_ / "out", kRecordHeaderAttr);
}

TEST_F(PerfForms, ACompressedFile) {
  expectSame("-e cpu-clock -z -o " + (folder_ / "z"), folder_ / "z", kRecordCompressed);
  if (IsSkipped() || HasFailure()) return;
  const auto compression = Reader::open(folder_ / "z")->features().compression;
  ASSERT_TRUE(compression.has_value());
  EXPECT_EQ(compression->level, 1u);
}

TEST_F(PerfForms, AFileCompressedAsFarAsItGoes) {
  expectSame("-e cpu-clock -g -F 5000 -z22 -o " + (folder_ / "z"), folder_ / "z", kRecordCompressed);
}

TEST_F(PerfForms, AFileAThread) {
  expectSame("-e cpu-clock --threads -a -o " + (folder_ / "t"), folder_ / "t", 0);
}

TEST_F(PerfForms, AFileOfAllCpusInOneThread) {
  expectSame("-e cpu-clock --threads=package -F 5000 -a -o " + (folder_ / "t"), folder_ / "t", 0);
}

TEST_F(PerfForms, ACompressedFileAThread) {
  expectSame("-e cpu-clock -z --threads -a -o " + (folder_ / "t"), folder_ / "t", kRecordCompressed);
}

TEST_F(PerfForms, CutAnywhereIsNeverSilent) {
  for (const std::string options : {"-o -", "-z -o FILE"}) {
    const std::string file = folder_ / (options == "-o -" ? "pipe" : "file");
    std::string command = "perf record -e cpu-clock -F 5000 " + options + " -- " + kProgram;
    if (const size_t at = command.find("FILE"); at != std::string::npos) command.replace(at, 4, file);
    if (options == "-o -") command += " > " + file;
    if (runShell(command).second != 0) GTEST_SKIP() << "perf cannot record this here";
    const auto bytes = readBytes(file);
    const size_t step = std::max<size_t>(997, bytes.size() / 53);
    for (size_t size = 16; size < bytes.size(); size += step) {
      try {
        const auto reader = Reader::fromBytes({bytes.data(), size}, "FILE");
        RecordVisitor nobody;
        reader->readAll(nobody);
        EXPECT_FALSE(reader->warnings().empty()) << options << " cut at " << size;
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace cacheline::perfdata::testing
