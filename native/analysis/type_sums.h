// Accesses added up per type: the instances of a structure folded to its own offsets.
#pragma once

#include <string>
#include <vector>

#include "analysis/object_sums.h"
#include "analysis/report.h"
#include "analysis/typed_binaries.h"
#include "analysis/typed_data.h"
#include "base/hash.h"
#include "types/field_path.h"

namespace cacheline::analysis {

/// A type is (binary, name, place, layout): DWARF repeats it in every unit. Elements of arrays are instances
/// of their own. Only structures, classes and unions are added up. The verdict rolls up as that of objects
/// does. A type that was touched inside of others, as a member or a base class, has a second sum, `nested`,
/// over all of its instances; standard libraries' types do not: nobody looks at their definitions.
class TypeSums {
 public:
  TypeSums(TypedBinaries& typed, uint64_t contended, uint64_t samples, uint32_t lineSize)
      : typed_(typed), contended_(contended), samples_(samples), lineSize_(lineSize) {}

  /// The accesses that follow are of this line, whose own fields (not its accesses) are complete.
  void beginLine(const Line& line);
  void add(const Access& access, const TypedPlace& place);
  /// By contended samples, descending; then records, descending; then name; nested ones last.
  std::vector<TypeHeat> take();

 private:
  struct Field {
    FieldHeat heat;
    WaitsOfLines waits;
    uint64_t cycles = 0, timed = 0;  ///< of loads, and how many
    void add(const Field& other);
  };
  struct SpotKey {
    uint64_t offset = 0;
    uint32_t width = 0;
    uint64_t element = 0;  ///< see TypedPlace
    bool operator==(const SpotKey&) const = default;
    size_t hash() const { return mix(offset, (element << 32) | width); }
  };
  /// What an access at one offset of a type counts for.
  struct Spot {
    size_t field = 0;                       ///< of the sum
    std::vector<types::InnerObject> inner;  ///< structures inside of the type that hold the field
  };
  struct Sum {
    uint32_t binary = kNone;
    types::TypeId type = types::kNoType;
    bool open = false;  ///< it ends in an array without a length of its own
    TypeHeat heat;
    RolledVerdict verdict;
    HashMap<SpotKey, Spot> spots;
    HashMap<std::string, size_t> index;  ///< of fields, by path and offset
    std::vector<Field> fields;
    std::vector<std::pair<std::string, uint64_t>> instances;  ///< space and base
  };
  size_t sumOf(uint32_t binary, types::TypeId type, bool nested);
  const Spot& spotOf(Sum& sum, const SpotKey& at);
  static void addBases(const types::TypeTable& table, types::InnerObject object, uint64_t at, int depth,
                       std::vector<types::InnerObject>& inner);
  const Spot& addTo(Sum& sum, const Access& access, const TypedPlace& place, uint64_t offset);
  static size_t fieldOf(Sum& sum, const FieldHeat& place);
  static void unite(Sum& sum, const Sum& other);
  static void gather(std::vector<Field>& fields);
  void finish(Sum& sum) const;

  TypedBinaries& typed_;
  uint64_t contended_, samples_;
  uint32_t lineSize_;
  uint64_t lineNumber_ = 0;
  const Line* line_ = nullptr;
  HashMap<std::string, size_t> index_;  ///< of sums, by type and whether nested
  HashMap<uint64_t, size_t> known_;     ///< by binary, type id and whether nested; kNotSummed: no structure
  std::vector<Sum> sums_;
};

}  // namespace cacheline::analysis
