// libFuzzer from the bytes of a recording to its report, with data sources and without. Any bytes give a
// report, whose JSON parses and is the same by one thread and by two, or Error(unreadable), and nothing else.
#include <rapidjson/document.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "c2c/tables.h"
#include "fuzz/perfdata_seeds.h"
#include "perfdata/reader.h"
#include "sharing/analyze.h"
#include "tables/table.h"
#include "tests/synth/binary.h"
#include "tests/synth/write.h"

namespace {

using namespace cacheline;
namespace fs = std::filesystem;
using perfdata::testing::RecordBuilder;

/// The folder that recorded paths lie in: a recording's bytes name files, and those of this machine are none
/// of its.
std::string machine;

constexpr const char* kProgram = R"(
struct pair { long left, right; };
struct pair shared;
long table[64];
void left(struct pair* p) { p->left++; }
void right(struct pair* p) { __atomic_fetch_add(&p->right, 1, 5); }
long sum(long* from, int count) { long s = 0; for (int i = 0; i < count; i++) s += from[i]; return s; }
void set(long* to, int count, long value) { for (int i = 0; i < count; i++) to[i] = value; }
long globals(int i) { table[i] += shared.left; shared.right -= table[i + 1]; return table[i + 2]; }
)";

/// In `machine`, so that it is gone with it.
void compileProgram() {
  std::string folder = (fs::temp_directory_path() / "cacheline-machine-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  machine = folder;
  std::atexit([] { fs::remove_all(machine); });
  std::ofstream(machine + "/program.c") << kProgram;
  const std::string file = machine + "/program";
  if (std::system(("cc -g -O1 -w -nostdlib -shared -fPIC -o " + file + " " + file + ".c").c_str()) != 0)
    std::abort();
}

void writeMemorySeeds(const std::string& corpus, const synth::Binary& program) {
  for (const char* scenario : {"intel", "intel-aux", "amd", "powerpc", "peer", "private-file",
                               "kernel-on-user", "unmapped", "moved-code", "modes", "no-physical"}) {
    synth::Options options;
    options.scenario = scenario;
    options.output = corpus + "/" + scenario;
    options.samples = 60;
    options.lines = 3;
    options.codes = program.loads.size() + program.stores.size();
    options.cpus = 2;
    options.processes = 2;
    options.threads = 2;
    options.callchains = true;
    synth::writeRecording(options, program);
  }
}

/// Two threads whose samples alternate at the program's instructions, all registers at one line.
void writeClockSeed(const std::string& corpus, const synth::Binary& program) {
  RecordBuilder recording;
  recording.event(perfdata::testing::clockAttr(), "cpu-clock:u", {1});
  recording.thread(5, 5).at(1).comm("program", true);
  constexpr uint64_t kBase = 0x400000, kData = 0x7f0000000000;
  for (const synth::Part& part : program.parts)
    recording.mmap2({.address = kBase + part.address,
                     .length = part.length,
                     .pageOffset = part.pageOffset,
                     .protection = part.protection,
                     .file = program.path});
  recording.mmap2(
      {.address = kData, .length = 0x1000, .protection = PROT_READ | PROT_WRITE, .file = "//anon"});
  recording.fork(5, 6);
  std::vector<uint64_t> code = program.loads;
  code.insert(code.end(), program.stores.begin(), program.stores.end());
  for (uint64_t i = 0; i < 60; ++i) {
    perfdata::testing::SampleFields sample{.ip = kBase + code[i % code.size()]};
    for (uint8_t reg = 0; reg < kRegCount; ++reg) sample.registers[reg] = kData + 8 * (i % 5);
    recording.thread(5, i % 2 == 0 ? 5 : 6).cpu(i % 2).at(100 + i).sample(sample);
  }
  recording.finishedRound();
  recording.write(corpus + "/clock");
}

std::string jsonOf(const analysis::Report& report) {
  std::string json = analysis::reportJson(report);
  rapidjson::Document document;
  if (document.Parse(json.data(), json.size()).HasParseError()) std::abort();
  return json;
}

/// Whose rows add up to the report.
std::string tableText(const analysis::Report& report, const std::vector<tables::Key>& by) {
  const tables::Table table = tables::tableOf(report, by);
  if (table.samples != report.samples || table.contended != report.contended) std::abort();
  std::string json;
  for (const std::string& piece : tables::tablePieces(table)) json += piece;
  rapidjson::Document document;
  if (document.Parse(json.data(), json.size()).HasParseError()) std::abort();
  return json;
}

/// The document, where it has data sources the tables, and where it can be added up by keys what that gives.
std::string textOf(perfdata::Reader& reader, const sharing::Options& options) {
  const analysis::Report report = sharing::analyze(reader, {}, options);
  std::string text = jsonOf(report);
  const c2c::TableOptions shown{.callers = options.callers, .threads = options.threads};
  if (report.c2c)
    for (const std::string& piece : c2c::tablesText(report, shown)) text += piece;
  using tables::Key;
  static const std::vector<std::vector<Key>> kTables{
      {Key::type, Key::thread}, {Key::function}, {Key::line, Key::node}, {Key::member, Key::time}};
  if (report.splits)
    for (const std::vector<Key>& by : kTables) text += tableText(report, by);
  return text;
}

/// By the bits of one byte.
sharing::Options optionsBy(uint8_t bits) {
  sharing::Options options;
  options.symbols.symfs = machine;
  options.symbols.home.clear();
  options.symbols.debugRoots.clear();
  options.showAll = (bits & 1) != 0;
  options.callers = (bits & 2) != 0;
  options.doubleLine = (bits & 4) != 0;
  options.coalesce = {.tid = (bits & 8) != 0, .pid = (bits & 16) != 0};
  if ((bits & 32) != 0) options.display = sharing::Display::peer;
  if ((bits & 64) != 0) options.prepassLoads = 4;
  if ((bits & 128) != 0) {
    options.showAll = true;
    options.coalesce = {};
    options.splits = analysis::SplitBy{.cpus = true, .bins = 3};
  }
  options.threads = 1;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  compileProgram();
  const std::string corpus = perfdata::testing::emptyCorpus(*argc, *argv);
  perfdata::testing::writeRecordingSeeds(*argc, *argv);
  if (corpus.empty()) return 0;
  synth::Binary program = synth::readBinary(machine + "/program", 8);
  program.path = "/program";
  writeMemorySeeds(corpus, program);
  writeClockSeed(corpus, program);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  sharing::Options options = optionsBy(data[size - 1]);
  try {
    const auto reader = perfdata::Reader::fromBytes({data, size}, "fuzz");
    if (!sharing::hasDataSources(*reader)) options.display.reset();
    const std::string one = textOf(*reader, options);
    options.threads = 2;
    if (textOf(*reader, options) != one) std::abort();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unreadable) std::abort();
  }
  return 0;
}
