// The options' names, and what they make of a recording's lines.
#include "sharing/options.h"

#include "analysis/verdict.h"
#include "base/error.h"

namespace cacheline::sharing {

const char* displayName(Display display) {
  switch (display) {
    case Display::total:
      return "tot";
    case Display::local:
      return "lcl";
    case Display::remote:
      return "rmt";
    case Display::peer:
      return "peer";
  }
  return "";
}

uint32_t tableLineSize(uint32_t lineSize, bool pairs) {
  if (!pairs) return lineSize;
  if (2 * lineSize > analysis::kMaxLineSize)
    throw Error(ErrorKind::usage,
                "lines of this recording have " + std::to_string(lineSize) +
                    " bytes; pairs of them are not supported",
                "Leave --double-cl out.");
  return 2 * lineSize;
}

}  // namespace cacheline::sharing
