// What the tests of perfdata share: a folder that goes away, files as bytes, a visitor that keeps everything.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "perfdata/reader.h"

namespace cacheline::perfdata::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "perfdata-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder at " + pattern);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;  // a folder left behind fails no test
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::vector<uint8_t> readBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void writeBytes(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

/// Keeps copies of everything, also of what the views point to.
class Collector : public RecordVisitor {
 public:
  struct KeptSample : Sample {
    std::vector<uint64_t> chain;
  };
  struct KeptMmap : Mmap {
    std::string path;
  };
  struct KeptComm : Comm {
    std::string text;
  };
  struct KeptKsymbol : Ksymbol {
    std::string text;
  };
  struct KeptTraceInfo : AuxtraceInfo {
    std::vector<uint64_t> words;
  };
  struct KeptTrace : Auxtrace {
    std::vector<uint8_t> content;
  };
  void onSample(const Sample& s) override {
    samples.push_back({s, {s.callchain.begin(), s.callchain.end()}});
    order.push_back({'S', s.time});
  }
  void onMmap(const Mmap& m) override {
    mmaps.push_back({m, std::string(m.file)});
    order.push_back({'M', m.time});
  }
  void onComm(const Comm& c) override {
    comms.push_back({c, std::string(c.name)});
    order.push_back({'C', c.time});
  }
  void onFork(const Task& t) override {
    forks.push_back(t);
    order.push_back({'F', t.time});
  }
  void onExit(const Task& t) override {
    exits.push_back(t);
    order.push_back({'E', t.time});
  }
  void onLost(const Lost& l) override {
    lost.push_back(l);
    order.push_back({'L', l.time});
  }
  void onKsymbol(const Ksymbol& k) override {
    ksymbols.push_back({k, std::string(k.name)});
    order.push_back({'K', k.time});
  }
  void onAux(const Aux& a) override {
    auxes.push_back(a);
    order.push_back({'A', a.time});
  }
  void onTraceStart(const TraceStart& t) override {
    traceStarts.push_back(t);
    order.push_back({'I', t.time});
  }
  void onSwitch(const Switch& s) override {
    switches.push_back(s);
    order.push_back({'W', s.time});
  }
  void onAuxtraceInfo(const AuxtraceInfo& i) override {
    traceInfos.push_back({i, {i.privateData.begin(), i.privateData.end()}});
    order.push_back({'i', 0});
  }
  void onAuxtrace(const Auxtrace& t) override {
    traces.push_back({t, {t.bytes.begin(), t.bytes.end()}});
    order.push_back({'T', 0});
  }
  void onTimeConversion(const TimeConversion& t) override {
    conversions.push_back(t);
    order.push_back({'c', 0});
  }
  std::string kinds() const {
    std::string text;
    for (const auto& [kind, time] : order) text += kind;
    return text;
  }

  std::vector<KeptSample> samples;
  std::vector<KeptMmap> mmaps;
  std::vector<KeptComm> comms;
  std::vector<Task> forks, exits;
  std::vector<Lost> lost;
  std::vector<KeptKsymbol> ksymbols;
  std::vector<Aux> auxes;
  std::vector<TraceStart> traceStarts;
  std::vector<Switch> switches;
  std::vector<KeptTraceInfo> traceInfos;
  std::vector<KeptTrace> traces;
  std::vector<TimeConversion> conversions;
  std::vector<std::pair<char, uint64_t>> order;
};

/// True where a warning contains `text`.
inline bool warns(const Reader& reader, const std::string& text) {
  for (const std::string& warning : reader.warnings()) {
    if (warning.find(text) != std::string::npos) return true;
  }
  return false;
}

/// Standard output and error of a shell command, and its exit status.
inline std::pair<std::string, int> runShell(const std::string& command) {
  FILE* pipe = ::popen(("( " + command + " ) 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  char chunk[4096];
  for (size_t n; (n = ::fread(chunk, 1, sizeof chunk, pipe)) > 0;) output.append(chunk, n);
  return {output, ::pclose(pipe)};
}

inline bool havePerf() {
  return runShell("perf --version").second == 0;
}

}  // namespace cacheline::perfdata::testing

/// In a test body: skips it, saying what to install, where there is no perf to be the judge.
#define CACHELINE_NEEDS_PERF()                     \
  if (!::cacheline::perfdata::testing::havePerf()) \
  GTEST_SKIP() << "perf is not installed (Debian: apt install linux-perf)"
