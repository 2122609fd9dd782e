// Reports with histories: some threads that access members of objects in turns.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/line_history.h"
#include "analysis/report.h"
#include "analysis/verdict.h"
#include "decode/lock_step.h"

namespace cacheline::advice {

/// Where a line begins.
inline constexpr uint64_t kBase = 0x10000;

/// Eight bytes each, at their place in the list.
inline analysis::TypeHeat typeOf(const std::string& name, const std::vector<std::string>& members) {
  analysis::TypeHeat type;
  type.name = name;
  type.binary = "/bin/made";
  type.object = "made";
  type.instances = 1;
  type.layout.name = name;
  type.layout.kind = "struct";
  type.layout.size = 8 * members.size();
  type.layout.align = 8;
  type.layout.file = "/src/made.c";
  type.layout.line = 3;
  for (size_t i = 0; i < members.size(); ++i) {
    layouts::LayoutMember member;
    member.name = members[i];
    member.type = "long int";
    member.offset = 8 * i;
    member.size = 8;
    member.line = static_cast<uint32_t>(4 + i);
    type.layout.members.push_back(member);
    type.own.push_back(member);
    type.fields.push_back({.offset = member.offset, .size = 8, .field = member.name});
  }
  return type;
}

/// What one thread does to one word, `count` times, one each `step` ns from `from` on.
struct Doing {
  uint32_t thread = 0;
  uint64_t address = 0;
  bool reads = true, writes = false, locked = false;
  uint32_t count = 100;
  uint64_t function = 1;
  uint64_t from = 0, step = 1000;
  uint64_t code = 0;   ///< address of the instruction; 0: any
  bool swaps = false;  ///< by xchg, cmpxchg or bts
  bool adds = false;   ///< as to a sum
  std::shared_ptr<const decode::LockStep> lock = {};
};

/// Of an instruction that takes a lock, which its function holds from one address of code to another.
inline std::shared_ptr<const decode::LockStep> holding(uint64_t from, uint64_t to) {
  decode::LockStep step;
  step.takes = true;
  step.held = {{from, to}};
  return std::make_shared<const decode::LockStep>(std::move(step));
}

/// Clock samples on lines of 64 bytes, judged as the engine does.
class ReportBuilder {
 public:
  ReportBuilder() {
    report.evidence = {"clock"};
    report.lineSize = 64;
  }

  analysis::TypeHeat& type(const std::string& name, const std::vector<std::string>& members) {
    report.types.push_back(typeOf(name, members));
    return report.types.back();
  }
  /// An object of a type, or (`of` empty) a variable without members.
  void object(const std::string& name, uint64_t base, uint64_t size, const std::string& of) {
    objects_.push_back({name, of, base, size});
  }
  void heapObject(uint64_t base, uint64_t size, const std::string& of) {
    objects_.push_back({"", of, base, size});
  }

  const analysis::Report& build(const std::vector<Doing>& doings) {
    std::map<uint64_t, std::vector<const Doing*>> lines;
    uint32_t threads = 0;
    for (const Doing& doing : doings) {
      lines[doing.address / 64 * 64].push_back(&doing);
      threads = std::max(threads, doing.thread + 1);
      report.samples += doing.count;
    }
    report.threads.resize(threads);
    for (const Doing& doing : doings) {
      report.threads[doing.thread].tid = doing.thread;
      report.threads[doing.thread].samples += doing.count;
    }
    for (const auto& [address, here] : lines) add(address, here);
    for (const analysis::Line& line : report.lines) report.contended += line.contended;
    return report;
  }

  analysis::Report report;

 private:
  struct Object {
    std::string name, type;
    uint64_t base = 0, size = 0;
  };

  void name(uint64_t address, analysis::DataName& data) const {
    for (const Object& object : objects_) {
      if (address < object.base || address >= object.base + object.size) continue;
      const bool heap = object.name.empty();
      data.object = heap ? "[heap]" : object.name;
      data.how = heap ? analysis::How::code : analysis::How::global;
      data.offset = address - object.base;
      data.type = object.type;
      data.base = object.base;
      data.fieldOffset = data.offset;
      if (!heap) data.definition = analysis::Place{"/src/made.c", 20};
      return;
    }
    data.object = "[unknown]";
  }

  void add(uint64_t address, const std::vector<const Doing*>& doings) {
    analysis::Line line;
    line.address = address;
    line.space = "pid 1";
    auto history = std::make_shared<analysis::LineHistory>();
    analysis::LineAccesses& accesses = history->accesses;
    std::map<uint32_t, uint32_t> actors;
    struct Moment {
      uint64_t time;
      uint32_t use, actor;
    };
    std::vector<Moment> moments;
    for (uint32_t use = 0; use < doings.size(); ++use) {
      const Doing& doing = *doings[use];
      const uint32_t actor =
          actors.try_emplace(doing.thread, static_cast<uint32_t>(actors.size())).first->second;
      if (actor == accesses.actors.size()) {
        accesses.actors.emplace_back().thread = actor;
        accesses.visitors.push_back({actor, actor});
        history->actors.push_back(doing.thread);
        history->threads.push_back(doing.thread);
      }
      const auto offset = static_cast<uint32_t>(doing.address - address);
      const uint64_t code = doing.code == 0 ? 100 + use : doing.code;
      accesses.uses.push_back({offset, 8, doing.reads, doing.writes, doing.locked, code, doing.function,
                               doing.swaps, doing.adds});
      accesses.uses.back().lock = doing.lock;
      history->rows.emplace_back(use);
      const analysis::ByteMask mask = analysis::bytesFrom(offset, 8, 64);
      if (doing.reads) accesses.actors[actor].read |= mask;
      if (doing.writes) accesses.actors[actor].written |= mask;
      for (uint32_t i = 0; i < doing.count; ++i)
        moments.push_back({doing.from + doing.step * i + (389 * use) % 997, use, actor});
      analysis::Access& access = line.accesses.emplace_back();
      access.offset = offset;
      access.width = 8;
      access.records = doing.count;
      (doing.writes ? access.stores : access.loads) = doing.count;
      access.locked = doing.locked;
      access.elfAddress = code;
      access.code =
          std::make_shared<analysis::CodeName>(analysis::CodeName{.file = "/src/made.c", .line = 1});
      access.threads = {doing.thread};
      name(doing.address, access.data);
      line.records += doing.count;
    }
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.time < b.time; });
    std::vector<analysis::RunList> runs(accesses.actors.size());
    uint32_t last = ~uint32_t{0};
    for (const Moment& moment : moments) {
      accesses.samples.push_back({moment.use, moment.actor, true, 1, moment.time});
      if (moment.actor == last)
        runs[moment.actor].extend(moment.time);
      else
        runs[moment.actor].begin(moment.time);
      last = moment.actor;
    }
    for (size_t actor = 0; actor < runs.size(); ++actor) accesses.actors[actor].runs = runs[actor].runs();
    const analysis::LineVerdict verdict = analysis::judgeLine(accesses);
    line.verdict = verdict.verdict;
    if (verdict.waiting) {
      line.falseShare = verdict.waiting->line.share();
      line.words = verdict.waiting->words;
      line.causes = verdict.waiting->causes;
      for (const analysis::WaitVictim& each : verdict.waiting->victims) {
        analysis::Victim& victim = line.victims.emplace_back();
        victim.words = each.words;
        victim.contended = static_cast<uint64_t>(std::llround(each.waiting));
        victim.falseShare = each.falseShare;
      }
      line.contended = static_cast<uint64_t>(std::llround(verdict.waiting->line.waiting));
      for (size_t use = 0; use < line.accesses.size(); ++use) {
        line.accesses[use].word = verdict.waiting->wordOf[use];
        line.accesses[use].contended = static_cast<uint64_t>(std::llround(verdict.waiting->contended[use]));
        line.accesses[use].waits = verdict.waiting->uses[use];
      }
    }
    line.history = std::move(history);
    report.lines.push_back(std::move(line));
  }

  std::vector<Object> objects_;
};

}  // namespace cacheline::advice
