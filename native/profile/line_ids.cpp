// Texts are made when they are asked for: of most lines nobody ever asks.
#include "profile/line_ids.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace cacheline::profile {

namespace {

uint64_t placeOf(const analysis::Line& line) {
  return line.fileOffset.value_or(line.address);
}

/// Empty where it is not all a number.
template <typename Number>
std::optional<Number> numberIn(std::string_view digits, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

LineIds::LineIds(const analysis::Report& report) : report_(report) {
  std::vector<std::pair<uint64_t, uint32_t>> places(report.lines.size());
  for (uint32_t i = 0; i < places.size(); ++i) places[i] = {placeOf(report.lines[i]), i};
  std::sort(places.begin(), places.end());
  for (auto begin = places.begin(); begin != places.end();) {
    const auto end =
        std::find_if(begin, places.end(), [&](const auto& other) { return other.first != begin->first; });
    std::map<std::string_view, size_t> seen;  // by space, of one place
    if (end - begin > 1)
      for (auto at = begin; at != end; ++at)
        if (const size_t number = ++seen[report.lines[at->second].space]; number > 1)
          repeated_[at->second] = number;
    begin = end;
  }
}

std::string LineIds::of(uint32_t line) const {
  std::array<char, 16> digits{};
  const uint64_t place = placeOf(report_.lines[line]);
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), place, 16).ptr;
  std::string id = report_.lines[line].space + ":0x" +
                   std::string(digits.data(), static_cast<size_t>(end - digits.data()));
  if (const auto found = repeated_.find(line); found != repeated_.end())
    id += '#' + std::to_string(found->second);
  return id;
}

std::optional<uint32_t> LineIds::find(std::string_view id) const {
  const size_t colon = id.rfind(":0x");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view space = id.substr(0, colon), rest = id.substr(colon + 3);
  const size_t hash = rest.find('#');
  const auto place = numberIn<uint64_t>(rest.substr(0, hash), 16);
  auto number =
      hash == std::string_view::npos ? std::optional<size_t>(1) : numberIn<size_t>(rest.substr(hash + 1), 10);
  if (!place || !number) return std::nullopt;
  for (uint32_t i = 0; i < report_.lines.size(); ++i) {
    const analysis::Line& line = report_.lines[i];
    if (placeOf(line) == *place && line.space == space && --*number == 0) return i;
  }
  return std::nullopt;
}

}  // namespace cacheline::profile
