// Packets of Arm's Statistical Profiling Extension (SPE), as a CPU writes them into the AUX buffer.
// Source of the format: Arm Architecture Reference Manual (DDI 0487), "Statistical Profiling Extension sample
// record specification". All numbers are little-endian, whatever the recorded system was.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cacheline::spe {

enum class PacketKind : uint8_t {
  bad,  ///< no header of the manual: one byte to skip
  padding,
  alignment,  ///< fills up to an address that is a multiple of 2, 4, 8 or 16
  end,        ///< ends a record that has no timestamp
  timestamp,  ///< generic timer's counter; ends a record
  address,    ///< index: AddressIndex
  counter,    ///< index: CounterIndex
  context,    ///< index: 0 for CONTEXTIDR_EL1, 1 for CONTEXTIDR_EL2
  operation,  ///< index: OperationIndex
  events,     ///< a set of Event bits
  dataSource  ///< implementation defined, see spe/data_source.h
};

/// Kinds of address packets.
enum AddressIndex : uint8_t {
  kAddressPc = 0,
  kAddressBranchTarget = 1,
  kAddressVirtual = 2,
  kAddressPhysical = 3,
  kAddressPreviousTarget = 4,
};

/// Kinds of counter packets; all count CPU cycles.
enum CounterIndex : uint8_t { kCounterTotal = 0, kCounterIssue = 1, kCounterTranslation = 2 };

/// Classes of operation type packets.
enum OperationIndex : uint8_t { kOperationOther = 0, kOperationLoadStore = 1, kOperationBranch = 2 };

struct Packet {
  uint64_t payload = 0;  ///< zero-extended; 0 where the kind has none
  size_t size = 0;       ///< bytes with header
  PacketKind kind = PacketKind::bad;
  uint8_t index = 0;
  uint8_t payloadBytes = 0;
};

namespace detail {

/// What a header byte says. An address or counter header may follow an extension byte.
struct HeaderShape {
  PacketKind kind = PacketKind::bad;
  uint8_t index = 0;
  uint8_t payloadBytes = 0;
};

/// Bits 5:4 of every header with a payload are log2 of its bytes.
constexpr HeaderShape shapeOf(uint8_t header) {
  const auto bytes = static_cast<uint8_t>(1 << ((header >> 4) & 3));
  const auto low2 = static_cast<uint8_t>(header & 3), low3 = static_cast<uint8_t>(header & 7);
  if (header == 0x00) return {PacketKind::padding, 0, 0};
  if (header == 0x01) return {PacketKind::end, 0, 0};
  if (header == 0x71) return {PacketKind::timestamp, 0, bytes};
  if ((header & 0xcf) == 0x42) return {PacketKind::events, 0, bytes};
  if ((header & 0xcf) == 0x43) return {PacketKind::dataSource, 0, bytes};
  if ((header & 0xfc) == 0x64) return {PacketKind::context, low2, bytes};
  if ((header & 0xfc) == 0x48) return {PacketKind::operation, low2, bytes};
  if ((header & 0xf8) == 0xb0) return {PacketKind::address, low3, bytes};
  if ((header & 0xf8) == 0x98) return {PacketKind::counter, low3, bytes};
  return {};
}

constexpr auto makeShapes() {
  std::array<HeaderShape, 256> shapes{};
  for (size_t header = 0; header < shapes.size(); ++header)
    shapes[header] = shapeOf(static_cast<uint8_t>(header));
  return shapes;
}
inline constexpr std::array<HeaderShape, 256> kShapes = makeShapes();

constexpr bool isExtension(uint8_t header) {
  return (header & 0xfc) == 0x20;
}

/// The payload at `at`, whose bytes the caller has checked.
inline uint64_t loadPayload(const uint8_t* at, uint8_t bytes) {
  uint64_t value = 0;
  switch (bytes) {
    case 1:
      return *at;
    case 2:
      std::memcpy(&value, at, 2);
      return value;
    case 4:
      std::memcpy(&value, at, 4);
      return value;
    case 8:
      std::memcpy(&value, at, 8);
      return value;
    default:
      return 0;
  }
}

}  // namespace detail

/// Reads the packet at the start of `bytes`. False where `bytes` are empty or end within the packet. Any
/// other bytes give a packet, `bad` ones included, of at least one byte and at most `bytes.size()`.
///
/// `auxOffset` is the place of the first byte in the AUX buffer; alignment packets depend on it. One that
/// reaches beyond `bytes` fills the rest of them.
inline bool parsePacket(std::span<const uint8_t> bytes, uint64_t auxOffset, Packet& packet) {
  if (bytes.empty()) return false;
  const uint8_t first = bytes[0];
  detail::HeaderShape shape = detail::kShapes[first];
  size_t headerBytes = 1;
  if (detail::isExtension(first)) [[unlikely]] {
    if (bytes.size() < 2) return false;
    if (bytes[1] == 0) {
      const uint64_t alignment = uint64_t{2} << (first & 3);
      const uint64_t filled = ((auxOffset + 2 + alignment - 1) & ~(alignment - 1)) - auxOffset;
      packet = {0, filled < bytes.size() ? static_cast<size_t>(filled) : bytes.size(), PacketKind::alignment,
                static_cast<uint8_t>(first & 3), 0};
      return true;
    }
    shape = detail::kShapes[bytes[1]];
    if (shape.kind != PacketKind::address && shape.kind != PacketKind::counter) {
      packet = {0, 1, PacketKind::bad, 0, 0};
      return true;
    }
    shape.index = static_cast<uint8_t>((first & 3) << 3 | shape.index);
    headerBytes = 2;
  }
  const size_t size = shape.kind == PacketKind::bad ? 1 : headerBytes + shape.payloadBytes;
  if (size > bytes.size()) return false;
  packet = {detail::loadPayload(bytes.data() + headerBytes, shape.payloadBytes), size, shape.kind,
            shape.index, shape.payloadBytes};
  return true;
}

}  // namespace cacheline::spe
