// A fast walk over the raw DIEs of one unit. libdw needs a look-up under a lock for every DIE, and most DIEs
// (parameters, types) matter to no index: here they are skipped by the sizes of their attributes' forms.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "symbols/abbreviations.h"
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
    uint64_t attributes = 0;  ///< where they begin
    Abbreviations::Entry abbreviation;
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
  /// Calls `each(Raw)`, which must not walk, for the attributes of a DIE; false where they cannot be read to
  /// their end.
  template <typename Each>
  bool forEachAttribute(const Here& here, Each&& each) const {
    uint64_t at = here.attributes;
    for (const Abbreviations::Attribute& attribute : abbreviations_.of(here.abbreviation.attributes)) {
      const uint64_t next = behind(at, attribute);
      if (next == kNowhere) return false;
      each(Raw{attribute.name, attribute.form, attribute.constant, begin_ + at, next - at});
      at = next;
    }
    return true;
  }
  /// The value of a constant or of an offset into a section of strings; nullopt for other forms.
  std::optional<uint64_t> valueOf(const Raw& attribute) const {
    uint64_t value = 0;
    return readValue(attribute, value) ? std::optional(value) : std::nullopt;
  }
  /// The DIE of this unit that a reference leads to; nullopt for other forms, and for what is outside.
  std::optional<Dwarf_Die> targetOf(const Raw& attribute) const {
    const uint64_t at = referenceIn(attribute);
    if (at == 0) return std::nullopt;
    return dieAt(at);
  }
  /// What a reference led to; nullopt where this unit has no DIE there that can be read.
  std::optional<Here> hereOf(const Dwarf_Die& die) {
    if (die.cu != cu_) return std::nullopt;
    const auto at = static_cast<uint64_t>(static_cast<const uint8_t*>(die.addr) - begin_);
    Skipped skipped;
    if (!skip(at, skipped) || skipped.abbreviation == nullptr) return std::nullopt;
    return Here{die, rootOffset_ + at, skipped.abbreviation->tag, skipped.attributes, *skipped.abbreviation};
  }

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
    if (!step(at, skipped) || skipped.abbreviation == nullptr || !skipped.abbreviation->children) return;
    at = skipped.next;
    uint64_t ignored = 0;  // how many levels deep in an unwanted subtree
    while (step(at, skipped)) {
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
        Here here{dieAt(at), rootOffset_ + at, skipped.abbreviation->tag, skipped.attributes,
                  *skipped.abbreviation};
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
  struct Skipped {
    const Abbreviations::Entry* abbreviation = nullptr;  ///< null: the null entry
    uint64_t attributes = 0;                             ///< where they begin
    uint64_t next = 0;                                   ///< the first child, or the next DIE
    uint64_t sibling = 0;                                ///< where DW_AT_sibling leads; 0: nowhere
  };

  Dwarf_Die dieAt(uint64_t at) const { return {const_cast<uint8_t*>(begin_ + at), cu_, nullptr, 0}; }
  /// Over the DIE at `at`; false where there is none that can be read.
  [[gnu::always_inline]] bool skip(uint64_t at, Skipped& skipped) {
    if (at >= size_) return false;
    uint64_t code = begin_[at];
    if (code < 0x80)
      at++;
    else if (!uleb(at, code))
      return false;
    skipped = {nullptr, at, at, 0};
    if (code == 0) return true;
    skipped.abbreviation = abbreviations_.of(code);
    if (skipped.abbreviation == nullptr) return false;
    for (const Abbreviations::Stride& stride : abbreviations_.of(skipped.abbreviation->strides)) {
      if (stride.bytes > size_ - at) return false;
      at += stride.bytes;
      if (stride.form == 0) continue;
      if (stride.sibling) skipped.sibling = referenceAt(at, stride.form);
      at = behindForm(at, stride.form);
      if (at == kNowhere) return false;
    }
    skipped.next = at;
    return true;
  }
  /// The same of a walk.
  [[gnu::always_inline]] bool step(uint64_t at, Skipped& skipped) {
    if (mostBytes_ == nullptr) return skip(at, skipped);
    if (*mostBytes_ == 0 || !skip(at, skipped)) return false;
    *mostBytes_ -= std::min(skipped.next - at, *mostBytes_);
    return true;
  }
  static constexpr uint64_t kNowhere = UINT64_MAX;
  /// Where an attribute ends; kNowhere: not in this unit.
  uint64_t behind(uint64_t at, const Abbreviations::Attribute& attribute) const {
    if (attribute.bytes == FormSizes::kVaries) return behindForm(at, attribute.form);
    return attribute.bytes <= size_ - at ? at + attribute.bytes : kNowhere;
  }
  uint64_t behindForm(uint64_t at, uint32_t form) const;
  bool readValue(const Raw& attribute, uint64_t& value) const {
    if (attribute.form == DW_FORM_data1) {
      value = *attribute.bytes;
    } else if (attribute.form == DW_FORM_implicit_const) {
      value = attribute.constant;
    } else {
      return readValue(attribute.form, attribute.bytes, attribute.size, value);
    }
    return true;
  }
  bool readValue(uint32_t form, const uint8_t* bytes, uint64_t size, uint64_t& value) const;
  bool uleb(uint64_t& at, uint64_t& value) const {
    value = 0;
    for (unsigned shift = 0; at < size_; shift += 7) {
      const uint8_t byte = begin_[at++];
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }
  uint64_t referenceIn(const Raw& attribute) const {
    return referenceAt(static_cast<uint64_t>(attribute.bytes - begin_), attribute.form);
  }
  /// Where a reference within the unit leads; 0: it is none, or leads out of the unit.
  uint64_t referenceAt(uint64_t at, uint32_t form) const {
    uint64_t inUnit = 0;
    if (form == DW_FORM_ref4 && size_ - at >= 4)
      inUnit = format_.word<uint32_t>(begin_ + at);
    else
      inUnit = rareReferenceAt(at, form);
    return inUnit > rootInUnit_ && inUnit - rootInUnit_ < size_ ? inUnit - rootInUnit_ : 0;
  }
  /// From the unit's start; 0: it is none.
  uint64_t rareReferenceAt(uint64_t at, uint32_t form) const;

  const uint8_t* begin_ = nullptr;
  uint64_t size_ = 0;  ///< bytes from the root DIE to the unit's end
  uint64_t* mostBytes_ = nullptr;
  uint64_t rootOffset_ = 0, rootInUnit_ = 0;
  Dwarf_CU* cu_ = nullptr;
  FormSizes sizes_;
  ElfFormat format_;
  Abbreviations abbreviations_;
};

}  // namespace cacheline::symbols
