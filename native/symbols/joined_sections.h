// Files with debug sections of one name, as gcc writes them: a section for each type unit.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace cacheline::symbols {

struct JoinedSections {
  /// There are sections of one name, of which elfutils takes the first, or such as not every elfutils
  /// inflates.
  bool needed = false;
  UniqueFd file;  ///< in memory: the debug sections, those of one name as one; none where it cannot be made
};

/// Of a .dwo file. `left`: bytes that may be made still; what is made is taken off. A path that is no ELF
/// file needs nothing.
JoinedSections joinSections(const std::string& path, uint64_t& left);
/// Of an object file after relocateDebugInfo(); needed also where GNU's way of compressing changed their
/// names.
JoinedSections joinSections(Elf* object);

}  // namespace cacheline::symbols
