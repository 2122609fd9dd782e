// The abbreviations of one unit: which attributes its DIEs have, in which forms. libdw reads an attribute in
// hundreds of steps, and units have thousands of them.
#pragma once

#include <dwarf.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

/// What the sizes of forms depend on.
struct FormSizes {
  static constexpr uint32_t kVaries = UINT32_MAX;

  uint16_t version = 0;
  uint8_t address = 0, offset = 0;

  /// Bytes; kVaries where the form does not fix them.
  uint32_t of(uint64_t form) const;
};

/// Gone over from the front as far as codes are asked for: units may share a table and use little of it.
/// Format: DWARF 5, section 7.5.3.
class Abbreviations {
 public:
  struct Attribute {
    uint32_t name = 0, form = 0;
    uint32_t bytes = FormSizes::kVaries;  ///< where the form fixes them
    uint64_t constant = 0;                ///< of DW_FORM_implicit_const
  };
  /// Attributes of fixed sizes, then at most one to be looked at: of another size, or DW_AT_sibling.
  struct Stride {
    uint64_t bytes = 0;  ///< of the former
    uint32_t form = 0;   ///< of the latter; 0: there is none
    bool sibling = false;
  };
  struct Attributes {
    uint32_t begin = 0, end = 0;
  };
  struct Strides {
    uint32_t begin = 0, end = 0;
  };
  struct Entry {
    int tag = 0;  ///< 0: it is not read yet
    bool children = false;
    bool code = false;  ///< has DW_AT_low_pc or DW_AT_ranges
    Attributes attributes;
    Strides strides;
    size_t place = 0;  ///< of the tag in the table
  };

  Abbreviations() = default;
  /// `table`: from the unit's first abbreviation on.
  Abbreviations(Bytes table, FormSizes sizes) : table_(table), sizes_(sizes) {}

  /// Null where the table has no such code. Good until the next call.
  const Entry* of(uint64_t code) {
    const bool usual = code - 1 < numbered_.size() && numbered_[code - 1].tag != 0;
    return usual ? &numbered_[code - 1] : rare(code);
  }
  std::span<const Attribute> of(const Attributes& range) const {
    return {attributes_.data() + range.begin, attributes_.data() + range.end};
  }
  std::span<const Stride> of(const Strides& range) const {
    return {strides_.data() + range.begin, strides_.data() + range.end};
  }

 private:
  const Entry* rare(uint64_t code);
  /// Null: `code` does not come before the table's end.
  Entry* find(uint64_t code);
  bool noteNext();
  bool read(Entry& entry);
  void add(const Attribute& attribute, Entry& entry);

  Bytes table_;
  size_t noted_ = 0;  ///< bytes of the table
  FormSizes sizes_;
  std::vector<Attribute> attributes_;
  std::vector<Stride> strides_;
  std::vector<Entry> numbered_;                 ///< compilers number them from 1
  std::unordered_map<uint64_t, Entry> others_;  ///< by code
};

}  // namespace cacheline::symbols
