// Reads SPE's AUXTRACE_INFO.
#include "spe/info.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace cacheline::spe {
namespace {

constexpr size_t kVersion1Words = 2;
constexpr size_t kHeaderWords = 4;   // at least, of version 2
constexpr size_t kCpuHeadWords = 3;  // magic, CPU, number of words that follow
constexpr uint64_t kCpuMagic = 0x1010101010101010;

[[noreturn]] void fail(uint64_t fileOffset, const std::string& what) {
  throw Error(ErrorKind::unreadable,
              "the SPE information at file offset " + std::to_string(fileOffset) + " " + what,
              "The recording comes from a newer perf or is damaged.");
}

}  // namespace

SpeInfo readInfo(std::span<const uint64_t> words, uint64_t fileOffset) {
  SpeInfo info;
  if (words.size() < kVersion1Words)
    fail(fileOffset, "has " + std::to_string(words.size()) + " words; 2 are the least");
  if (words.size() == kVersion1Words) {
    info.pmuType = words[0];
    return info;
  }
  if (words.size() < kHeaderWords || words[1] < kHeaderWords || words[1] > words.size())
    fail(fileOffset,
         "has a header of " + std::to_string(words[1]) + " words among " + std::to_string(words.size()));
  if (words[0] < 2 || words[0] > UINT32_MAX) fail(fileOffset, "has the version " + std::to_string(words[0]));
  info.version = static_cast<uint32_t>(words[0]);
  info.pmuType = words[2];
  const uint64_t count = words[3];
  auto rest = words.subspan(static_cast<size_t>(words[1]));
  if (count > rest.size() / kCpuHeadWords)
    fail(fileOffset, "names " + std::to_string(count) + " CPUs in " + std::to_string(rest.size()) + " words");
  for (uint64_t i = 0; i < count; ++i) {
    if (rest.size() < kCpuHeadWords || rest[0] != kCpuMagic || rest[1] > INT32_MAX ||
        rest[2] > rest.size() - kCpuHeadWords)
      fail(fileOffset, "breaks off at CPU entry " + std::to_string(i) + " of " + std::to_string(count));
    info.cpus.push_back({static_cast<uint32_t>(rest[1]), rest[2] > 0 ? rest[kCpuHeadWords] : 0});
    rest = rest.subspan(kCpuHeadWords + static_cast<size_t>(rest[2]));
  }
  std::ranges::stable_sort(info.cpus, {}, &SpeCpu::cpu);
  return info;
}

uint64_t SpeInfo::midrOf(int32_t cpu, uint64_t fallback) const {
  if (cpus.empty()) return fallback;
  if (cpu < 0) {
    const uint64_t first = cpus.front().midr;
    const bool same = std::ranges::all_of(cpus, [&](const SpeCpu& each) { return each.midr == first; });
    return same ? first : 0;
  }
  const auto found = std::ranges::lower_bound(cpus, static_cast<uint32_t>(cpu), {}, &SpeCpu::cpu);
  return found != cpus.end() && found->cpu == static_cast<uint32_t>(cpu) ? found->midr : 0;
}

}  // namespace cacheline::spe
