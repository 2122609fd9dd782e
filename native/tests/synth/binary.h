// The program that the samples pretend to come from: where its code and its static data lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::synth {

inline constexpr uint64_t kPage = 4096, kLine = 64;  ///< bytes

/// A mapping of the program's file, addresses as in the file.
struct Part {
  uint64_t address = 0, length = 0, pageOffset = 0;  ///< whole pages
  uint32_t protection = 0;                           ///< PROT_*
};

struct Binary {
  std::string path, buildId;
  std::vector<Part> parts;
  std::vector<uint64_t> loads, stores;      ///< instructions that read, that write memory
  uint64_t dataAddress = 0, dataLines = 0;  ///< of static data that lies in the file: whole cache lines
};

/// Chooses `codes` instructions of the ELF file at `path`, evenly over its functions: three of four read
/// memory. An empty path gives a program that does not exist. Throws Error where the file has fewer of them.
Binary readBinary(const std::string& path, uint64_t codes);

}  // namespace cacheline::synth
