// libFuzzer over the texts of PMUs in sysfs. Whatever they say, the bits of a term are in order, each once,
// and in a word that an attribute has; else it is an error of a kind that names the file.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "record/sysfs_events.h"

using namespace cacheline;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const record::EventTerm& term : record::parseEventTerms(text, "FILE"))
      require(!term.name.empty() && term.name.find('/') == std::string::npos);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::unreadable && std::string_view(error.what()).starts_with("FILE says"));
  }
  try {
    const record::TermBits place = record::parseTermBits(text, "FILE");
    require(place.word < record::EventWords{}.size() && !place.bits.empty() && place.bits.back() < 64);
    require(std::ranges::is_sorted(place.bits) && std::ranges::adjacent_find(place.bits) == place.bits.end());
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::unreadable && std::string_view(error.what()).starts_with("FILE says"));
  }
  return 0;
}
