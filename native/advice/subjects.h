// What a report's accesses touch, as things whose place can be changed: objects of structures, elements of
// arrays, variables, heap blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report.h"

namespace cacheline::advice {

inline constexpr uint32_t kNone = ~uint32_t{0};
/// Fewer contended samples are not spoken of, as of victims (docs/outputs.md, "Verdicts").
inline constexpr double kFewestSamples = 8;

constexpr uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

struct Subject {
  enum class Kind : uint8_t {
    type,      ///< objects of a structure, wherever they are
    elements,  ///< of an array whose elements have no members
    variable,  ///< without members
    block      ///< of a heap, of which no type is known
  };
  Kind kind = Kind::type;
  std::string type = {};    ///< of one object or element; empty: not known
  std::string object = {};  ///< the variable; of a type, where all objects are in one variable
  std::optional<analysis::Place> definition = {};      ///< of the type, or of the variable
  uint64_t size = 0;                                   ///< bytes of one object or element
  uint64_t count = 0;                                  ///< of objects that are known of; 0: unknown
  const analysis::TypeHeat* described = nullptr;       ///< of a type
  std::optional<analysis::HeapBlock> allocation = {};  ///< of its first object that is in a recorded block
  /// A type of the system's headers or libraries (a mutex, an atomic): its members stay as they are, and are
  /// told of as one. Not where it holds objects of a type that is not such a one.
  bool opaque = false;
  /// Some of its objects, or arrays of them, are on a heap and do not begin a line.
  bool unaligned = false;
  bool inArrays = false;  ///< some of those on a heap are elements of an array
  uint64_t elements = 0;  ///< of the longest array whose type says how many; 0: none
  /// By name: variables with static storage that are such an object, or an array of them.
  std::map<std::string, std::optional<analysis::Place>> variables = {};
};

/// One object that holds an address, or an element of an array: those that hold it in turn are in front.
struct Frame {
  uint32_t subject = kNone;
  uint64_t base = 0;        ///< address of its first byte
  uint64_t first = 0;       ///< of an element of the outermost array: where the array begins; else as `base`
  uint32_t member = kNone;  ///< of a type: of TypeHeat::own, the one that holds the address; kNone: a hole
};

class Subjects {
 public:
  /// The report is kept.
  explicit Subjects(const analysis::Report& report);

  const std::vector<Subject>& list() const { return list_; }
  /// What lies at an address of a line, as far as an access to the line names it; the outermost object first.
  std::vector<Frame> at(uint32_t line, uint64_t address) const;
  /// The lines with accesses to objects of a subject, ascending.
  const std::vector<uint32_t>& linesOf(uint32_t subject) const { return lines_[subject]; }

 private:
  struct Region {
    uint64_t start = 0, end = 0;  ///< addresses
    uint64_t first = 0;           ///< as Frame::first
    uint32_t subject = kNone;
    bool operator<(const Region& other) const { return start < other.start; }
  };
  bool isOpaque(uint32_t subject, int depth = 0) const;
  std::optional<Region> regionOf(const analysis::Line& line, const analysis::Access& access);
  uint32_t subjectOf(Subject subject);
  void findArrays();
  void descend(uint32_t subject, uint64_t base, uint64_t address, std::vector<Frame>& frames) const;

  const analysis::Report& report_;
  std::vector<Subject> list_;
  std::map<std::pair<std::string, std::string>, uint32_t> types_;  ///< by name and binary
  std::map<std::string, uint32_t> others_;                         ///< by what tells them apart
  std::vector<std::vector<Region>> regions_;                       ///< by line, ascending, none overlaps
  std::vector<std::vector<uint32_t>> lines_;                       ///< by subject
};

/// "T[2][3]" and "T [8]" to "T".
std::string_view elementName(std::string_view type);
/// "T[2][3]" to 6; 0 where a number of elements is not known.
uint64_t elementsOf(std::string_view type);

}  // namespace cacheline::advice
