// Reading of looks, and who called.
#include "scheduling/lock_waits.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string_view>

#include "analysis/code_names.h"
#include "analysis/own_place.h"
#include "analysis/unwinder.h"

namespace cacheline::scheduling {
namespace {

constexpr size_t kMostFrames = 12;
/// Frames from the system call out in which the function that takes the lock is looked for: its own helpers
/// lie before it. Further out somebody may hold a lock and wait for something else.
constexpr size_t kMostInner = 4;

std::optional<uint64_t> hexOf(const rapidjson::Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return std::nullopt;
  const std::string_view text(found->value.GetString(), found->value.GetStringLength());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<uint32_t> numberOf(const rapidjson::Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsUint()) return std::nullopt;
  return found->value.GetUint();
}

struct BlockedStack {
  uint32_t pid = 0, tid = 0;
  uint64_t ip = 0, sp = 0;
  std::vector<uint8_t> bytes;
  std::vector<LockLook> looks;
};

/// A line of the file; empty: it is none.
std::optional<BlockedStack> parse(const std::string& line) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
  if (document.HasParseError() || !document.IsObject()) return std::nullopt;
  const auto pid = numberOf(document, "pid"), tid = numberOf(document, "tid");
  const auto ip = hexOf(document, "ip"), sp = hexOf(document, "sp");
  const auto stack = document.FindMember("stack"), looks = document.FindMember("looks");
  if (!pid || !tid || !ip || !sp || stack == document.MemberEnd() || !stack->value.IsString() ||
      looks == document.MemberEnd() || !looks->value.IsArray())
    return std::nullopt;
  BlockedStack blocked{*pid, *tid, *ip, *sp, {}, {}};
  const std::string_view hex(stack->value.GetString(), stack->value.GetStringLength());
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    if (std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16).ptr != hex.data() + i + 2)
      return std::nullopt;
    blocked.bytes.push_back(byte);
  }
  const auto times = looks->value.GetArray();
  for (rapidjson::SizeType i = 0; i + 1 < times.Size(); i += 2) {
    if (!times[i].IsUint64() || !times[i + 1].IsUint64()) return std::nullopt;
    if (times[i].GetUint64() > times[i + 1].GetUint64()) return std::nullopt;
    blocked.looks.push_back({times[i].GetUint64(), times[i + 1].GetUint64(), 0});
  }
  return blocked;
}

class LockNames {
 public:
  LockNames(const analysis::Timeline& timeline, analysis::Binaries& binaries)
      : backings_(binaries, timeline), spaces_(timeline), unwinder_(binaries, backings_), names_(binaries) {}

  /// Empty: it is not proved to wait for a lock.
  std::optional<LockCall> lockOf(const BlockedStack& blocked) {
    const uint64_t time = blocked.looks.front().begin;
    const analysis::AddressSpace& space = spaces_.at(blocked.pid, {time, ~uint64_t{0}});
    Registers registers;
    for (const auto& [number, value] : {std::pair(kRegIp, blocked.ip), std::pair(kRegSp, blocked.sp)}) {
      registers.mask |= uint64_t{1} << number;
      registers.value[number] = value;
    }
    std::vector<uint64_t> addresses;
    unwinder_.unwind(space, blocked.ip, registers, blocked.bytes, kMostFrames, addresses);
    std::vector<analysis::SharedName> frames{nameAt(space, blocked.ip)};
    for (const uint64_t address : addresses) frames.push_back(nameAt(space, address - 1));
    std::optional<LockCall> call;  // of the outermost one: its helpers may be called like it
    for (size_t i = 0; i < std::min(frames.size(), kMostInner); ++i) {
      const auto [lock, isWhole] = lockIn(*frames[i]);
      if (!lock.empty()) call = LockCall{lock, callerIn(frames, isWhole ? i + 1 : i)};
    }
    return call;
  }

 private:
  analysis::SharedName nameAt(const analysis::AddressSpace& space, uint64_t address) {
    const analysis::Mapping* const code = space.find(address, space.codeHint);
    if (code == nullptr) return names_.atOffset(analysis::kNone, 0);
    return names_.atOffset(backings_.of(code->backing), code->fileOffset(address));
  }

  /// The lock function that the code is in, and whether all of the code is: it is not inlined into the
  /// program's.
  static std::pair<std::string, bool> lockIn(const analysis::CodeName& code) {
    std::string lock = lockFunction(code.symbol);
    if (!lock.empty()) return {lock, true};
    for (const symbols::SourceFrame& frame : code.inlined)
      if (lock = lockFunction(frame.function); !lock.empty()) return {lock, false};
    return {};
  }

  /// The innermost function of the program from a frame on; where the frame has no source line, its own.
  /// Empty: the stack could not be followed to it.
  static std::string callerIn(const std::vector<analysis::SharedName>& frames, size_t first) {
    for (size_t i = first; i < frames.size(); ++i) {
      const analysis::OwnCode told = analysis::ownCode(*frames[i]);
      if (!told.file->empty() && !analysis::isForeignSource(*told.file)) return *told.function;
    }
    return first < frames.size() && frames[first]->file.empty() ? frames[first]->symbol : std::string();
  }

  analysis::BackingBinaries backings_;
  analysis::AddressSpaces spaces_;
  analysis::Unwinder unwinder_;
  analysis::CodeNames names_;
};

}  // namespace

std::string lockFunction(std::string_view function) {
  // glibc has several symbols for one function, with underscores in front, and helpers with more behind.
  static constexpr std::array<std::string_view, 10> kPthread{
      "pthread_mutex_lock",         "pthread_mutex_timedlock",    "pthread_mutex_clocklock",
      "pthread_mutex_cond_lock",    "pthread_rwlock_rdlock",      "pthread_rwlock_wrlock",
      "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockrdlock",
      "pthread_rwlock_clockwrlock"};
  // Of Rust's standard library, whose path to them changes, of parking_lot, of Abseil.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kParts{{
      {"futex::Mutex", "::lock_contended"},
      {"futex::RwLock", "::read_contended"},
      {"futex::RwLock", "::write_contended"},
      {"raw_mutex::RawMutex", "::lock_slow"},
      {"raw_rwlock::RawRwLock", "::lock_"},
      {"absl::", "Mutex::LockSlow"},
  }};
  std::string_view name = function;
  while (name.starts_with('_')) name.remove_prefix(1);
  for (const std::string_view lock : kPthread)
    if (name.starts_with(lock)) return std::string(lock);
  for (const auto& [type, part] : kParts)
    if (const size_t at = function.find(type);
        at != std::string_view::npos && function.find(part, at) != std::string_view::npos)
      return std::string(function);
  return {};
}

const LockCall* LockWaits::find(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const {
  const auto found = looks.find({pid, tid});
  if (found == looks.end()) return nullptr;
  const auto look = std::ranges::lower_bound(found->second, from, {}, &LockLook::begin);
  return look != found->second.end() && look->end <= to ? &calls[look->call] : nullptr;
}

LockWaits lockWaitsIn(std::istream& lines, const analysis::Timeline& timeline, analysis::Binaries& binaries) {
  LockNames names(timeline, binaries);
  LockWaits waits;
  std::map<LockCall, uint32_t> numbers;
  for (std::string line; std::getline(lines, line);) {
    const auto blocked = parse(line);
    if (!blocked || blocked->looks.empty()) continue;
    const auto lock = names.lockOf(*blocked);
    if (!lock) continue;
    const auto [number, isNew] = numbers.try_emplace(*lock, static_cast<uint32_t>(waits.calls.size()));
    if (isNew) waits.calls.push_back(*lock);
    auto& looks = waits.looks[{blocked->pid, blocked->tid}];
    for (LockLook look : blocked->looks) {
      look.call = number->second;
      looks.push_back(look);
    }
  }
  for (auto& [thread, looks] : waits.looks) std::ranges::sort(looks);
  return waits;
}

std::optional<LockWaits> readLockWaits(const std::string& folder, const analysis::Timeline& timeline,
                                       analysis::Binaries& binaries) {
  std::ifstream file(folder + "/blocked.jsonl");
  if (folder.empty() || !file) return std::nullopt;
  return lockWaitsIn(file, timeline, binaries);
}

}  // namespace cacheline::scheduling
