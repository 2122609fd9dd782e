// How much memory something takes.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>

namespace cacheline::symbols::test {

/// The most bytes that a process has in memory at once.
template <typename Work>
uint64_t peakOf(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    [&]() noexcept { work(); }();  // an exception must not get to the tests
    ::_exit(0);
  }
  int status = 0;
  rusage used{};
  if (::wait4(child, &status, 0, &used) != child || status != 0) throw std::runtime_error("it has failed");
  return static_cast<uint64_t>(used.ru_maxrss) << 10;
}

/// What `work` adds to that, which is done in a process of its own.
template <typename Work>
uint64_t memoryUse(Work&& work) {
  const uint64_t before = peakOf([] {}), with = peakOf(work);
  return with > before ? with - before : 0;
}

}  // namespace cacheline::symbols::test
