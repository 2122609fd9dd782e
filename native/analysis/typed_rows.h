// Types for the rows of a report: what every kind of recording asks, in one order.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/heap_blocks.h"
#include "analysis/kernel_code.h"
#include "analysis/object_evidence.h"
#include "analysis/object_sums.h"
#include "analysis/type_sums.h"
#include "analysis/typed_data.h"

namespace cacheline::analysis {

/// What is known of one row's data and code.
struct RowData {
  NamedData data;
  Position position;
  std::span<const uint32_t> locations;  ///< of the code that was seen there; none: it has no say
  uint32_t codeBinary = kNone;          ///< that holds the accessing instruction
  uint32_t width = 0;                   ///< bytes; 0: unknown
  bool onlySums = false;                ///< nobody reads what its field is called
  std::string inexact;  ///< why nobody knows the accessing instruction or its bytes; empty: not so
};

/// Names rows and adds them up to objects and types.
class TypedRows {
 public:
  /// `blocks`: null where the recording has none.
  TypedRows(TypedBinaries& typed, ObjectEvidence& evidence, HeapBlocks* blocks, const Report& report)
      : typed_(typed),
        evidence_(evidence),
        blocks_(blocks),
        objects_(report.contended, report.samples),
        types_(typed, report.contended, report.samples, report.lineSize) {}

  /// The accesses that follow are of this line, whose own fields (not its accesses) are complete.
  void beginLine(const Line& line);
  /// Names the data of `access`, whose counts are complete: a variable with static storage, else what the
  /// code says, else the heap block alone, else the reason why nothing does.
  void add(const RowData& row, Access& access);
  /// The same for data of the kernel, of which `found` is known; `row.data` has the address alone.
  void addKernel(const KernelData& found, RowData row, Access& access);
  /// An access to data of which not even the mapping is known.
  void addUntyped(const Access& access, const std::string& binary);
  void finish(Report& report);

 private:
  std::optional<uint64_t> cookieOfArray(const HeapBlocks::Found& found, const AgreedObject& agreed,
                                        const RowData& row);
  /// What the code that asked for a block takes it for.
  struct Taken {
    uint32_t binary = kNone;
    types::TypeId type = types::kNoType;  ///< kNoType: it does not say
    bool fits = false;                    ///< as inference::TypePropagation::Allocated
    std::string bytes;                    ///< bytes of that name, on the way to what `type` says
    bool pool = false;                    ///< it may cut what it wants out of them
    uint64_t head = 0;                    ///< as inference::TypePropagation::Allocated
  };
  const Taken& takenFor(const HeapBlocks::Found& found);
  std::optional<bool> isAllocatedAs(const HeapBlocks::Found& found, const TypedPlace& place);
  void nameByBlock(const HeapBlocks::Found& found, AgreedObject& agreed);
  void nameByHolder(const std::optional<HeapBlocks::Found>& found, AgreedObject& agreed);
  std::optional<HeapBlocks::Found> blockAt(const RowData& row, const TypedPlace& place);
  std::string whyNot(const RowData& row);
  /// What the sums count a row for.
  struct Counted {
    std::string binary;
    uint64_t base = 0;
    TypedPlace place;
  };
  void count(const Access& access, const Counted& as);
  void nameField(const TypedPlace& place, const RowData& row, DataName& name);
  void nameByPointer(const AgreedObject& agreed, DataName& name);
  void addLifetimes(const AgreedObject& agreed, const std::optional<HeapBlocks::Found>& found,
                    const RowData& row, const Counted& most, Access& access);

  TypedBinaries& typed_;
  ObjectEvidence& evidence_;
  HeapBlocks* blocks_;
  ObjectSums objects_;
  TypeSums types_;
  std::map<std::tuple<uint32_t, types::TypeId, uint64_t, uint64_t>, bool> parts_;  ///< what mayBePart() said
  std::map<std::pair<const void*, uint64_t>, Taken> taken_;                        ///< by stack and size
  /// What areElements() said, by block and type.
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, uint32_t>, bool> elements_;
  /// What hasOthers() said of blocks: space, start, when allocated, and the element's name.
  std::map<std::tuple<uint32_t, uint64_t, uint64_t, uint32_t>, bool> others_;
};

}  // namespace cacheline::analysis
