// Accesses added up per type: the instances of a structure folded to its own offsets.
#pragma once

#include <string>
#include <vector>

#include "analysis/object_sums.h"
#include "analysis/report.h"
#include "analysis/typed_binaries.h"
#include "analysis/typed_data.h"
#include "base/hash.h"

namespace cacheline::analysis {

/// A type is (binary, name, size): DWARF repeats it in every unit. Elements of arrays are instances of their
/// own. Only structures, classes and unions are added up. The verdict rolls up as that of objects does.
class TypeSums {
 public:
  TypeSums(TypedBinaries& typed, uint64_t contended, uint64_t samples, uint32_t lineSize)
      : typed_(typed), contended_(contended), samples_(samples), lineSize_(lineSize) {}

  /// The accesses that follow are of this line, whose own fields (not its accesses) are complete.
  void beginLine(const Line& line);
  void add(const Access& access, const TypedPlace& place);
  /// By contended samples, descending; then records, descending; then name.
  std::vector<TypeHeat> take();

 private:
  struct Field {
    FieldHeat heat;
    double cycles = 0;   ///< of its loads that were timed
    uint64_t timed = 0;  ///< loads
  };
  struct Sum {
    uint32_t binary = kNone;
    types::TypeId type = types::kNoType;
    TypeHeat heat;
    RolledVerdict verdict;
    HashMap<std::string, size_t> index;  ///< of fields, by path and offset
    std::vector<Field> fields;
    std::vector<std::pair<std::string, uint64_t>> instances;  ///< space and base
  };
  Sum* sumOf(uint32_t binary, types::TypeId type);
  static void addTo(Field& field, const Access& access);
  static void gather(std::vector<Field>& fields);
  void finish(Sum& sum) const;

  TypedBinaries& typed_;
  uint64_t contended_, samples_;
  uint32_t lineSize_;
  uint64_t lineNumber_ = 0;
  const Line* line_ = nullptr;
  HashMap<std::string, size_t> index_;
  HashMap<uint64_t, size_t> known_;  ///< by binary and type id; kNotSummed: no structure
  std::vector<Sum> sums_;
};

}  // namespace cacheline::analysis
