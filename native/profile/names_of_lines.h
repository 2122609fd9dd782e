// The objects and types that accesses of some lines name.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "profile/uses.h"

namespace cacheline::profile {

class NamesOfLines {
 public:
  /// `lines`: indices of lines of the report.
  NamesOfLines(const Uses& uses, const std::vector<uint32_t>& lines) {
    for (const uint32_t number : uses.of(lines, [](size_t) {})) {
      const Use& use = uses.at(number);
      objects_.emplace(*use.space, analysis::objectName(use.first->data));
      types_.insert(use.first->data.type);
    }
  }
  bool hold(const analysis::ObjectSum& object) const {
    return objects_.contains({object.space, object.object});
  }
  bool hold(const analysis::TypeHeat& type) const { return types_.contains(type.name); }

 private:
  std::set<std::pair<std::string, std::string>> objects_;  ///< space, name
  std::set<std::string> types_;
};

}  // namespace cacheline::profile
