// Small text files of /proc and /sys, and the notations they use.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace cacheline {

/// Bytes of a file that are read where the caller asks for no other limit.
inline constexpr size_t kMostKernelText = size_t{4} << 20;

/// The file's text without its last newline; nullopt where it cannot be read, with errno set. At most `most`
/// bytes are read.
std::optional<std::string> readText(const std::string& path, size_t most = kMostKernelText);

/// The whole text as a decimal number; nullopt where it is none, or out of the type's range.
template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The file's decimal number; nullopt where it cannot be read or is none.
std::optional<int64_t> readNumber(const std::string& path);

/// Without spaces, tabs and newlines at both ends.
std::string_view trim(std::string_view text);

/// Takes the text up to the separator off the front of `rest`, with the separator.
std::string_view takeUntil(std::string_view& rest, char separator);

/// The value of the first "key : value" line of such a file's text, trimmed ("/proc/self/status",
/// "/proc/cpuinfo"); empty where there is no such line.
std::string fieldOf(std::string_view text, std::string_view key);

/// "0-2,5" -> {0, 1, 2, 5}. Malformed parts are left out; ranges end at CPU 65535.
std::vector<uint32_t> parseCpuList(std::string_view text);

/// Names in a directory, sorted, without those that start with a dot; empty where it cannot be read.
std::vector<std::string> listDirectory(const std::string& path);

/// "a, b, c".
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace cacheline
