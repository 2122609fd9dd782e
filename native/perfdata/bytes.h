// Reading numbers and strings out of foreign bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace cacheline::perfdata {

/// The T stored at `at`, which need not be aligned. The caller has checked that its bytes are there.
template <typename T>
inline T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Lower-case hexadecimal digits of `bytes`.
std::string hexDigits(std::span<const uint8_t> bytes);

/// "0x1f".
std::string hexNumber(uint64_t value);

/// Walks over bytes that may be too short: a read beyond the end gives zero or empty and turns ok() false for
/// good.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }

  template <typename T>
  T take() {
    const auto raw = take(sizeof(T));
    return raw.empty() ? T{} : load<T>(raw.data());
  }
  std::span<const uint8_t> take(size_t size) {
    if (!ok_ || size > left()) {
      ok_ = false;
      return {};
    }
    position_ += size;
    return bytes_.subspan(position_ - size, size);
  }
  /// A string of a feature section: uint32_t length, then that many bytes, zero-padded.
  std::string takeString() {
    const auto raw = take(take<uint32_t>());
    const auto* text = reinterpret_cast<const char*>(raw.data());
    return raw.empty() ? std::string() : std::string(text, ::strnlen(text, raw.size()));
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace cacheline::perfdata
