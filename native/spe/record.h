// SPE sample records: what a CPU says of one sampled operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spe/packet.h"

namespace cacheline::spe {

/// Bits of SpeRecord::events. Bits not named here are reserved or implementation defined, and kept.
enum Event : uint64_t {
  kEventException = 1ull << 0,
  kEventRetired = 1ull << 1,
  kEventL1dAccess = 1ull << 2,
  kEventL1dRefill = 1ull << 3,
  kEventTlbAccess = 1ull << 4,
  kEventTlbWalk = 1ull << 5,
  kEventNotTaken = 1ull << 6,
  kEventMispredicted = 1ull << 7,
  kEventLlcAccess = 1ull << 8,
  kEventLlcMiss = 1ull << 9,
  kEventRemoteAccess = 1ull << 10,
  kEventMisaligned = 1ull << 11,
  kEventTransactional = 1ull << 16,
  kEventPartialPredicate = 1ull << 17,
  kEventEmptyPredicate = 1ull << 18,
  kEventL2dAccess = 1ull << 19,
  kEventL2dMiss = 1ull << 20,
  kEventDataModified = 1ull << 21,  ///< the line was modified in the cache it came from: HITM
  kEventRecentlyFetched = 1ull << 22,
  kEventDataSnooped = 1ull << 23,  ///< the line came out of another cache
};

enum class OperationClass : uint8_t { none, other, load, store, branch };

/// Properties of an operation; which of them can occur depends on its class.
enum OperationFlag : uint16_t {
  kAtomic = 1 << 0,
  kExclusive = 1 << 1,
  kAcquireRelease = 1 << 2,
  kGeneralRegister = 1 << 3,
  kSimdFp = 1 << 4,
  kVector = 1 << 5,  ///< SVE or SME
  kPredicated = 1 << 6,
  kGatherScatter = 1 << 7,  ///< the address is that of one of several accesses
  kTag = 1 << 8,            ///< of memory tags (MTE)
  kSystemRegister = 1 << 9,
  kCopy = 1 << 10,  ///< memory copy instruction
  kSet = 1 << 11,   ///< memory set instruction
  kGuardedStack = 1 << 12,
  kConditional = 1 << 13,
  kIndirect = 1 << 14,
};

struct Operation {
  OperationClass kind = OperationClass::none;
  uint16_t flags = 0;       ///< OperationFlag
  uint16_t vectorBits = 0;  ///< effective vector length of SVE operations, 0 for others

  bool accessesMemory() const { return kind == OperationClass::load || kind == OperationClass::store; }
};

/// Reads an operation type packet's class and payload.
Operation operationOf(uint8_t index, uint64_t payload);

/// Parts of a record, for SpeRecord::has.
enum Part : uint16_t {
  kPartPc = 1 << 0,
  kPartBranchTarget = 1 << 1,
  kPartVirtual = 1 << 2,
  kPartPhysical = 1 << 3,
  kPartPreviousTarget = 1 << 4,
  kPartTotal = 1 << 5,
  kPartIssue = 1 << 6,
  kPartTranslation = 1 << 7,
  kPartContextEl1 = 1 << 8,
  kPartContextEl2 = 1 << 9,
  kPartOperation = 1 << 10,
  kPartEvents = 1 << 11,
  kPartDataSource = 1 << 12,
  kPartTimestamp = 1 << 13,
  kPartUnknown = 1 << 14,  ///< an address, counter or context of an unknown index: skipped
};

/// One sampled operation. What the CPU did not say is 0 and not in `parts`.
struct SpeRecord {
  uint64_t pc = 0;                    ///< with the kernel's high byte restored
  uint64_t branchTarget = 0;          ///< likewise
  uint64_t previousBranchTarget = 0;  ///< likewise
  uint64_t virtualAddress = 0;        ///< without its tag, the kernel's high byte restored
  uint64_t physicalAddress = 0;
  uint64_t timestamp = 0;  ///< ticks of the generic timer
  uint64_t events = 0;     ///< Event
  uint64_t dataSource = 0;
  uint32_t contextEl1 = 0, contextEl2 = 0;  ///< on Linux the thread id, in the root pid namespace
  uint16_t totalLatency = 0;                ///< cycles from dispatch to completion
  uint16_t issueLatency = 0;                ///< cycles from dispatch to issue
  uint16_t translationLatency = 0;          ///< cycles of address translation
  uint16_t parts = 0;                       ///< Part
  Operation operation;
  uint8_t exceptionLevel = 0;  ///< of the PC, 0 to 3
  bool nonSecure = false;      ///< of the PC
  size_t position = 0;         ///< of the record's first packet, bytes from the buffer's start

  bool has(Part part) const { return (parts & part) != 0; }
};

/// What was met in a buffer, or in several.
struct DecodeCounts {
  uint64_t records = 0;
  uint64_t packets = 0;           ///< padding, alignment and bad ones not included
  uint64_t badBytes = 0;          ///< bytes that are no packet, or that were skipped in search of one
  uint64_t droppedRecords = 0;    ///< pieces of records given up because of bad bytes
  uint64_t truncatedRecords = 0;  ///< a last record without its end: 0 or 1 for each buffer
  uint64_t truncatedBytes = 0;    ///< bytes of those

  DecodeCounts& operator+=(const DecodeCounts& other);
};

/// Walks over the records of one piece of AUX buffer. Never throws, allocates nothing, and takes time linear
/// in the bytes; any bytes are valid input.
///
/// A record is its packets up to an END or a timestamp; a packet that occurs twice counts as it was last.
/// Bad bytes are skipped one by one, and the record they lie in is dropped. Packets found after them may be
/// payload bytes that look like packets, so records are dropped until one has a PC and no packet twice.
/// Padding packets may stand anywhere, also in long runs: the kernel fills buffers up with them.
class SpeBuffer {
 public:
  /// `auxOffset`: place of the first byte in the AUX buffer, for alignment packets.
  explicit SpeBuffer(std::span<const uint8_t> bytes, uint64_t auxOffset = 0)
      : bytes_(bytes), auxOffset_(auxOffset) {}

  /// False at the end of the bytes; `record` then holds nothing.
  bool next(SpeRecord& record);
  const DecodeCounts& counts() const { return counts_; }
  /// Bytes consumed.
  size_t position() const { return position_; }
  /// Position of the first bad byte; the buffer's size where there is none.
  size_t firstBad() const { return counts_.badBytes == 0 ? bytes_.size() : firstBad_; }

 private:
  bool finishRecord(SpeRecord& record, bool repeated);
  void skipBad(SpeRecord& record, bool& repeated);

  std::span<const uint8_t> bytes_;
  uint64_t auxOffset_;
  size_t position_ = 0;
  size_t firstBad_ = 0;
  bool lost_ = false;  ///< after bad bytes, until a record can be trusted
  DecodeCounts counts_;
};

}  // namespace cacheline::spe
