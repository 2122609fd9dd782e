// Hits get their objects, functions and members.
#include "traces/trace.h"

#include <algorithm>
#include <map>

#include "analysis/code_names.h"
#include "analysis/recording.h"
#include "analysis/timeline.h"
#include "analysis/trapped_code.h"
#include "analysis/typed_binaries.h"
#include "analysis/watch_log.h"
#include "base/error.h"
#include "heap/allocator_frames.h"
#include "perfdata/reader.h"
#include "types/field_path.h"

namespace cacheline::traces {
namespace {

constexpr const char* kUnknownFunction = "(unknown)";

StepKind kindOf(const std::optional<decode::TrappedAccess>& access) {
  if (!access || !access->kind) return StepKind::unknown;
  switch (*access->kind) {
    case decode::AccessKind::read:
      return StepKind::read;
    case decode::AccessKind::write:
      return StepKind::write;
    case decode::AccessKind::readWrite:
      return StepKind::readWrite;
  }
  return StepKind::unknown;
}

/// `slots[2].count` -> `slots[].count`: which element it is differs from object to object.
std::string withoutIndices(const std::string& path) {
  std::string text;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) text += c;
    if (c == '[') inside = true;
  }
  return text;
}

/// Of inlined functions the innermost that is the program's own; else the one that a debugger would show.
std::string functionOf(const analysis::CodeName& name) {
  for (const symbols::SourceFrame& frame : name.inlined)
    if (heap::frameKind(frame.function, frame.file, name.object) == heap::FrameKind::program)
      return frame.function;
  if (!name.symbol.empty()) return name.symbol;
  return name.object.empty() ? kUnknownFunction : name.object;
}

class Namer {
 public:
  Namer(const RecordedTrace& recorded, const analysis::Timeline& timeline, analysis::Binaries& binaries,
        const analysis::WatchLog& log)
      : recorded_(recorded),
        timeline_(timeline),
        binaries_(binaries),
        log_(log),
        spaces_(timeline),
        decoder_(timeline, binaries),
        names_(binaries),
        typed_(binaries) {}

  TracedLife lifeOf(const RecordedObject& object, std::span<const analysis::WatchTrap> traps) {
    TracedLife life;
    life.variable = !object.allocated.has_value();
    life.truncated = !object.cut.empty();
    life.words = object.words;
    if (object.allocated) {
      life.allocatedIn = originOf(object.pid, *object.allocated);
      life.cpu = object.allocated->cpu;
    }
    const uint64_t end = object.freed ? object.freed->ns : object.end;
    for (const analysis::WatchTrap& trap : traps)
      if (trap.pid == object.pid && trap.time >= object.start && trap.time <= end) add(object, trap, life);
    if (object.freed)
      life.freed = {originOf(object.pid, *object.freed), object.freed->cpu,
                    object.freed->ns - std::min(object.freed->ns, object.start)};
    return life;
  }

 private:
  void add(const RecordedObject& object, const analysis::WatchTrap& trap, TracedLife& life) {
    const auto word = std::ranges::find_if(object.words, [&](uint32_t index) {
      return object.address + recorded_.words[index].offset == trap.address;
    });
    if (word == object.words.end()) return;
    const TypeWord& watched = recorded_.words[*word];
    const analysis::AddressSpace& space = spaces_.at(trap.pid, {trap.time, perfdata::Moment::kNowhere});
    const analysis::TrappedCode* code = decoder_.codeOf(space, trap);
    const auto access = decoder_.accessOf(log_, trap, code, watched.length);
    ObjectAccess step;
    step.kind = kindOf(access);
    step.word = *word;
    step.cpu = trap.cpu;
    step.ns = trap.time - object.start;
    step.function = kUnknownFunction;
    if (code != nullptr && code->binary != analysis::kNone) {
      const uint64_t address = access ? access->codeAddress : code->elfIp - 1;
      step.function =
          code->known ? functionOf(*names_.at(code->binary, address)) : binaries_.baseName(code->binary);
    }
    uint64_t offset = watched.offset;
    uint32_t width = watched.length;
    if (access && access->address && *access->address >= object.address) {
      offset = *access->address - object.address;
      width = std::max(access->width, 1u);
    }
    step.members = membersAt(offset, width);
    life.accesses.push_back(std::move(step));
  }

  /// The innermost function of the program; else the outermost that is known.
  std::string originOf(uint32_t pid, const RecordedAct& act) {
    std::string origin = kUnknownFunction;
    const analysis::AddressSpace& space = spaces_.at(pid, {act.ns, perfdata::Moment::kNowhere});
    for (const uint64_t frame : act.frames) {
      const analysis::Mapping* mapping = space.find(frame - 1, space.codeHint);
      if (mapping == nullptr) continue;
      const uint32_t binary = binaries_.of(timeline_.backing(mapping->backing));
      if (binary == analysis::kNone) continue;
      const analysis::SharedName name = names_.atOffset(binary, mapping->fileOffset(frame - 1));
      for (const symbols::SourceFrame& inlined : name->inlined)
        if (isProgram(inlined.function, inlined.file, name->object)) return inlined.function;
      if (name->inlined.empty() && isProgram(name->symbol, name->file, name->object)) return name->symbol;
      if (!name->symbol.empty()) origin = name->symbol;
    }
    return origin;
  }

  static bool isProgram(const std::string& function, const std::string& file, const std::string& object) {
    return !function.empty() && heap::frameKind(function, file, object) == heap::FrameKind::program;
  }

  const std::vector<TracedMember>& membersAt(uint64_t offset, uint32_t width) {
    const auto [it, isNew] = members_.try_emplace({offset, width});
    if (!isNew) return it->second;
    findType();
    std::vector<types::FieldPath> fields;
    if (type_ != types::kNoType)
      for (uint64_t at = offset; at < offset + width;) {
        std::vector<types::FieldPath> here =
            types::fieldsAt(typed_.table(binary_), type_, at, static_cast<uint32_t>(offset + width - at));
        uint64_t next = at + 1;
        for (types::FieldPath& field : here) {
          next = std::max(next, field.offset + field.size);
          fields.push_back(std::move(field));
        }
        at = next;
      }
    for (const types::FieldPath& field : fields) {
      TracedMember member{field.offset, withoutIndices(field.path)};
      if (member.name.empty()) continue;
      const auto known = std::ranges::find(it->second, member.name, &TracedMember::name);
      if (known == it->second.end()) it->second.push_back(firstOf(std::move(member)));
    }
    if (it->second.empty()) it->second.push_back({offset, "byte " + std::to_string(offset)});
    return it->second;
  }

  /// All elements of an array are one member, at the place of the first one that was seen.
  TracedMember firstOf(TracedMember member) {
    member.offset = offsets_.try_emplace(member.name, member.offset).first->second;
    return member;
  }

  /// In the binary of the recording that defines it.
  void findType() {
    if (looked_) return;
    looked_ = true;
    std::set<std::string> seen;
    for (const RecordedObject& object : recorded_.objects) {
      const analysis::AddressSpace& space =
          spaces_.at(object.pid, {object.start, perfdata::Moment::kNowhere});
      std::vector<uint32_t> candidates;
      if (space.program != analysis::kNone) candidates.push_back(space.program);
      if (object.allocated)
        for (const uint64_t frame : object.allocated->frames)
          if (const analysis::Mapping* mapping = space.mappings->find(frame - 1))
            candidates.push_back(mapping->backing);
      for (const uint32_t backing : candidates) {
        const uint32_t binary = binaries_.of(timeline_.backing(backing));
        if (binary == analysis::kNone || !seen.insert(binaries_.path(binary)).second ||
            !typed_.described(binary))
          continue;
        const std::vector<types::TypeId> named = typed_.types(binary).named(recorded_.type);
        if (named.empty()) continue;
        binary_ = binary;
        type_ = typed_.table(binary).strip(named.front());
        return;
      }
    }
  }

  const RecordedTrace& recorded_;
  const analysis::Timeline& timeline_;
  analysis::Binaries& binaries_;
  const analysis::WatchLog& log_;
  analysis::AddressSpaces spaces_;
  analysis::TrapDecoder decoder_;
  analysis::CodeNames names_;
  analysis::TypedBinaries typed_;
  bool looked_ = false;
  uint32_t binary_ = analysis::kNone;
  types::TypeId type_ = types::kNoType;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<TracedMember>> members_;
  std::map<std::string, uint64_t> offsets_;
};

}  // namespace

Trace traceOf(const std::string& path) {
  const analysis::Recording recording = analysis::openRecording(path);
  const RecordedTrace recorded = readTrace(recording.folder);
  Trace trace;
  trace.type = recorded.type;
  trace.member = recorded.member;
  trace.instances = recorded.objects.size();
  trace.warnings = recorded.warnings;
  if (recorded.elapsedNs && recorded.costNs && *recorded.elapsedNs > 0)
    trace.overhead = static_cast<double>(*recorded.costNs) / static_cast<double>(*recorded.elapsedNs);
  const auto log = analysis::WatchLog::open(recording.folder);
  if (!log) return trace;  // nothing was followed
  trace.warnings.insert(trace.warnings.end(), log->warnings.begin(), log->warnings.end());

  const auto reader = perfdata::Reader::open(recording.perfData);
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  analysis::Binaries binaries(reader->features(), recording.meta);
  Namer namer(recorded, timeline, binaries, *log);
  std::vector<TracedLife> lives;
  for (const RecordedObject& object : recorded.objects) {
    const auto first = std::ranges::lower_bound(log->traps, object.start, {}, &analysis::WatchTrap::time);
    const auto last = std::ranges::upper_bound(log->traps, object.end, {}, &analysis::WatchTrap::time);
    lives.push_back(namer.lifeOf(object, {first, std::max(first, last)}));
    trace.accesses += lives.back().accesses.size();
    if (lives.back().truncated) ++trace.truncated;
  }
  trace.paths = pathsOf(lives);
  return trace;
}

}  // namespace cacheline::traces
