// The traced type in a program: its words, the allocations that make objects of it, its variables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/typed_binaries.h"
#include "types/type_table.h"

namespace cacheline::traces {

/// A piece of an object that one debug register can watch: 1, 2, 4 or 8 bytes at a multiple of that.
struct TypeWord {
  uint64_t offset = 0;  ///< bytes from the object's start
  uint32_t length = 8;  ///< bytes
};

struct FoundType {
  std::string name, member;  ///< member: empty where the whole object is meant
  uint64_t size = 0;         ///< bytes
  std::vector<TypeWord> words;
};

/// A part of a file that a process has mapped (proc_pid_maps(5)).
struct MappedPart {
  uint64_t start = 0, end = 0, fileOffset = 0;
  std::string path;  ///< as it can be opened here
};

struct FoundVariable {
  uint64_t address = 0;  ///< in the process
  std::string name;
};

/// The most bytes of an object that are watched: words of larger ones have to be named as members.
inline constexpr uint64_t kMostTraced = 4096;

/// Used by one thread at a time.
class TypeFinder {
 public:
  /// `expression`: TYPE or TYPE.member.member, as `cacheline layout` takes types.
  explicit TypeFinder(std::string expression);

  /// In the program's binaries, the program first. Throws Error(usage): no such type or member, several types
  /// of that name, more than kMostTraced bytes; Error(unreadable): none of them has debug information.
  const FoundType& find(const std::vector<std::string>& binaries);

  /// After find(). Where in a block of `size` bytes, which the call chain `frames` (return addresses,
  /// innermost first) allocates, an object of the type begins; empty: the code does not say that there is
  /// one.
  std::optional<uint64_t> placeIn(const std::vector<MappedPart>& parts, std::span<const uint64_t> frames,
                                  uint64_t size);
  /// After find(). The variables with static storage that are such objects; of arrays their first elements.
  std::vector<FoundVariable> variables(const std::vector<MappedPart>& parts);

 private:
  struct Place {
    uint32_t binary = analysis::kNone;
    uint64_t elfAddress = 0;
  };
  std::optional<Place> placeOf(const std::vector<MappedPart>& parts, uint64_t address);
  bool findIn(uint32_t binary, const std::string& name, const std::string& member);
  bool isWanted(uint32_t binary, types::TypeId type);
  std::optional<uint64_t> offsetIn(uint32_t binary, types::TypeId type);

  std::string expression_;
  perfdata::Features features_;
  analysis::Meta meta_;
  analysis::Binaries binaries_{features_, meta_};
  analysis::TypedBinaries typed_{binaries_};
  FoundType found_;
};

}  // namespace cacheline::traces
