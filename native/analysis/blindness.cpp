// Sums of what could not be seen, in words and by place.
#include "analysis/blindness.h"

#include <algorithm>
#include <tuple>

#include "analysis/code_names.h"

namespace cacheline::analysis {

namespace {

constexpr size_t kNamedPlaces = 64;  // of these, those of one source line become one
constexpr size_t kListedPlaces = 10;

std::string generatedText(const Backing& backing, const char* runtime) {
  if (backing.name == "[vdso]" || backing.name == "[vsyscall]") return "the kernel's vdso";
  return std::string("code that no file backs (") +
         (runtime != nullptr ? std::string("JIT: ") + runtime : "generated at run time") + ")";
}

double shareOf(uint64_t samples, uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(samples) / static_cast<double>(all);
}

}  // namespace

const char* unseenReasonName(UnseenReason reason) {
  switch (reason) {
    case UnseenReason::kernel:
      return "kernel";
    case UnseenReason::noInstruction:
      return "noInstruction";
    case UnseenReason::clobbered:
      return "clobbered";
    case UnseenReason::unmapped:
      return "unmapped";
    case UnseenReason::lost:
      return "lost";
  }
  return "";
}

std::optional<Blind> blindOf(std::vector<UnseenSum> sums, uint64_t all) {
  std::erase_if(sums, [](const UnseenSum& sum) { return sum.samples == 0; });
  std::stable_sort(sums.begin(), sums.end(),
                   [](const UnseenSum& a, const UnseenSum& b) { return a.samples > b.samples; });
  Blind blind;
  uint64_t samples = 0;
  for (UnseenSum& sum : sums) {
    samples += sum.samples;
    blind.reasons.push_back({sum.reason, std::move(sum.what), shareOf(sum.samples, all)});
  }
  blind.share = shareOf(samples, all);
  if (blind.share < kBlindShare) return {};
  return blind;
}

class UnseenSummary {
 public:
  UnseenSummary(const UnseenSamples& unseen, const Attribution& locations, Binaries& binaries,
                const Timeline& timeline, uint64_t all)
      : unseen_(unseen), locations_(locations), binaries_(binaries), timeline_(timeline), all_(all) {}

  std::vector<UnseenSum> sums() {
    std::vector<UnseenSum> list = {
        {UnseenReason::noInstruction, "code whose registers were not recorded", unseen_.withoutRegisters_},
        {UnseenReason::noInstruction, "code in no known mapping", unseen_.outsideMappings_},
        {UnseenReason::clobbered, "code after an access whose address register was overwritten",
         total(UnseenReason::clobbered)},
        {UnseenReason::unmapped, "accesses to addresses in no known mapping", total(UnseenReason::unmapped)}};
    std::map<std::string, uint64_t> generated;
    for (const auto& [key, samples] : unseen_.withoutFile_)
      generated[generatedText(timeline_.backing(key.first), key.second)] += samples;
    for (const auto& [what, samples] : generated)
      list.push_back({UnseenReason::noInstruction, what, samples});
    addUndecoded(list);
    return list;
  }

  std::vector<UnseenPlace> places() {
    std::vector<UnseenPlace> list = placesOfSites();
    std::map<uint32_t, uint64_t> generated;
    for (const auto& [key, samples] : unseen_.withoutFile_) generated[key.first] += samples;
    for (const auto& [backing, samples] : generated) {
      CodeName name;
      name.object = timeline_.backing(backing).name;
      name.why = Unnamed::generated;
      UnseenPlace& place = list.emplace_back();
      place.reason = UnseenReason::noInstruction;
      place.code = std::make_shared<const CodeName>(std::move(name));
      place.samples = samples;
    }
    sort(list);
    if (list.size() > kListedPlaces) list.resize(kListedPlaces);
    for (UnseenPlace& place : list) place.share = shareOf(place.samples, all_);
    return list;
  }

 private:
  const std::vector<uint64_t>& counts(UnseenReason reason) const {
    return unseen_.bySite_[static_cast<size_t>(reason)];
  }
  uint64_t total(UnseenReason reason) const {
    uint64_t samples = 0;
    for (const uint64_t count : counts(reason)) samples += count;
    return samples;
  }
  bool isRead(uint32_t binary) { return binaries_.codeImage(binary) != nullptr; }

  std::string unreadText(uint32_t binary, size_t others) {
    const symbols::ModuleStatus status = binaries_.module(binary).status();
    const bool named = status == symbols::ModuleStatus::missing || status == symbols::ModuleStatus::changed;
    const char* const why = named ? symbols::moduleStatusName(status) : "it has no code that can be decoded";
    std::string text = "code of " + binaries_.baseName(binary) + " (" + why + ")";
    if (others > 0)
      text += " and " + std::to_string(others) + (others == 1 ? " other binary" : " other binaries") +
              " that cannot be read";
    return text;
  }

  void addUndecoded(std::vector<UnseenSum>& list) {
    std::map<uint32_t, uint64_t> unread;  // by binary
    uint64_t undecoded = 0, sum = 0;
    const std::vector<uint64_t>& bySite = counts(UnseenReason::noInstruction);
    for (uint32_t location = 0; location < bySite.size(); ++location) {
      if (bySite[location] == 0) continue;
      const uint32_t binary = locations_[location].binary;
      (isRead(binary) ? undecoded : unread[binary]) += bySite[location];
    }
    list.push_back({UnseenReason::noInstruction, "code that cannot be decoded", undecoded});
    if (unread.empty()) return;
    const auto most = std::max_element(unread.begin(), unread.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [binary, samples] : unread) sum += samples;
    list.push_back({UnseenReason::noInstruction, unreadText(most->first, unread.size() - 1), sum});
  }

  static void sort(std::vector<UnseenPlace>& list) {
    std::sort(list.begin(), list.end(), [](const UnseenPlace& a, const UnseenPlace& b) {
      if (a.samples != b.samples) return a.samples > b.samples;
      return std::tie(a.elfAddress, a.code->object, a.reason) <
             std::tie(b.elfAddress, b.code->object, b.reason);
    });
  }

  /// Of accesses, and of binaries that cannot be read.
  std::vector<UnseenPlace> placesOfSites() {
    struct Key {
      UnseenReason reason;
      uint32_t binary;
      uint64_t elfAddress;
      auto operator<=>(const Key&) const = default;
    };
    struct Sum {
      uint64_t samples = 0;
      uint32_t location = 0;
    };
    std::map<Key, Sum> sums;
    for (const UnseenReason reason :
         {UnseenReason::noInstruction, UnseenReason::clobbered, UnseenReason::unmapped}) {
      const std::vector<uint64_t>& bySite = counts(reason);
      for (uint32_t location = 0; location < bySite.size(); ++location) {
        if (bySite[location] == 0) continue;
        const CodeLocation& known = locations_[location];
        Sum& sum = sums[{reason, known.binary, isRead(known.binary) ? known.plan.codeAddress : 0}];
        sum.samples += bySite[location];
        sum.location = location;
      }
    }
    std::vector<std::pair<Key, Sum>> most(sums.begin(), sums.end());
    std::stable_sort(most.begin(), most.end(),
                     [](const auto& a, const auto& b) { return a.second.samples > b.second.samples; });
    if (most.size() > kNamedPlaces) most.resize(kNamedPlaces);
    return merged(most);
  }

  template <typename Most>
  std::vector<UnseenPlace> merged(const Most& most) {
    CodeNames names(binaries_);
    using SourceLine = std::tuple<UnseenReason, std::string, std::string, std::string, uint32_t, uint64_t>;
    std::map<SourceLine, size_t> index;
    std::vector<UnseenPlace> list;
    for (const auto& [key, sum] : most) {
      const SharedName code =
          key.elfAddress == 0 ? names.atOffset(key.binary, 0) : names.at(key.binary, key.elfAddress);
      // What has no source line stays apart.
      const uint64_t apart = code->line == 0 ? key.elfAddress : 0;
      const auto [it, added] = index.try_emplace(
          {key.reason, code->object, code->symbol, code->file, code->line, apart}, list.size());
      if (added) {
        UnseenPlace& place = list.emplace_back();
        place.reason = key.reason;
        place.code = code;
        place.elfAddress = key.elfAddress;
        if (key.elfAddress != 0) place.codeAddress = locations_[sum.location].codeAddress;
      }
      list[it->second].samples += sum.samples;
    }
    return list;
  }

  const UnseenSamples& unseen_;
  const Attribution& locations_;
  Binaries& binaries_;
  const Timeline& timeline_;
  const uint64_t all_;
};

void addUnseen(const UnseenSamples& unseen, const Attribution& locations, Binaries& binaries,
               const Timeline& timeline, uint64_t lost, Report& report) {
  const uint64_t all = report.samples + lost;
  UnseenSummary summary(unseen, locations, binaries, timeline, all);
  std::vector<UnseenSum> sums = summary.sums();
  sums.push_back({UnseenReason::kernel, "the kernel, whose accesses this recording does not know",
                  report.unattributed.kernel});
  sums.push_back({UnseenReason::lost, kLostSamples, lost});
  report.blind = blindOf(std::move(sums), all);
  report.unseen = summary.places();
}

}  // namespace cacheline::analysis
