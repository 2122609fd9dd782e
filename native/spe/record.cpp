// From SPE packets to sample records: payloads, and how to go on after bytes that are no packets.
#include "spe/record.h"

#include <cstring>

namespace cacheline::spe {
namespace {

constexpr uint64_t kLow56 = (1ull << 56) - 1;
constexpr uint64_t kTopByte = ~kLow56;

/// Code address: bit 63 is "non-secure", bits 62:61 the exception level, bits 55:0 the address. The levels of
/// an operating system or a hypervisor run at the high end of the address space.
uint64_t codeAddress(uint64_t payload) {
  const bool nonSecure = (payload >> 63) != 0;
  const uint64_t level = (payload >> 61) & 3;
  return (payload & kLow56) | (nonSecure && (level == 1 || level == 2) ? kTopByte : 0);
}

/// Data address: the top byte holds a tag, so that it cannot tell a kernel's address; bits 55:52 do.
uint64_t dataAddress(uint64_t payload) {
  return (payload & kLow56) | (((payload >> 52) & 0xf) == 0xf ? kTopByte : 0);
}

Operation loadStoreOf(uint64_t payload) {
  Operation operation;
  operation.kind = (payload & 1) != 0 ? OperationClass::store : OperationClass::load;
  const uint64_t subclass = payload & 0xfe;
  const auto flagIf = [&](unsigned bit, OperationFlag flag) {
    if (((payload >> bit) & 1) != 0) operation.flags |= flag;
  };
  if (subclass == 0x00) {
    operation.flags = kGeneralRegister;
  } else if (subclass == 0x04) {
    operation.flags = kSimdFp;
  } else if (subclass == 0x14) {
    operation.flags = kTag;
  } else if (subclass == 0x30) {
    operation.flags = kSystemRegister;
  } else if (subclass == 0x20) {
    operation.flags = kCopy;
  } else if ((payload & 0xff) == 0x25) {
    operation.flags = kSet;
  } else if ((payload & 0xe2) == 0x02) {
    flagIf(2, kAtomic);
    flagIf(3, kExclusive);
    flagIf(4, kAcquireRelease);
  } else if ((payload & 0x0a) == 0x08) {
    operation.flags = kVector;
    operation.vectorBits = static_cast<uint16_t>(32 << ((payload >> 4) & 7));
    flagIf(2, kPredicated);
    flagIf(7, kGatherScatter);
  } else if ((payload & 0xfa) == 0x40) {
    operation.flags = kGuardedStack;
  }
  return operation;
}

Operation otherOf(uint64_t payload) {
  Operation operation;
  operation.kind = OperationClass::other;
  if ((payload & 0x89) == 0x08) {
    operation.flags = kVector;
    operation.vectorBits = static_cast<uint16_t>(32 << ((payload >> 4) & 7));
    if ((payload & 4) != 0) operation.flags |= kPredicated;
  } else if ((payload & 0x89) == 0x88) {
    operation.flags = kVector;
  } else if ((payload & 0xf8) == 0 && (payload & 1) != 0) {
    operation.flags = kConditional;
  }
  return operation;
}

Operation branchOf(uint64_t payload) {
  Operation operation;
  operation.kind = OperationClass::branch;
  if ((payload & 1) != 0) operation.flags |= kConditional;
  if ((payload & 2) != 0) operation.flags |= kIndirect;
  return operation;
}

Part takeAddress(const Packet& packet, SpeRecord& record) {
  switch (packet.index) {
    case kAddressPc:
      record.pc = codeAddress(packet.payload);
      record.exceptionLevel = static_cast<uint8_t>((packet.payload >> 61) & 3);
      record.nonSecure = (packet.payload >> 63) != 0;
      return kPartPc;
    case kAddressBranchTarget:
      record.branchTarget = codeAddress(packet.payload);
      return kPartBranchTarget;
    case kAddressVirtual:
      record.virtualAddress = dataAddress(packet.payload);
      return kPartVirtual;
    case kAddressPhysical:
      record.physicalAddress = packet.payload & kLow56;
      return kPartPhysical;
    case kAddressPreviousTarget:
      record.previousBranchTarget = codeAddress(packet.payload);
      return kPartPreviousTarget;
    default:
      return kPartUnknown;
  }
}

Part takeCounter(const Packet& packet, SpeRecord& record) {
  const auto cycles = static_cast<uint16_t>(packet.payload);
  switch (packet.index) {
    case kCounterTotal:
      record.totalLatency = cycles;
      return kPartTotal;
    case kCounterIssue:
      record.issueLatency = cycles;
      return kPartIssue;
    case kCounterTranslation:
      record.translationLatency = cycles;
      return kPartTranslation;
    default:
      return kPartUnknown;
  }
}

Part takeContext(const Packet& packet, SpeRecord& record) {
  const auto value = static_cast<uint32_t>(packet.payload);
  switch (packet.index) {
    case 0:
      record.contextEl1 = value;
      return kPartContextEl1;
    case 1:
      record.contextEl2 = value;
      return kPartContextEl2;
    default:
      return kPartUnknown;
  }
}

/// Puts a packet of a record into it and says which part it is.
inline Part take(const Packet& packet, SpeRecord& record) {
  switch (packet.kind) {
    case PacketKind::address:
      return takeAddress(packet, record);
    case PacketKind::counter:
      return takeCounter(packet, record);
    case PacketKind::context:
      return takeContext(packet, record);
    case PacketKind::operation:
      record.operation = operationOf(packet.index, packet.payload);
      return kPartOperation;
    case PacketKind::events:
      record.events = packet.payload;
      return kPartEvents;
    case PacketKind::dataSource:
      record.dataSource = packet.payload;
      return kPartDataSource;
    case PacketKind::timestamp:
      record.timestamp = packet.payload;
      return kPartTimestamp;
    default:
      return kPartUnknown;
  }
}

/// Zero bytes, padding packets, from `at` on.
size_t endOfPadding(std::span<const uint8_t> bytes, size_t at) {
  uint64_t word = 0;
  while (bytes.size() - at >= sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word != 0) break;
    at += sizeof word;
  }
  while (at < bytes.size() && bytes[at] == 0) ++at;
  return at;
}

}  // namespace

Operation operationOf(uint8_t index, uint64_t payload) {
  switch (index) {
    case kOperationLoadStore:
      return loadStoreOf(payload);
    case kOperationBranch:
      return branchOf(payload);
    case kOperationOther:
      return otherOf(payload);
    default:
      return {};
  }
}

DecodeCounts& DecodeCounts::operator+=(const DecodeCounts& other) {
  records += other.records;
  packets += other.packets;
  badBytes += other.badBytes;
  droppedRecords += other.droppedRecords;
  truncatedRecords += other.truncatedRecords;
  truncatedBytes += other.truncatedBytes;
  return *this;
}

/// At an END or timestamp: whether `record` is one to hand out. Otherwise it is empty again.
bool SpeBuffer::finishRecord(SpeRecord& record, bool repeated) {
  if (lost_) {
    if (!record.has(kPartPc) || repeated) {
      counts_.droppedRecords += record.parts != 0;
      record = {};
      return false;
    }
    lost_ = false;
  }
  if (record.parts == 0) return false;  // an END of nothing
  ++counts_.records;
  return true;
}

void SpeBuffer::skipBad(SpeRecord& record, bool& repeated) {
  if (counts_.badBytes == 0) firstBad_ = position_;
  ++counts_.badBytes;
  ++position_;
  counts_.droppedRecords += record.parts != 0;
  record = {};
  repeated = false;
  lost_ = true;
}

bool SpeBuffer::next(SpeRecord& record) {
  record = {};
  bool repeated = false;
  Packet packet;
  while (position_ < bytes_.size()) {
    if (!parsePacket(bytes_.subspan(position_), auxOffset_ + position_, packet)) {
      if (record.parts == 0) record.position = position_;
      record.parts |= kPartUnknown;
      position_ = bytes_.size();
      break;
    }
    switch (packet.kind) {
      case PacketKind::bad:
        skipBad(record, repeated);
        continue;
      case PacketKind::padding:
        position_ = endOfPadding(bytes_, position_);
        continue;
      case PacketKind::alignment:
        position_ += packet.size;
        continue;
      default:
        break;
    }
    ++counts_.packets;
    if (record.parts == 0) record.position = position_;
    position_ += packet.size;
    if (packet.kind != PacketKind::end) {
      const Part part = take(packet, record);
      if (part != kPartUnknown && record.has(part)) repeated = true;
      record.parts |= part;
    }
    if (packet.kind == PacketKind::end || packet.kind == PacketKind::timestamp) {
      if (finishRecord(record, repeated)) return true;
      repeated = false;
    }
  }
  if (record.parts != 0) {
    ++counts_.truncatedRecords;
    counts_.truncatedBytes += bytes_.size() - record.position;
    record = {};
  }
  return false;
}

}  // namespace cacheline::spe
