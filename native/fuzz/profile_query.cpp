// Any text as a filter: it is understood or refused with the reason, and its patterns end on any name.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "profile/query.h"

using namespace cacheline;
using namespace cacheline::profile;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  analysis::Line line;
  line.accesses.emplace_back().data.type = std::string(text.substr(0, 4096));
  try {
    const Query query = parseQuery(text);
    selects(query.lines, line);
    for (const LineTerm& term : query.lines) term.pattern.fits(text);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage || error.what()[0] == '\0') std::abort();
  }
  return 0;
}
