// Windows and traps to lines.
#include "analysis/watch_evidence.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

constexpr double kMillisecond = 1e6;  // ns

void insert(std::vector<uint32_t>& sorted, uint32_t value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) sorted.insert(at, value);
}

SeenAccess::Kind kindOf(const std::optional<decode::TrappedAccess>& access) {
  if (!access || !access->kind) return SeenAccess::Kind::unknown;
  switch (*access->kind) {
    case decode::AccessKind::read:
      return SeenAccess::Kind::read;
    case decode::AccessKind::write:
      return SeenAccess::Kind::write;
    case decode::AccessKind::readWrite:
      return SeenAccess::Kind::readWrite;
  }
  return SeenAccess::Kind::unknown;
}

template <typename Counts>
void countOne(Counts& counts, SeenAccess::Kind kind) {
  if (kind == SeenAccess::Kind::unknown)
    ++counts.unknown;
  else if (kind == SeenAccess::Kind::read)
    ++counts.reads;
  else
    ++counts.writes;
}

}  // namespace

WatchEvidence::WatchEvidence(const WatchLog& log, const Timeline& timeline, ThreadTable& threads,
                             LineSpaces& lineSpaces, Binaries& binaries, DataNames& names, uint32_t lineSize)
    : log_(log),
      timeline_(timeline),
      decoder_(timeline, binaries),
      threads_(threads),
      lineSpaces_(lineSpaces),
      names_(names),
      lineSize_(lineSize) {
  auto trap = log.traps.begin();
  const auto placeBefore = [&](uint64_t time) {
    for (; trap != log.traps.end() && trap->time < time; ++trap) add(*trap);
  };
  for (const WatchWindow& window : log.windows) {
    placeBefore(window.start);
    open(window);
  }
  placeBefore(~uint64_t{0});
}

/// Index of the line; `offset`: of the word in it.
uint32_t WatchEvidence::lineAt(const WatchWindow& window, uint32_t& offset) {
  const AddressSpace& space = spaces_.at(window.pid, {window.start, perfdata::Moment::kNowhere});
  const Mapping* mapping = space.mappings->find(window.address);
  const Position position = lineSpaces_.locate(space, mapping, window.address);
  offset = static_cast<uint32_t>(position.offset % lineSize_);
  const Position start{position.space, position.offset - offset};
  const auto [it, added] = lineIndex_.try_emplace(start, static_cast<uint32_t>(lines_.size()));
  if (added) {
    WatchedLine& fresh = lines_.emplace_back();
    fresh.position = start;
    fresh.address = window.address - offset;
    fresh.region = names_.regionOf(space, mapping, fresh.address);
  }
  return it->second;
}

void WatchEvidence::open(const WatchWindow& window) {
  uint32_t offset = 0;
  const uint32_t line = lineAt(window, offset);
  WatchedLine& watched = lines_[line];
  auto word = std::find_if(watched.words.begin(), watched.words.end(), [&](const ConfirmedWord& known) {
    return known.offset == offset && known.length == window.length;
  });
  const double ms = static_cast<double>(window.watchedNs) / kMillisecond;
  if (word == watched.words.end()) {
    ConfirmedWord fresh;
    fresh.offset = offset;
    fresh.length = window.length;
    fresh.name = window.name;
    word = watched.words.insert(watched.words.end(), std::move(fresh));
  }
  const auto index = static_cast<uint32_t>(word - watched.words.begin());
  // A shared line is watched in several processes at once: that time counts once.
  const auto [last, first] = lastWindow_.try_emplace(line, window.start);
  if (first || last->second != window.start) watched.watchedMs += ms;
  last.value() = window.start;
  Open& open = open_[WordKey{window.address, window.pid}];
  const bool counted = std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    const Open& other = entry.second;
    return other.line == line && other.word == index && other.start == window.start && other.end != 0;
  });
  if (!counted) word->windowMs += ms;
  open = {line, index, window.start, std::max(window.end, uint64_t{1})};
}

void WatchEvidence::add(const WatchTrap& trap) {
  const auto found = open_.find(WordKey{trap.address, trap.pid});
  if (found == open_.end() || trap.time < found->second.start || trap.time > found->second.end) return;
  const Open& open = found->second;
  const AddressSpace& space = spaces_.at(trap.pid, {trap.time, perfdata::Moment::kNowhere});
  const TrappedCode* code = decoder_.codeOf(space, trap);
  const uint32_t length = lines_[open.line].words[open.word].length;
  const std::optional<decode::TrappedAccess> access = decoder_.accessOf(log_, trap, code, length);
  count(trap, open, code, access);
}

void WatchEvidence::count(const WatchTrap& trap, const Open& open, const TrappedCode* code,
                          const std::optional<decode::TrappedAccess>& access) {
  WatchedLine& line = lines_[open.line];
  ConfirmedWord& word = line.words[open.word];
  const uint32_t lineSize = lineSize_;
  const SeenAccess::Kind kind = kindOf(access);

  WatchedRow row;
  row.offset = word.offset;
  row.binary = code == nullptr ? kNone : code->binary;
  row.elfAddress = code != nullptr && code->known ? code->elfIp : 0;
  row.codeAddress = trap.ip;
  if (access) {
    row.codeAddress = trap.ip - row.elfAddress + access->codeAddress;
    row.elfAddress = access->codeAddress;
    row.locked = access->locked;
    row.width = access->width;
    row.sure = access->kind.has_value();
    row.placed = row.sure && (access->address || row.width == word.length);
  }
  uint32_t end = word.offset + word.length;
  if (access && access->address) {
    row.exact = true;
    // What began in the line before is at this one's first byte.
    const uint64_t ahead = *access->address - (trap.address - word.offset);
    row.offset = ahead < lineSize ? static_cast<uint32_t>(ahead) : 0;
    const uint64_t reach = ahead < lineSize ? ahead + access->width : word.offset + uint64_t{word.length};
    end = static_cast<uint32_t>(std::min<uint64_t>(std::max<uint64_t>(reach, row.offset + 1), lineSize));
  }
  line.seen.push_back({open.start, trap.pid, trap.tid, row.offset, end, open.word, kind});
  countOne(word, kind);
  if (kind == SeenAccess::Kind::write || kind == SeenAccess::Kind::readWrite)
    insert(word.writers, trap.tid);
  else if (kind == SeenAccess::Kind::read)
    insert(word.readers, trap.tid);
  insert(line.threads, threads_.index(trap.pid, trap.tid));

  auto known = std::find_if(line.rows.begin(), line.rows.end(), [&](const WatchedRow& other) {
    return other.offset == row.offset && other.binary == row.binary &&
           (row.elfAddress != 0 ? other.elfAddress == row.elfAddress : other.codeAddress == row.codeAddress);
  });
  if (known == line.rows.end())
    known = line.rows.insert(line.rows.end(), std::move(row));
  else
    known->placed |= row.placed;
  countOne(known->counts, kind);
  insert(known->counts.threads, trap.tid);
}

const WatchedLine* WatchEvidence::at(const Position& position) const {
  const auto found = lineIndex_.find(position);
  return found == lineIndex_.end() ? nullptr : &lines_[found->second];
}

}  // namespace cacheline::analysis
