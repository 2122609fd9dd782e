// Words for how data is known.
#include "analysis/report.h"

namespace cacheline::analysis {

const char* howName(How how) {
  switch (how) {
    case How::global:
      return "global";
    case How::stack:
      return "stack";
    case How::code:
      return "code";
    case How::allocation:
      return "allocation";
    case How::unknown:
      break;
  }
  return "unknown";
}

namespace {

/// " of main", " of worker 1234", nothing where nobody is known.
std::string ofOwner(const std::optional<StackOwner>& owner) {
  if (!owner) return {};
  if (owner->tid == owner->pid) return " of main";
  return " of " + (owner->comm.empty() ? "thread" : owner->comm) + ' ' + std::to_string(owner->tid);
}

/// Private memory without a name, which is called by its address.
bool isInHeap(const DataName& data) {
  return data.object == "[heap]" || data.object.starts_with("anonymous 0x");
}

}  // namespace

bool isPointedArray(const DataName& data) {
  return data.object.ends_with(kPointedArray);
}

bool isUnnamed(const DataName& data) {
  if (isPointedArray(data)) return false;
  return isInHeap(data) || data.object == "[stack]" || data.object == kSharedMemory ||
         data.object == kKernelMemory || data.how == How::code ||
         data.how == How::allocation;  // somewhere in a mapped file
}

std::string objectName(const DataName& data) {
  const bool unnamed = isUnnamed(data);
  if (unnamed && data.type.empty() && data.allocation)
    return std::to_string(data.allocation->size) + " bytes allocated in " +
           (data.allocation->function.empty() ? "an unknown function" : data.allocation->function);
  if (data.stackOwner && data.type.empty()) return "[stack" + ofOwner(data.stackOwner) + ']';
  if (!unnamed || data.type.empty()) return data.object;
  if (data.object == kKernelMemory) return data.type + " (kernel)";
  const bool inStack = data.how == How::stack || data.object == "[stack]";
  return data.type + " (" +
         (inStack                                    ? "stack" + ofOwner(data.stackOwner)
          : data.object == "anonymous shared memory" ? "shared memory"
          : isInHeap(data)                           ? "heap"
                                                     : data.object) +
         ')';
}

std::string withoutIndices(std::string_view field) {
  std::string text;
  bool inside = false;
  for (const char character : field) {
    if (character == ']') inside = false;
    if (!inside) text += character;
    if (character == '[') inside = true;
  }
  return text;
}

}  // namespace cacheline::analysis
