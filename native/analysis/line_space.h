// What makes two accesses meet on one cache line: the spaces in which lines live.
//
// Private memory is keyed by process and virtual address; after a fork both processes have their own copy.
// Shared mappings are keyed by (device, inode) and file offset, whoever maps them and wherever. The kernel is
// one space.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "base/hash.h"

namespace cacheline::analysis {

struct LineSpace {
  bool shared = false, kernel = false;
  uint32_t pid = 0;          ///< private
  uint32_t id = 0;           ///< private: of the address space
  uint32_t incarnation = 0;  ///< private: tells processes apart that had the pid one after the other
  Backing file;              ///< shared
  std::string label()
      const;  ///< "pid 5000", "kernel", "file 00:1b:1234" (major and minor in hex, as /proc/PID/maps)
};

/// A place in a space: virtual address in a private one, file offset in a shared one.
struct Position {
  uint32_t space = 0;
  uint64_t offset = 0;
  bool operator==(const Position&) const = default;
  size_t hash() const { return mix(offset, space); }
};

/// Of all samples of one instruction at one position.
struct AccessKey {
  uint64_t offset = 0;
  uint32_t space = 0, location = 0;
  bool operator==(const AccessKey&) const = default;
  size_t hash() const { return mix(offset, (uint64_t{space} << 32) | location); }
};

class LineSpaces {
 public:
  explicit LineSpaces(const Timeline& timeline) : timeline_(timeline) {}
  /// `mapping` may be null (the main stack, which is private).
  Position locate(const AddressSpace& space, const Mapping* mapping, uint64_t address);
  Position locateKernel(uint64_t address);
  /// An order of spaces that does not depend on which was asked for first.
  bool isBefore(uint32_t a, uint32_t b) const;
  size_t size() const { return list_.size(); }
  const LineSpace& operator[](uint32_t space) const { return list_[space]; }

 private:
  uint32_t ofBacking(uint32_t backing);
  uint32_t ofProcess(const AddressSpace& space);
  uint32_t ofFile(const Backing& file);

  const Timeline& timeline_;
  std::vector<LineSpace> list_;
  HashMap<uint32_t, uint32_t> byProcess_;  ///< by id of its address space: index into list_
  std::vector<uint32_t> byBacking_;        ///< index into list_, or kNone
  uint32_t kernel_ = kNone;
  HashMap<std::string, uint32_t> byFile_;
};

}  // namespace cacheline::analysis
