// What makes two rows of one offset.
#pragma once

namespace cacheline::analysis {

/// What tells rows of one offset apart: threads, processes, instructions, the binaries of the code.
struct Coalesce {
  bool tid = false, pid = false, iaddr = true, dso = false;
  bool onlyCode() const { return iaddr && !tid && !pid && !dso; }
};

}  // namespace cacheline::analysis
