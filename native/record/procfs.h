// Small text files of /proc and /sys, and the notations they use.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cacheline::record {

/// The file's text without its last newline; nullopt where it cannot be read (up to 4 MiB are read).
std::optional<std::string> readText(const std::string& path);

/// The file's decimal number; nullopt where it cannot be read or is none.
std::optional<int64_t> readNumber(const std::string& path);

/// Without spaces, tabs and newlines at both ends.
std::string_view trim(std::string_view text);

/// The value of the first "key : value" line of such a file's text, trimmed ("/proc/self/status",
/// "/proc/cpuinfo"); empty where there is no such line.
std::string fieldOf(std::string_view text, std::string_view key);

/// "0-2,5" -> {0, 1, 2, 5}. Malformed parts are left out; ranges end at CPU 65535.
std::vector<uint32_t> parseCpuList(std::string_view text);

/// Names in a directory, sorted, without those that start with a dot; empty where it cannot be read.
std::vector<std::string> listDirectory(const std::string& path);

/// The ids of a process's threads, ascending; empty where it has ended.
std::vector<pid_t> threadsOf(pid_t process);

/// What a link of the process ("exe") points to, told by any of its threads; empty where none tells.
std::string linkOf(pid_t process, const std::string& name);

/// Where the process is in another mount namespace (a container), "/proc/PID/root": its files are below that
/// as long as it lives. "/proc/PID/task/TID/root" where its first thread has ended; else empty.
std::string foreignRoot(pid_t process);

/// "a, b, c".
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace cacheline::record
