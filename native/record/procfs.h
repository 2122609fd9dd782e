// What /proc says of a process and its threads.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/kernel_files.h"

namespace cacheline::record {

/// The ids of a process's threads, ascending; empty where it has ended.
std::vector<pid_t> threadsOf(pid_t process);

/// What a link of the process ("exe") points to, told by any of its threads; empty where none tells.
std::string linkOf(pid_t process, const std::string& name);

/// Where the process is in another mount namespace (a container), "/proc/PID/root": its files are below that
/// as long as it lives. "/proc/PID/task/TID/root" where its first thread has ended; else empty.
std::string foreignRoot(pid_t process);

}  // namespace cacheline::record
