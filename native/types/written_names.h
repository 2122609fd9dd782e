// The names of types as people write them: with other spaces, or without what needs not be said.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cacheline::types {

/// Without spaces, without the `struct` of C in front, and with one spelling of the integers (`long` of `long
/// int`).
std::string squeezedName(std::string_view name);

enum class NameFit {
  none,
  bare,       ///< all arguments of the template are left out (`Ring` of `ns::Ring<int>`, of Go's `Ring[int]`)
  shortened,  ///< some scopes are left out (`ns::Box` of `ns::(anonymous namespace)::Box`), or a template's
              ///< last arguments (`std::vector<int>`), or those of its arguments
  tail,       ///< the first scopes are: `Worker` of `ns::Worker`, of Go's `main.Worker`
  whole
};
/// How a written name fits a type's; both squeezed.
NameFit fitOfName(std::string_view written, std::string_view name);

/// The name with what `meaning` says of each name among its template arguments that has none itself.
std::string withArguments(std::string_view name,
                          const std::function<std::string(std::string_view argument)>& meaning);

/// What is behind the last scope of a squeezed name.
std::string_view lastComponent(std::string_view name);

}  // namespace cacheline::types
