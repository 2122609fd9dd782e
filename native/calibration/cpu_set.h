// A set of CPU numbers as sched_setaffinity(2) takes it.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace cacheline::calibration {

/// Holds every CPU number that a Linux kernel can have (CONFIG_NR_CPUS is at most 8192).
class CpuSet {
 public:
  static constexpr uint32_t kCpus = 1 << 16;

  CpuSet() : set_(CPU_ALLOC(kCpus)) {
    if (set_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes(), set_);
  }
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;

  void add(uint32_t cpu) { CPU_SET_S(cpu, bytes(), set_); }
  bool has(uint32_t cpu) const { return CPU_ISSET_S(cpu, bytes(), set_) != 0; }
  /// Of the calling thread; false leaves the reason in errno.
  bool read() { return ::sched_getaffinity(0, bytes(), set_) == 0; }
  bool apply() const { return ::sched_setaffinity(0, bytes(), set_) == 0; }

 private:
  static size_t bytes() { return CPU_ALLOC_SIZE(kCpus); }
  cpu_set_t* set_;
};

}  // namespace cacheline::calibration
