// Names of pointers, and numbers for those that have no address.
#include "inference/pointer_names.h"

#include <algorithm>

#include "base/hash.h"
#include "types/field_path.h"

namespace cacheline::inference {

namespace {

/// What std::vector, std::span and std::shared_ptr<T[]> of libstdc++ and libc++ call the pointer to their
/// first element. Their other members are not the source's names.
constexpr std::string_view kStartsOfContainers[] = {"_M_start", "_M_ptr", "__begin_", "__data_", "__ptr_"};

/// In the names of functions that compilers made of parts or copies of others, and of closures in them.
constexpr std::string_view kParts[] = {"._omp_fn.",  ".omp_outlined", ".part.",    ".constprop.",
                                       ".isra.",     "::<lambda",     "::{lambda", "::(anonymous)",
                                       "::{closure", "::{{closure"};

/// The upper half of x86-64's 57-bit addresses ends below, that of the kernel begins above.
constexpr uint64_t kNumbered = 1ull << 62, kOfNumbered = 3ull << 62, kLocal = 1;

}  // namespace

std::optional<std::string> pointerPath(const types::TypeTable& table, types::TypeId type, uint64_t offset) {
  const std::vector<types::FieldPath> fields = types::fieldsAt(table, type, offset, sizeof(uint64_t));
  if (fields.empty()) return std::nullopt;
  const auto whole = std::ranges::find(fields, sizeof(uint64_t), &types::FieldPath::size);
  std::string path = (whole == fields.end() ? fields.front() : *whole).path;
  for (const std::string_view start : kStartsOfContainers)
    if (path.ends_with(start)) path.resize(path.size() - start.size());
  if (path.ends_with('.')) path.pop_back();
  const bool isOwn = path.find("_M_") == std::string::npos && path.find("__") == std::string::npos;
  if (!isOwn && !isMadeOfLocals(table.nameOf(type))) return std::nullopt;
  return path;
}

uint64_t numberOfPointer(std::string_view name, bool local) {
  return kNumbered | (mix(0, name) & ~kOfNumbered & ~kLocal) | (local ? kLocal : 0);
}

bool isNumbered(uint64_t origin) {
  return (origin & kOfNumbered) == kNumbered;
}

bool isLocalPointer(uint64_t origin) {
  return isNumbered(origin) && (origin & kLocal) != 0;
}

std::string localName(std::string_view function, std::string_view variable) {
  for (const std::string_view part : kParts) {
    const size_t at = function.find(part);
    if (at == std::string_view::npos || at == 0) continue;
    function = function.substr(0, at);
    // gcc declares it inside of the function: `main()::main`.
    const size_t inner = function.rfind("()::");
    if (inner != std::string_view::npos && function.substr(0, inner).ends_with(function.substr(inner + 4)))
      function = function.substr(0, inner);
    if (function.ends_with("()")) function.remove_suffix(2);
  }
  // Go counts the closures of a function: `main.work.func1`.
  const size_t counted = function.rfind(".func");
  if (counted != std::string_view::npos &&
      function.find_first_not_of("0123456789.", counted + 5) == std::string_view::npos)
    function = function.substr(0, counted);
  while (variable.starts_with("__")) variable.remove_prefix(2);  // gcc's name of what a lambda captures
  // Closures run in functions of the library, whose names are of no help.
  std::string name(function.starts_with("std::") ? std::string_view() : function);
  if (!name.empty()) name += "::";
  return name += variable;
}

bool isMadeOfLocals(std::string_view type) {
  return type.find("{...}") != std::string_view::npos || type.find("(anonymous)") != std::string_view::npos ||
         type.find("lambda") != std::string_view::npos || type.find("{closure") != std::string_view::npos;
}

}  // namespace cacheline::inference
