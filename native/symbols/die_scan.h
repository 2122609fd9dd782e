// A fast walk over the raw DIEs of one unit. libdw needs a look-up under a lock for every DIE, and most DIEs
// (parameters, types) matter to no index: here they are skipped by the sizes of their attributes' forms.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

/// Format: DWARF 5, sections 7.5.2 to 7.5.6; versions 2 to 4 differ in the sizes of few forms. Positions are
/// offsets from the unit's root DIE. Nothing is read outside of the unit.
class DieScan {
 public:
  /// `root`: the first DIE of a unit. What cannot be scanned ends the walk, as it does in libdw. `mostBytes`:
  /// that walks may go over, counted down.
  explicit DieScan(Dwarf_Die root, uint64_t* mostBytes = nullptr);

  uint64_t bytes() const { return size_; }  ///< of the unit's DIEs

  /// What makes a function or an inlined call, read in one go where their attributes have the usual forms.
  struct Code {
    uint64_t low = 0, high = 0;  ///< [low, high); both 0: no code
    Dwarf_Off origin = 0;        ///< DW_AT_abstract_origin in this unit, where its name is from there; else 0
    uint64_t callFile = 0, callLine = 0, callColumn = 0;
    bool listed = false;  ///< has DW_AT_ranges, which libdw reads
  };
  /// A DIE during the walk. Good until enter() returns.
  struct Here {
    Dwarf_Die die{};
    Dwarf_Off offset = 0;
    int tag = 0;
    uint64_t attributes = 0, abbreviation = 0;
  };
  /// Nullopt where libdw has to be asked: indexed addresses, odd forms.
  std::optional<Code> codeOf(const Here& here) const;

  /// An attribute as its bytes.
  struct Raw {
    uint32_t name = 0, form = 0;
    uint64_t constant = 0;  ///< of DW_FORM_implicit_const
    const uint8_t* bytes = nullptr;
    uint64_t size = 0;
  };
  /// Calls `each(Raw)` for the attributes of a DIE; false where they cannot be read to their end.
  template <typename Each>
  bool forEachAttribute(const Here& here, Each&& each) const {
    uint64_t at = here.attributes;
    for (const Attribute& attribute : known(here.abbreviation).attributes) {
      const uint64_t start = at;
      if (!skip(at, attribute)) return false;
      each(Raw{attribute.name, attribute.form, attribute.constant, begin_ + start, at - start});
    }
    return true;
  }
  /// The value of a constant or of an offset into a section of strings; nullopt for other forms.
  std::optional<uint64_t> valueOf(const Raw& attribute) const;
  /// The DIE of this unit that a reference leads to; nullopt for other forms, and for what is outside.
  std::optional<Dwarf_Die> targetOf(const Raw& attribute) const;

  /// Visits the descendants of the root whose tag is `wanted(tag)`, in document order without recursion.
  /// Others are skipped with all their children. `enter(Here)`, which may walk, says whether to visit the
  /// children; then `leave(offset)` is called once after them, with the offset at which the next DIE begins.
  template <typename Wanted, typename Enter, typename Leave>
  void walk(Wanted&& wanted, Enter&& enter, Leave&& leave) {
    walkBelow(rootOffset_, wanted, enter, leave);
  }
  /// The same of the DIE at an offset of the section; nothing where the unit has none there.
  template <typename Wanted, typename Enter, typename Leave>
  void walkBelow(Dwarf_Off top, Wanted&& wanted, Enter&& enter, Leave&& leave) {
    constexpr size_t kDeepestNesting = 512;
    size_t nesting = 0;  // DIEs whose children are being visited
    if (top < rootOffset_) return;
    uint64_t at = top - rootOffset_;
    Skipped skipped;
    if (!skip(at, skipped) || skipped.abbreviation == nullptr || !skipped.abbreviation->children) return;
    at = skipped.next;
    uint64_t ignored = 0;  // how many levels deep in an unwanted subtree
    while (skip(at, skipped)) {
      if (skipped.abbreviation == nullptr) {  // the end of a list of children
        at = skipped.next;
        if (ignored > 0) {
          ignored--;
          continue;
        }
        if (nesting == 0) return;
        nesting--;
        leave(rootOffset_ + at);
        continue;
      }
      const bool children = skipped.abbreviation->children;
      bool descend = false;
      if (ignored == 0 && wanted(skipped.abbreviation->tag)) {
        Here here{dieAt(at), rootOffset_ + at, skipped.abbreviation->tag, skipped.attributes, skipped.code};
        descend = enter(here);
      }
      const bool open = descend && children && nesting < kDeepestNesting;
      if (descend && !open) leave(rootOffset_ + skipped.next);
      if (open) {
        nesting++;
      } else if (children) {
        if (skipped.sibling > skipped.next) {
          at = skipped.sibling;
          continue;
        }
        ignored++;
      }
      at = skipped.next;
    }
    for (; nesting > 0; nesting--) leave(rootOffset_ + at);
  }

 private:
  struct Attribute {
    uint32_t name = 0, form = 0;
    uint64_t constant = 0;         ///< of DW_FORM_implicit_const
    std::optional<uint64_t> size;  ///< bytes, where the form fixes them
  };
  /// Attributes of fixed sizes, then at most one to be looked at: of another size, or DW_AT_sibling.
  struct Stride {
    uint64_t bytes = 0;  ///< of the former
    uint32_t form = 0;   ///< of the latter; 0: there is none
    bool sibling = false;
  };
  struct Abbreviation {
    int tag = 0;  ///< 0: not read yet
    bool children = false;
    bool code = false;  ///< has DW_AT_low_pc or DW_AT_ranges
    std::vector<Attribute> attributes;
    std::vector<Stride> strides;  ///< over the attributes
    void add(const Attribute& attribute);
  };
  struct Skipped {
    const Abbreviation* abbreviation = nullptr;  ///< null: the null entry
    uint64_t code = 0;                           ///< its index
    uint64_t attributes = 0;                     ///< where they begin
    uint64_t next = 0;                           ///< the first child, or the next DIE
    uint64_t sibling = 0;                        ///< where DW_AT_sibling leads; 0: nowhere
  };

  /// The abbreviation with this code, which the DIE at `at` has: libdw reads it from there the first time.
  /// Null where it cannot.
  const Abbreviation* abbreviation(uint64_t code, uint64_t at);
  /// One that was read.
  const Abbreviation& known(uint64_t code) const {
    return code < abbreviations_.size() ? abbreviations_[code] : highAbbreviations_.at(code);
  }
  Dwarf_Die dieAt(uint64_t at) const;
  /// Over the DIE at `at`; false where there is none that can be read.
  bool skip(uint64_t at, Skipped& skipped);
  bool skip(uint64_t& at, const Attribute& attribute) const;
  bool skipForm(uint64_t& at, uint32_t form) const;
  std::optional<uint64_t> fixedSize(uint32_t form) const;
  std::optional<uint64_t> constantAt(uint64_t at, const Attribute& attribute) const;
  bool uleb(uint64_t& at, uint64_t& value) const {
    value = 0;
    for (unsigned shift = 0; at < size_; shift += 7) {
      const uint8_t byte = begin_[at++];
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }
  /// Where a reference within the unit leads; 0: it is none, or leads out of the unit.
  uint64_t referenceAt(uint64_t at, uint32_t form) const;

  const uint8_t* begin_ = nullptr;
  uint64_t size_ = 0;  ///< bytes from the root DIE to the unit's end
  uint64_t* mostBytes_ = nullptr;
  uint64_t rootOffset_ = 0, rootInUnit_ = 0;
  Dwarf_CU* cu_ = nullptr;
  uint16_t version_ = 0;
  uint8_t addressSize_ = 0, offsetSize_ = 0;
  ElfFormat format_;
  std::vector<Abbreviation> abbreviations_;                       ///< by code: compilers number them from 1
  std::unordered_map<uint64_t, Abbreviation> highAbbreviations_;  ///< those that no compiler's unit has
};

}  // namespace cacheline::symbols
