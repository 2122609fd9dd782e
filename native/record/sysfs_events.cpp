// Reading of /sys/bus/event_source/devices/PMU/{type,cpus,events,format,caps}.
#include "record/sysfs_events.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

constexpr std::array<const char*, 4> kWords{"config", "config1", "config2", "config3"};
constexpr const char* kNextStep = "Please report this kernel and CPU.";

[[noreturn]] void malformed(const std::string& source, std::string_view value, const std::string& why) {
  constexpr size_t kShown = 80;
  throw Error(ErrorKind::unreadable, source + " says '" + std::string(value.substr(0, kShown)) + "': " + why,
              kNextStep);
}

/// The text before the next comma, which is taken off.
std::string_view nextPart(std::string_view& text) {
  const size_t end = std::min(text.find(','), text.size());
  const std::string_view part = trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// Decimal, or hexadecimal after 0x.
std::optional<uint64_t> parseValue(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<size_t> wordOf(std::string_view name) {
  const auto found = std::ranges::find(kWords, name);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<size_t>(found - kWords.begin());
}

}  // namespace

std::vector<EventTerm> parseEventTerms(std::string_view text, const std::string& source) {
  std::vector<EventTerm> terms;
  std::string_view rest = trim(text);
  while (!rest.empty()) {
    const std::string_view part = nextPart(rest);
    const size_t equals = part.find('=');
    EventTerm term{std::string(trim(part.substr(0, equals)))};
    if (term.name.empty()) malformed(source, text, "a term has no name");
    if (term.name.find('/') != std::string::npos) malformed(source, text, "a name holds a slash");
    if (equals != std::string_view::npos) {
      const std::optional<uint64_t> value = parseValue(trim(part.substr(equals + 1)));
      if (!value) malformed(source, text, "the value of " + term.name + " is not a 64-bit number");
      term.value = *value;
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

TermBits parseTermBits(std::string_view text, const std::string& source) {
  TermBits result;
  const size_t colon = text.find(':');
  const std::optional<size_t> word = wordOf(trim(text.substr(0, colon)));
  if (colon == std::string_view::npos || !word) malformed(source, text, "expected config, config1, …: bits");
  result.word = *word;
  std::string_view rest = trim(text.substr(colon + 1));
  if (rest.empty()) malformed(source, text, "it names no bits");
  while (!rest.empty()) {
    const std::string_view part = nextPart(rest);
    const size_t dash = part.find('-');
    const std::optional<uint64_t> first = parseValue(part.substr(0, dash));
    const std::optional<uint64_t> last =
        dash == std::string_view::npos ? first : parseValue(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last > 63)
      malformed(source, text, "bits are 0 to 63, or ranges of them");
    for (uint64_t bit = *first; bit <= *last; bit++) result.bits.push_back(static_cast<uint8_t>(bit));
  }
  // Values are spread over the bits from the lowest on, in whatever order the file names them.
  std::ranges::sort(result.bits);
  result.bits.erase(std::unique(result.bits.begin(), result.bits.end()), result.bits.end());
  return result;
}

std::optional<SysfsPmu> SysfsPmu::find(const std::string& sysfs, const std::string& name) {
  const std::string folder = sysfs + "/bus/event_source/devices/" + name;
  const std::optional<int64_t> type = readNumber(folder + "/type");
  if (!type || *type < 0 || *type > UINT32_MAX) return std::nullopt;
  return SysfsPmu(folder, name, static_cast<uint32_t>(*type));
}

std::vector<SysfsPmu> SysfsPmu::all(const std::string& sysfs) {
  std::vector<SysfsPmu> pmus;
  for (const std::string& name : listDirectory(sysfs + "/bus/event_source/devices"))
    if (std::optional<SysfsPmu> pmu = find(sysfs, name)) pmus.push_back(std::move(*pmu));
  return pmus;
}

std::vector<uint32_t> SysfsPmu::cpus() const {
  for (const char* file : {"/cpus", "/cpumask"})
    if (const std::optional<std::string> text = readText(folder_ + file)) return parseCpuList(*text);
  return {};
}

bool SysfsPmu::hasEvent(const std::string& event) const {
  return readText(folder_ + "/events/" + event).has_value();
}

bool SysfsPmu::hasTerm(const std::string& term) const {
  return readText(folder_ + "/format/" + term).has_value();
}

std::optional<int64_t> SysfsPmu::capability(const std::string& capability) const {
  return readNumber(folder_ + "/caps/" + capability);
}

void SysfsPmu::encode(const std::vector<EventTerm>& terms, EventWords& words) const {
  for (const EventTerm& term : terms) {
    if (const std::optional<size_t> word = wordOf(term.name)) {
      words[*word] = term.value;
      continue;
    }
    const std::string source = folder_ + "/format/" + term.name;
    const std::optional<std::string> text = readText(source);
    if (!text)
      throw Error(ErrorKind::unreadable,
                  "the PMU " + name_ + " has no term '" + term.name + "': " + source + " cannot be read",
                  kNextStep);
    const TermBits place = parseTermBits(*text, source);
    const size_t width = place.bits.size();
    if (width < 64 && term.value >> width != 0)
      throw Error(ErrorKind::usage,
                  term.name + " " + std::to_string(term.value) + " is more than the PMU " + name_ + " takes",
                  "It takes at most " + std::to_string((uint64_t{1} << width) - 1) + ".");
    uint64_t& word = words[place.word];
    for (size_t i = 0; i < width; i++) {
      const uint64_t bit = uint64_t{1} << place.bits[i];
      word = (term.value >> i & 1) != 0 ? word | bit : word & ~bit;
    }
  }
}

EventWords SysfsPmu::event(const std::string& event, const std::vector<EventTerm>& more) const {
  const std::string source = folder_ + "/events/" + event;
  const std::optional<std::string> text = readText(source);
  if (!text)
    throw Error(ErrorKind::unreadable, "the PMU " + name_ + " has no event '" + event + "'", kNextStep);
  EventWords words{};
  encode(parseEventTerms(*text, source), words);
  encode(more, words);
  return words;
}

void setEventWords(perf_event_attr& attr, const EventWords& words) {
  attr.config = words[0];
  attr.config1 = words[1];
  attr.config2 = words[2];
#ifdef PERF_ATTR_SIZE_VER8  // Linux 6.3
  attr.config3 = words[3];
#else
  if (words[3] != 0)
    throw Error(ErrorKind::impossible,
                "an event needs perf_event_attr.config3, which this build does not know",
                "Build with the headers of Linux 6.3 or newer.");
#endif
}

}  // namespace cacheline::record
