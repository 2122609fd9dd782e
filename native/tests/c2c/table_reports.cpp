// The rows of the reports, and lines that add them up.
#include "table_reports.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cacheline::c2c::test {

namespace {

using namespace analysis;

const std::string kSource = "/home/ada/demo/src/server.cpp";
const std::string kEvil =
    "evil\x1b]0;owned\x07\x1b[2J\u202ename\n\u200b"
    "end";

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::string kLong = "std::__detail::_Map_base<" +
                          repeated("std::pair<std::basic_string<char>, int const>, ", 12) +
                          "true>::operator[](key const&)";

/// An access by thread 1 on node 0 to memory of node 0.
Access row(uint32_t offset, uint64_t codeAddress, const std::string& symbol, const std::string& object,
           const std::string& file, uint32_t line, const MemoryCounts& counts) {
  Access access;
  access.offset = offset;
  access.codeAddress = codeAddress;
  CodeName code;
  code.symbol = symbol;
  code.object = object;
  code.file = file;
  code.line = line;
  access.code = std::make_shared<const CodeName>(std::move(code));
  access.loads = counts.localHitm + counts.remoteHitm + counts.fillBuffer + counts.l1 + counts.l2 +
                 counts.llc + counts.remoteHit + counts.localDram + counts.remoteDram;
  access.stores = counts.storeL1Hit + counts.storeL1Miss + counts.storeNa;
  access.records = access.loads + access.stores;
  access.cpus = 1;
  access.threads = access.processes = {1};
  access.nodes = {0};
  access.memory.emplace();
  access.memory->counts = counts;
  access.memory->nodes = {0};
  access.memory->physicalChanges = 1;
  access.data.object = "shared";
  return access;
}

/// A line with the sums of its rows.
Line lineOf(uint64_t address, const std::string& space, std::vector<Access> rows) {
  Line line;
  line.address = address;
  line.space = space;
  line.verdict = Verdict::falseSharing;
  line.nodes = {0};
  line.physicalChanges = 1;
  line.memory.emplace();
  for (const Access& access : rows) {
    line.records += access.records;
    line.loads += access.loads;
    line.stores += access.stores;
    const MemoryCounts& own = access.memory->counts;
    for (const auto counter :
         {&MemoryCounts::localHitm, &MemoryCounts::remoteHitm, &MemoryCounts::localPeer,
          &MemoryCounts::remotePeer, &MemoryCounts::fillBuffer, &MemoryCounts::l1, &MemoryCounts::l2,
          &MemoryCounts::llc, &MemoryCounts::remoteHit, &MemoryCounts::localDram, &MemoryCounts::remoteDram,
          &MemoryCounts::storeL1Hit, &MemoryCounts::storeL1Miss, &MemoryCounts::storeNa})
      (*line.memory).*counter += own.*counter;
    for (const uint32_t tid : access.threads)
      line.threads.push_back({1, tid, "t" + std::to_string(tid), 1, 1, true});
  }
  line.accesses = std::move(rows);
  return line;
}

Report reportOf(std::vector<Line> lines, bool hitm) {
  Report report;
  report.evidence = {hitm ? "hitm" : "peer", "latency"};
  report.hitmKnown = hitm;
  report.peerKnown = true;
  report.c2c.emplace();
  report.c2c->display = hitm ? "tot" : "peer";
  report.c2c->coalesce = {"iaddr"};
  MemoryCounts all;
  for (const Line& line : lines)
    for (const auto counter : {&MemoryCounts::localHitm, &MemoryCounts::remoteHitm, &MemoryCounts::localPeer,
                               &MemoryCounts::remotePeer})
      all.*counter += (*line.memory).*counter;
  report.stats = {{"localPeer", all.localPeer}, {"remotePeer", all.remotePeer}};
  report.stats.emplace_back("localHitm", hitm ? std::optional(all.localHitm) : std::nullopt);
  report.stats.emplace_back("remoteHitm", hitm ? std::optional(all.remoteHitm) : std::nullopt);
  report.lines = std::move(lines);
  return report;
}

}  // namespace

Report intelReport() {
  Access add = row(0, 0x40116d, "Worker::count(unsigned long)", "server", kSource, 31,
                   {.localHitm = 120,
                    .remoteHitm = 310,
                    .fillBuffer = 12,
                    .l1 = 85,
                    .llc = 4,
                    .localDram = 1,
                    .storeL1Hit = 240,
                    .storeL1Miss = 31});
  add.cpus = 3;
  add.threads = {5001, 5003};
  add.nodes = {0, 1};
  add.memory->cycles = {
      .remoteHitm = 612.4, .localHitm = 181.5, .load = 44.2, .p50 = 402, .p95 = 1216, .max = 60112};
  add.memory->nodeUse = {{0, 2, "0-1", 100, 90, 0, 0, 200}, {1, 1, "4", 20, 220, 0, 0, 71}};
  add.callers = {
      {602,
       330,
       {{0x401311, "Worker::run()", "server", kSource, 52}, {0x401400, "main", "server", kSource, 80}}},
      {201, 100, {{0x7f11c0de, "", "libc.so.6", "", 0}}}};
  Access total = row(8, 0x4011a2, "Worker::total() const", "server", kSource, 44,
                     {.localHitm = 33, .l1 = 410, .l2 = 17});
  total.threads = {5002};
  total.memory->cycles = {.localHitm = 177.8, .load = 9.1, .p50 = 7, .p95 = 190, .max = 941};
  total.memory->nodeUse = {{0, 1, "2", 33, 0, 0, 0, 0}};
  Access store = row(16, 0x4011f0, "Worker::count(unsigned long)", "server", kSource, 33,
                     {.storeL1Hit = 507, .storeL1Miss = 12, .storeNa = 3});
  store.threads = {5002};
  store.memory->cycles.emplace();
  store.memory->nodeUse = {{0, 1, "2", 0, 0, 0, 0, 522}};
  for (Access* access : {&add, &total, &store}) {
    access->processes = {5000};
    access->data.object = "counters";
    access->data.offset = access->offset;
  }
  Line counters = lineOf(0x7f0e3c0010c0, "pid 5000", {add, total, store});
  counters.flags = {"adjacent"};

  Access spin = row(56, 0xffffffff810b2c1d, "native_queued_spin_lock_slowpath", "[kernel.kallsyms]", "", 0,
                    {.localHitm = 9, .remoteHitm = 2, .l1 = 3, .storeL1Hit = 40});
  spin.threads = {5001, 5002, 5003};
  spin.processes = {5000};
  spin.cpus = 3;
  spin.nodes = {0, 1};
  spin.memory->nodes = {1};
  spin.memory->physicalChanges = 14;
  spin.memory->cycles = {
      .remoteHitm = 702, .localHitm = 204.4, .load = 31, .p50 = 210, .p95 = 740, .max = 744};
  spin.memory->nodeUse = {{0, 2, "0,2", 9, 0, 0, 0, 30}, {1, 1, "4", 0, 2, 0, 0, 10}};
  spin.data.object = "[kernel]";
  spin.data.offset = 56;
  Line lock = lineOf(0xffff9c4201a3f9c0, "kernel", {spin});
  lock.verdict = Verdict::trueSharing;
  lock.flags = {"lock"};
  lock.nodes = {1};
  lock.physicalChanges = 14;
  return reportOf({counters, lock}, true);
}

Report armReport() {
  const auto queueRow = [](uint32_t offset, const std::string& symbol, uint32_t line,
                           const MemoryCounts& counts) {
    Access access = row(offset, 0xaaaad4e00a10, symbol, "queue", "/src/queue.c", line, counts);
    access.memory->nodes.reset();
    access.memory->physicalChanges.reset();
    access.processes = {70};
    access.data.object = "queue";
    access.data.offset = offset;
    return access;
  };
  Access push =
      queueRow(0, "push", 20, {.localPeer = 300, .remotePeer = 44, .l1 = 20, .l2 = 300, .remoteHit = 44});
  push.threads = {71, 72};
  push.memory->cycles = {
      .remotePeer = 140.6, .localPeer = 71.2, .peer = 96, .load = 8.5, .p50 = 70, .p95 = 156, .max = 912};
  Access pop = queueRow(40, "pop", 33, {.l1 = 20, .storeNa = 260});
  pop.threads = {73};
  Line line = lineOf(0xaaaad4e20040, "file 00:1b:4242", {push, pop});
  line.fileOffset = 0x1040;
  line.nodes.reset();
  line.physicalChanges.reset();
  return reportOf({line}, false);
}

Report hostileReport() {
  Access evil = row(63, ~uint64_t{0}, kEvil, kEvil + ".so",
                    "/tmp/" + kEvil + "/" + repeated("deep/", 60) + "x.c", 4'000'000,
                    {.localHitm = 1'234'567'890,
                     .remoteHitm = 987'654'321,
                     .l1 = 1,
                     .storeL1Hit = 4'000'000'000,
                     .storeL1Miss = 1,
                     .storeNa = 2});
  evil.cpus = 1024;
  evil.threads.clear();
  for (uint32_t i = 0; i < 40; ++i) evil.threads.push_back(4'194'200 + i);
  evil.processes = {1, 4'194'303};
  evil.nodes = {0, 1, 2, 3, 7};
  evil.memory->nodes = {0, 3, 5, 7};
  evil.memory->physicalChanges = 123'456'789;
  evil.memory->cycles = {.remoteHitm = 65'535,
                         .localHitm = 60'000.4,
                         .load = 65'535,
                         .p50 = 60'000,
                         .p95 = 65'000,
                         .max = 65'535};
  for (const uint32_t node : evil.nodes) {
    std::string cpus = std::to_string(node);
    for (uint32_t i = 1; i < 100; ++i) cpus.append(",").append(std::to_string(node + 2 * i));
    evil.memory->nodeUse.push_back({node, 205, cpus, 1000, 1000, 0, 0, 10});
  }
  evil.callers = {{3, 1, {{1, kEvil, kEvil, kEvil, 1}}}};
  evil.data.object = kEvil;
  evil.data.offset = (uint64_t{1} << 53) - 1;
  Access longName = row(0, 0x401000, kLong, "x", "/x.cpp", 1, {.storeL1Hit = 1});
  longName.threads = {4'194'200};
  longName.data.object = kLong;
  longName.nodes.clear();
  Line line = lineOf(0xffffffffffffffc0, "file " + kEvil, {evil, longName});
  line.verdict = Verdict::mixed;
  line.flags = {"straddling", "adjacent", "mixed-use", "latent", "lock"};
  line.nodes = {0, 3, 5, 7};
  line.physicalChanges = 123'456'789;
  for (ThreadStatistics& thread : line.threads) thread.comm = kEvil;

  Access unknown = row(0, 0x401000, "", "", "", 0, {.localHitm = 1});
  unknown.data.object.clear();
  return reportOf({line, lineOf(0, "pid 1", {unknown})}, true);
}

}  // namespace cacheline::c2c::test
