// Reading numbers and strings out of foreign bytes, of either byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace cacheline::perfdata {

/// Whether numbers are stored as this machine stores them, or the other way round.
enum class ByteOrder : uint8_t { native, foreign };

/// The T stored at `at`, which need not be aligned. The caller has checked that its bytes are there.
template <typename T>
inline T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
constexpr T swapBytes(T value) {
  static_assert(std::is_integral_v<T> && std::is_unsigned_v<T>);
  if constexpr (sizeof value == 8) return __builtin_bswap64(value);
  if constexpr (sizeof value == 4) return __builtin_bswap32(value);
  if constexpr (sizeof value == 2) return __builtin_bswap16(value);
  return value;
}

/// The same of a number that is stored in `order`. Where `order` is a constant, it costs nothing to ask.
template <typename T>
inline T load(const uint8_t* at, ByteOrder order) {
  using Raw = std::make_unsigned_t<T>;
  const Raw value = load<Raw>(at);
  return static_cast<T>(order == ByteOrder::native ? value : swapBytes(value));
}

/// Lower-case hexadecimal digits of `bytes`.
std::string hexDigits(std::span<const uint8_t> bytes);

/// "0x1f".
std::string hexNumber(uint64_t value);

/// Walks over bytes that may be too short: a read beyond the end gives zero or empty and turns ok() false for
/// good.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const uint8_t> bytes, ByteOrder order = ByteOrder::native)
      : bytes_(bytes), order_(order) {}

  bool ok() const { return ok_; }
  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }
  ByteOrder order() const { return order_; }
  /// What is read does not make sense: no more of it.
  void fail() { ok_ = false; }

  /// A number.
  template <typename T>
  T take() {
    const auto raw = take(sizeof(T));
    return raw.empty() ? T{} : load<T>(raw.data(), order_);
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
  ByteOrder order_;
  bool ok_ = true;
};

}  // namespace cacheline::perfdata
