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

#include "analysis/address_space.h"
#include "analysis/report.h"

namespace cacheline::analysis {

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
  std::string type = {};                 ///< of one object or element; empty: not known
  std::string object = {};               ///< the variable; of a type, where all objects are in one variable
  std::optional<Place> definition = {};  ///< of the type, or of the variable
  uint64_t size = 0;                     ///< bytes of one object or element
  uint64_t count = 0;                    ///< of objects that are known of; 0: unknown
  const TypeHeat* described = nullptr;   ///< of a type
  std::optional<HeapBlock> allocation = {};  ///< of its first object that is in a recorded block
  /// A type of the language's own library (a mutex, an atomic, the counts of a shared pointer): its members
  /// stay as they are, and are told of as one, but for objects of other types that it holds.
  bool fixed = false;
  bool opaque = false;  ///< fixed, and holds no objects of other types
  /// Some of its objects, or arrays of them, are on a heap and do not begin a line.
  bool unaligned = false;
  bool inArrays = false;  ///< some of those on a heap are elements of an array
  uint64_t elements = 0;  ///< of the longest array whose type says how many; 0: none
  struct Variable {
    std::string type;    ///< of all of it, readable; empty: not known
    uint64_t bytes = 0;  ///< of all of it
    std::optional<Place> definition;
  };
  /// By name: variables with static storage that are such an object, or an array of them.
  std::map<std::string, Variable> variables = {};
};

/// One object that holds an address, or an element of an array: those that hold it in turn are in front.
struct Holder {
  uint32_t subject = kNone;
  uint64_t base = 0;        ///< address of its first byte
  uint64_t first = 0;       ///< of an element of the outermost array: where the array begins; else as `base`
  uint32_t member = kNone;  ///< of a type: of TypeHeat::own, the one that holds the address; kNone: a hole
};

/// How what an access waits for lies to where it waits.
enum class Relation : uint8_t {
  itself,    ///< the same word
  inside,    ///< another member of the same object
  member,    ///< another part of the same member, which has no members
  between,   ///< another object of the same subject
  elsewhere  ///< an object of another subject, or what has no name
};

class Subjects {
 public:
  /// The report is kept.
  explicit Subjects(const Report& report);

  const std::vector<Subject>& list() const { return list_; }
  /// What lies at an address of a line, as far as an access to the line names it; the outermost object first.
  std::vector<Holder> at(uint32_t line, uint64_t address) const;
  /// Of the objects that hold a word (as at() has them, not empty), the one that people know and change: of
  /// waiting for another part of an object the innermost one that holds both; of waiting for another element
  /// of an array the element; of waiting for the word itself the innermost element of an array, else the
  /// outermost object; of all other waiting that one. An object that only wraps another structure is none.
  struct Told {
    const Holder& holder;
    Relation relation = Relation::itself;
  };
  Told toldOf(const std::vector<Holder>& at, const std::vector<Holder>& by, bool sameWord) const;
  /// The lines with accesses to objects of a subject, ascending.
  const std::vector<uint32_t>& linesOf(uint32_t subject) const { return lines_[subject]; }

 private:
  struct Region {
    uint64_t start = 0, end = 0;  ///< addresses
    uint64_t first = 0;           ///< as Holder::first
    uint32_t subject = kNone;
    /// Of those that begin together, the one that holds the others comes first.
    bool operator<(const Region& other) const {
      return start != other.start ? start < other.start : end > other.end;
    }
  };
  std::optional<uint32_t> typeOf(const layouts::LayoutMember& member, const std::string& binary) const;
  std::optional<uint32_t> typeOf(const DataName& data, std::string_view element, uint64_t inObject) const;
  bool isOpaque(uint32_t subject, int depth = 0) const;
  /// A structure of which it is not known that its members stay as they are.
  std::optional<uint32_t> movableIn(const Subject& holder, const layouts::LayoutMember& member) const;
  std::optional<Region> regionOf(const Line& line, const Access& access);
  uint32_t subjectOf(Subject subject);
  void findArrays();
  void findOwners();
  bool isWrapper(uint32_t subject) const;
  size_t outermost(const std::vector<Holder>& at) const;
  void descend(uint32_t subject, uint64_t base, uint64_t address, std::vector<Holder>& holders) const;

  const Report& report_;
  std::vector<Subject> list_;
  std::map<std::pair<std::string, std::string>, uint32_t> types_;  ///< by name and binary; those with a name
  std::vector<uint32_t> unnamed_;                                  ///< the other types
  std::map<std::string, uint32_t> others_;                         ///< by what tells them apart
  std::vector<std::vector<Region>> regions_;                       ///< by line, ascending, none overlaps
  std::vector<std::vector<uint32_t>> lines_;                       ///< by subject
};

/// "T[2][3]" and "T [8]" to "T".
std::string_view elementName(std::string_view type);
/// "T[2][3]" to 6; 0 where a number of elements is not known.
uint64_t elementsOf(std::string_view type);

}  // namespace cacheline::analysis
