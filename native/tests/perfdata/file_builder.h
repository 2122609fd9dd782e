// Builds whole recordings byte by byte, in the forms that Writer does not write: pipes, compressed records,
// the other byte order, older and newer attributes.
//
//   RecordBuilder b(ByteOrder::foreign);
//   ...
//   const auto bytes = pipeBytes(b, {attrRecord(b, 0)});
#pragma once

#include <linux/perf_event.h>
#include <zstd.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/format.h"
#include "record_builder.h"

namespace cacheline::perfdata::testing {

using Bytes = std::vector<uint8_t>;

/// Numbers and texts one behind the other, in one byte order.
class ByteBuilder {
 public:
  explicit ByteBuilder(ByteOrder order = ByteOrder::native) : order_(order) {}

  template <std::integral T>
  ByteBuilder& put(T value) {
    using Raw = std::make_unsigned_t<T>;
    const Raw stored =
        order_ == ByteOrder::native ? static_cast<Raw>(value) : swapBytes(static_cast<Raw>(value));
    const auto* raw = reinterpret_cast<const uint8_t*>(&stored);
    bytes_.insert(bytes_.end(), raw, raw + sizeof stored);
    return *this;
  }
  ByteBuilder& put(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  /// As feature sections hold it: its length with the padding, and the text, padded to 64 bytes.
  ByteBuilder& putString(const std::string& text) {
    const size_t padded = (text.size() / kStringAlignment + 1) * kStringAlignment;
    put(static_cast<uint32_t>(padded));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return zeros(padded - text.size());
  }
  ByteBuilder& zeros(size_t count) {
    bytes_.resize(bytes_.size() + count);
    return *this;
  }
  /// A record around what `body` holds.
  ByteBuilder& putRecord(uint32_t type, const Bytes& body, uint16_t misc = 0) {
    const size_t size = sizeof(perf_event_header) + body.size();
    if (size > UINT16_MAX) throw std::length_error("a record has at most 65535 bytes");
    return put(type).put(misc).put(static_cast<uint16_t>(size)).put(body);
  }

  size_t size() const { return bytes_.size(); }
  ByteOrder order() const { return order_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  ByteOrder order_;
  Bytes bytes_;
};

/// The flags of an attribute as the compiler of a machine of the other byte order lays them out: the first
/// one takes the highest bit, and precise_ip, of two bits, keeps its own order.
inline uint64_t otherMachinesFlags(const perf_event_attr& attr) {
  const uint64_t native = load<uint64_t>(reinterpret_cast<const uint8_t*>(&attr) + 40);
  uint64_t flags = 0;
  for (int bit = 0; bit < 64; ++bit) {
    if (bit != 15 && bit != 16 && (native >> bit & 1) != 0) flags |= uint64_t{1} << (63 - bit);
  }
  return flags | uint64_t{attr.precise_ip} << 47;
}

/// An attribute of `size` bytes (64 to any); its size field says `size`.
inline Bytes attrBytes(const perf_event_attr& attr, ByteOrder order,
                       uint32_t size = sizeof(perf_event_attr)) {
  ByteBuilder b(order);
  b.put(attr.type)
      .put(size)
      .put(attr.config)
      .put(attr.sample_period)
      .put(attr.sample_type)
      .put(attr.read_format);
  b.put(order == ByteOrder::native ? load<uint64_t>(reinterpret_cast<const uint8_t*>(&attr) + 40)
                                   : otherMachinesFlags(attr));
  b.put(attr.wakeup_events).put(attr.bp_type).put(attr.config1).put(attr.config2);
  b.put(attr.branch_sample_type).put(attr.sample_regs_user).put(attr.sample_stack_user);
  b.put(attr.clockid).put(attr.sample_regs_intr).put(attr.aux_watermark).put(attr.sample_max_stack);
  b.put(uint16_t{0}).put(attr.aux_sample_size).put(uint32_t{0}).put(attr.sig_data);
  Bytes bytes = b.bytes();
  bytes.resize(size, 0xab);  // what newer attributes hold is not for us
  return bytes;
}

struct FeatureBytes {
  uint32_t bit;
  Bytes content;
};

struct FileOptions {
  uint32_t attrSize = sizeof(perf_event_attr);
  std::vector<FeatureBytes> features = {};  ///< ascending
  bool halfWordBits = false;  ///< the feature bits of a 32-bit machine, whose words have 4 bytes
};

/// A file-mode recording in the byte order of `b`.
inline Bytes fileBytes(const RecordBuilder& b, const FileOptions& options = {}) {
  const ByteOrder order = b.order();
  ByteBuilder ids(order), attrs(order);
  for (const Event& event : b.events()) {
    attrs.put(attrBytes(event.attr, order, options.attrSize));
    attrs.put(uint64_t{sizeof(FileHeaderBytes) + ids.size()}).put(uint64_t{8 * event.ids.size()});
    for (const uint64_t id : event.ids) ids.put(id);
  }
  const uint64_t attrsAt = sizeof(FileHeaderBytes) + ids.size(), dataAt = attrsAt + attrs.size();
  uint64_t bits[4] = {};
  for (const FeatureBytes& feature : options.features) bits[feature.bit / 64] |= 1ull << (feature.bit % 64);
  ByteBuilder file(order);
  file.put(kMagic)
      .put(uint64_t{sizeof(FileHeaderBytes)})
      .put(uint64_t{options.attrSize + sizeof(FileSection)});
  file.put(attrsAt).put(uint64_t{attrs.size()}).put(dataAt).put(uint64_t{b.records().size()});
  file.zeros(sizeof(FileSection));
  for (const uint64_t word : bits) file.put(options.halfWordBits ? word << 32 | word >> 32 : word);
  file.put(ids.bytes()).put(attrs.bytes()).put(b.records());
  uint64_t at = file.size() + options.features.size() * sizeof(FileSection);
  for (const FeatureBytes& feature : options.features) {
    file.put(at).put(uint64_t{feature.content.size()});
    at += feature.content.size();
  }
  for (const FeatureBytes& feature : options.features) file.put(feature.content);
  return file.bytes();
}

/// A pipe-mode recording: HEADER_ATTR of every event, `header` (more such records), and the records.
inline Bytes pipeBytes(const RecordBuilder& b, const Bytes& header = {},
                       uint32_t attrSize = sizeof(perf_event_attr)) {
  ByteBuilder file(b.order());
  file.put(kMagic).put(kPipeHeaderSize);
  for (const Event& event : b.events()) {
    ByteBuilder body(b.order());
    body.put(attrBytes(event.attr, b.order(), attrSize));
    for (const uint64_t id : event.ids) body.put(id);
    file.putRecord(kRecordHeaderAttr, body.bytes());
  }
  return file.put(header).put(b.records()).bytes();
}

/// A HEADER_FEATURE record.
inline void putFeature(ByteBuilder& out, uint32_t bit, const Bytes& content) {
  ByteBuilder body(out.order());
  out.putRecord(kRecordHeaderFeature, body.put(uint64_t{bit}).put(content).bytes());
}

/// Compresses as a recorder does: one zstd stream, flushed at the end of every compressed record.
class RecordCompressor {
 public:
  /// `type`: COMPRESSED or COMPRESSED2.
  explicit RecordCompressor(uint32_t type = kRecordCompressed, ByteOrder order = ByteOrder::native)
      : type_(type), order_(order), context_(ZSTD_createCCtx()) {}
  ~RecordCompressor() { ZSTD_freeCCtx(context_); }
  RecordCompressor(const RecordCompressor&) = delete;
  RecordCompressor& operator=(const RecordCompressor&) = delete;

  /// One compressed record of `content`; `endFrame`: with the end of the zstd frame.
  Bytes record(std::span<const uint8_t> content, bool endFrame = false) {
    Bytes packed(ZSTD_compressBound(content.size()) + 64);
    ZSTD_inBuffer in{content.data(), content.size(), 0};
    ZSTD_outBuffer out{packed.data(), packed.size(), 0};
    if (ZSTD_compressStream2(context_, &out, &in, endFrame ? ZSTD_e_end : ZSTD_e_flush) != 0)
      throw std::runtime_error("zstd did not take all at once");
    packed.resize(out.pos);
    ByteBuilder body(order_), record(order_);
    if (type_ == kRecordCompressed2) body.put(uint64_t{packed.size()});
    body.put(packed);
    if (type_ == kRecordCompressed2) body.zeros((8 - body.size() % 8) % 8);
    return record.putRecord(type_, body.bytes()).bytes();
  }
  /// Compressed records of `size` bytes of content each, the last one shorter.
  Bytes records(std::span<const uint8_t> content, size_t size) {
    Bytes all;
    for (size_t at = 0; at < content.size(); at += size) {
      const Bytes one = record(content.subspan(at, std::min(size, content.size() - at)));
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

 private:
  uint32_t type_;
  ByteOrder order_;
  ZSTD_CCtx* context_;
};

}  // namespace cacheline::perfdata::testing
