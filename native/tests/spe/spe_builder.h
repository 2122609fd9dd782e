// Builds SPE packets and records byte by byte, after the Arm Architecture Reference Manual (DDI 0487).
//
//   SpeBuilder b;
//   b.pc(0x401000,
//   0).virtualAddress(0x7f00'0000'1040).total(120).load().events(kEventL1dAccess).timestamp(77); b.bytes();
#pragma once

#include <cstdint>
#include <vector>

namespace cacheline::spe::testing {

class SpeBuilder {
 public:
  SpeBuilder& pad(size_t count = 1) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  SpeBuilder& end() { return raw({0x01}); }
  SpeBuilder& timestamp(uint64_t ticks) { return header(0x71).number(ticks, 8); }
  /// `width`: bytes of the payload, 1, 2, 4 or 8; it stands in bits 5:4 of the header.
  SpeBuilder& events(uint64_t bits, unsigned width = 4) {
    return header(0x42 | sizeBits(width)).number(bits, width);
  }
  SpeBuilder& dataSource(uint64_t code, unsigned width = 1) {
    return header(0x43 | sizeBits(width)).number(code, width);
  }
  /// `level` 1 or 2: CONTEXTIDR_EL1 or _EL2.
  SpeBuilder& context(uint32_t id, unsigned level = 1) { return header(0x64 + (level - 1)).number(id, 4); }
  /// `kind`: 0 other, 1 load, store or atomic, 2 branch.
  SpeBuilder& operation(unsigned kind, uint8_t payload) { return header(0x48 + kind).number(payload, 1); }
  SpeBuilder& load(uint8_t payload = 0x00) { return operation(1, payload & 0xfe); }
  SpeBuilder& store(uint8_t payload = 0x00) { return operation(1, payload | 0x01); }
  SpeBuilder& branch(uint8_t payload = 0x00) { return operation(2, payload); }
  SpeBuilder& other(uint8_t payload = 0x00) { return operation(0, payload); }

  /// Indices above 7 need the extended header.
  SpeBuilder& address(unsigned index, uint64_t payload, bool extended = false) {
    return indexed(0xb0, index, extended).number(payload, 8);
  }
  SpeBuilder& counter(unsigned index, uint16_t cycles, bool extended = false) {
    return indexed(0x98, index, extended).number(cycles, 2);
  }
  SpeBuilder& pc(uint64_t address, unsigned level, bool nonSecure = true) {
    return this->address(0, codePayload(address, level, nonSecure));
  }
  SpeBuilder& target(uint64_t address, unsigned level, bool nonSecure = true) {
    return this->address(1, codePayload(address, level, nonSecure));
  }
  SpeBuilder& virtualAddress(uint64_t address, uint8_t tag = 0) {
    return this->address(2, (address & kLow56) | uint64_t{tag} << 56);
  }
  SpeBuilder& physicalAddress(uint64_t address, bool nonSecure = true) {
    return this->address(3, (address & kLow56) | uint64_t{nonSecure} << 63);
  }
  SpeBuilder& total(uint16_t cycles) { return counter(0, cycles); }
  SpeBuilder& issue(uint16_t cycles) { return counter(1, cycles); }
  SpeBuilder& translation(uint16_t cycles) { return counter(2, cycles); }
  /// Up to a multiple of 2 << `power`; the caller appends what it fills.
  SpeBuilder& alignment(unsigned power) { return header(0x20 | power).header(0x00); }

  SpeBuilder& raw(const std::vector<uint8_t>& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kLow56 = (uint64_t{1} << 56) - 1;
  static uint64_t codePayload(uint64_t address, unsigned level, bool nonSecure) {
    return (address & kLow56) | uint64_t{level} << 61 | uint64_t{nonSecure} << 63;
  }
  static unsigned sizeBits(unsigned width) {
    const unsigned log = width == 8 ? 3 : width == 4 ? 2 : width == 2 ? 1 : 0;
    return log << 4;
  }
  SpeBuilder& indexed(unsigned base, unsigned index, bool extended) {
    if (index > 7 || extended) header(0x20 | index >> 3);
    return header(base | (index & 7));
  }
  SpeBuilder& header(unsigned byte) {
    bytes_.push_back(static_cast<uint8_t>(byte));
    return *this;
  }
  SpeBuilder& number(uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }

  std::vector<uint8_t> bytes_;
};

}  // namespace cacheline::spe::testing
