// Which objects lie at addresses without a name, by what the code around many samples says of them.
//
// One sample can mislead: a stale pointer in a register, memory that was freed and used again. So the samples
// of one place and one instruction are evidence for hypotheses (type, start); what they agree on at one place
// supports the object at its other places too. An inner object (an atomic reached by `this`) gives way to the
// outer one of which it is a member, wherever some code names that one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/line_space.h"
#include "analysis/typed_binaries.h"
#include "analysis/typed_data.h"
#include "base/hash.h"
#include "base/registers.h"
#include "base/two_ends.h"

namespace cacheline::analysis {

/// An object at a place, as the samples agreed.
struct AgreedObject {
  TypedPlace place;
  How how = How::unknown;
  std::string because;
  /// Position where the row of objects of its type begins that lie end to end with it: an array, a pool.
  uint64_t arrayBase = 0;
  TypedPlace enclosing;   ///< where the object is an element of an array inside of a larger one: in that
  uint32_t name = 0;      ///< number of the type, in whatever unit
  std::string undefined;  ///< nothing is known, but a live variable points to this class without a definition
  /// Of a pointer, as inference::CodeObject: the object is one of the array that it leads to, which begins at
  /// `arrayBase` where `place.array`. 0: no such pointer is known.
  uint64_t origin = 0;
  std::string pointer;  ///< its name; empty: it has none
  /// An object of another type that lay there before or after.
  struct Other {
    TypedPlace place;
    uint64_t arrayBase = 0;
    uint64_t first = 0, last = 0;  ///< ns: when it was seen
    std::optional<double> share;   ///< of the access's samples; empty: they do not say when they were
  };
  std::vector<Other> others;
};

inline constexpr const char* kFollowed = "type of the address followed through the code";

class ObjectEvidence {
 public:
  explicit ObjectEvidence(TypedBinaries& typed) : typed_(typed) {}

  /// One sample of the instruction `location`; or, without registers, one of its rows, at whatever time.
  struct Observation {
    Position position;     ///< of the access
    uint64_t address = 0;  ///< the same in the process
    uint64_t time = 0;     ///< ns; only beside registers
    uint32_t location = 0, binary = kNone;
    uint64_t access = 0, ip = 0;           ///< ELF addresses: of the accessing and of the sampled instruction
    uint64_t loadBias = 0;                 ///< from ELF addresses to the process's
    uint32_t width = 0;                    ///< bytes
    const Registers* registers = nullptr;  ///< as of `ip`; null: it is a row
    uint32_t samples = 1;                  ///< for which it was chosen
  };
  /// A sample. Costs a look-up; and of the first samples of each place and instruction, then of a few, an
  /// evaluation of the variables that are live there.
  void add(const Observation& seen);
  /// Rows: unless samples with registers answered before, the code is followed.
  void add(std::span<const Observation> rows);
  /// For a second thread, while one adds rows: follows code for it, with types that are this thread's alone.
  void help(TypedBinaries& typed);
  /// After the last sample.
  void agree();
  /// What was agreed on for an access at `position` by the instructions `locations`; where none are given, by
  /// all that touched the object around it. Without a type: nothing, maybe with the reason.
  AgreedObject at(Position position, std::span<const uint32_t> locations);
  /// Number of the kind of evidence that `location` gives at a place: of two instructions with equal ones
  /// at() tells the same there, but for the words. kNone: it is by registers, and like no other.
  uint32_t kindAt(Position position, uint32_t location);
  /// Whether several objects of that type, of `size` bytes, were agreed on in [begin, begin + bytes): all of
  /// them elements of one array that begins there, as code counts them or by the greatest step that leads to
  /// each.
  bool areElements(const AgreedObject& of, Position begin, uint64_t bytes, uint64_t size) const;
  /// A stretch of memory, for a time.
  struct Lifetime {
    Position begin;
    uint64_t bytes = 0, from = 0, to = 0;  ///< ns
  };
  /// Whether a structure was agreed on there that is no part of an array of such objects.
  bool hasOthers(const AgreedObject& element, const Lifetime& lifetime) const;

 private:
  using Key = AccessKey;
  /// A kind of object that an instruction was seen to touch.
  struct Hypothesis {
    inference::CodeObject::How how = inference::CodeObject::How::pointer;
    uint32_t binary = kNone;
    types::TypeId type = types::kNoType;
    uint32_t kind = kNone;  ///< of evidence for it at `kindOffset`, see kindAt()
    uint64_t kindOffset = 0;
    uint32_t name = 0;     ///< number of (type name, size, binary): the type wherever DWARF repeats it
    uint64_t size = 0;     ///< bytes; 0: unknown
    uint32_t layers = 0;   ///< as inference::layersOf()
    bool open = false;     ///< it ends in an array without a length of its own
    bool array = false;    ///< the start is that of the first of several such objects
    bool indexed = false;  ///< only the offset in an element is known, not which element
    uint64_t element = 0;  ///< where indexed: as TypedPlace
    types::TypeId enclosing = types::kNoType;  ///< as inference::CodeObject
    uint64_t enclosingOffset = 0;
    uint64_t origin = 0;  ///< as inference::CodeObject; the pointer holds the start where `array`
    std::string pointer;  ///< as inference::CodeObject
    bool bytes = false;   ///< a byte, where more of them are accessed at once: what they make up is not said
    std::string variable, function;
    bool ofPointer = false;  ///< as inference::CodeObject
  };
  struct Candidate {
    uint32_t hypothesis = 0;  ///< index into hypotheses_
    uint32_t support = 0;     ///< samples, and rows
    uint64_t offset = 0;      ///< of the place in the object
  };
  struct Evidence {
    uint32_t seen = 0;             ///< samples, and rows
    bool answered = false;         ///< by the registers of a sample
    bool ownStack = false;         ///< of a sample's thread
    uint64_t first = 0, last = 0;  ///< ns; 0 and ~0: of a row
    uint32_t step = 1;             ///< of samples behind the first ones, one in so many is in `times`
    std::vector<uint64_t> times;   ///< ns
    std::vector<Candidate> candidates;
    bool isTimed() const { return last != ~uint64_t{0}; }
    void keepTime(uint64_t time);
    void add(const Candidate& candidate);
  };
  struct Location {
    uint32_t binary = kNone, width = 0;
    uint64_t access = 0;  ///< ELF address
    uint32_t evaluated = 0, answered = 0;
    std::vector<uint32_t> hypotheses;                             ///< seen here
    bool tracked = false;                                         ///< the code there is followed
    std::optional<inference::LiveVariables::TypedOperand> found;  ///< by that, and not made a candidate yet
    TypedBinaries* foundIn = nullptr;                             ///< whose type that has
    std::optional<Candidate> operand;
    types::TypeId undefined = types::kNoType;  ///< a class that variables there point to
    std::string doubt;                         ///< why nobody can tell what it accesses
  };
  /// An object as some of the evidence has it; positions.
  struct Object {
    uint32_t space = 0, hypothesis = 0;
    uint64_t base = 0, end = 0;  ///< end of what was touched, where the size is not known or it is an array
    uint64_t support = 0, first = 0, last = 0;
    uint64_t arrayBase = 0;
    bool array = false;  ///< by some of the evidence: the first of several
    bool isTimed() const { return last != ~uint64_t{0}; }
  };
  /// An array that a pointer leads to; positions.
  struct PointedArray {
    uint32_t space = 0, hypothesis = 0;
    uint64_t base = 0, end = 0;  ///< what the pointer held; end of what was touched
    uint64_t support = 0, first = 0, last = 0;
    std::string which;  ///< " (1 of 2)": of several arrays that one variable of a function leads to
  };
  /// Samples of each place and instruction that are all evaluated.
  static constexpr uint32_t kFirst = 8;
  static constexpr uint64_t kSpeaksForOthers =
      3;  ///< samples from which on an object names places that no code names
  Location& locationOf(const Observation& seen);
  void evaluate(const Observation& seen, Location& location, Evidence& evidence);
  uint32_t hypothesisOf(Location& location, const inference::CodeObject& object, bool array, bool indexed);
  void follow(std::vector<uint32_t> locations);
  void followOne(uint32_t location, TypedBinaries& typed);
  void addByCode(Location& location, Evidence& evidence);
  const Candidate* choose(const Evidence& evidence) const;
  void followSilent();
  void numberNames();
  void gatherObjects();
  void joinArrays();
  void gatherPointedArrays();
  void nameArraysOnce();
  void tellArraysApart();
  template <typename Use>
  void eachLikely(const Evidence& evidence, const Use& use) const;
  bool isInElement(const Hypothesis& element, const Hypothesis& hypothesis, uint64_t offset, uint64_t inside);
  const PointedArray* pointedArray(Position position, const Evidence& evidence, const Hypothesis* hypothesis,
                                   uint64_t inside);
  void placeInArray(AgreedObject& agreed, Position position, const Evidence& evidence,
                    const Hypothesis* hypothesis);
  const Object* objectAt(uint32_t space, uint64_t base, uint32_t name) const;
  std::vector<const Object*> around(Position position, const Evidence& evidence, const Candidate* own);
  bool holds(const Object& outer, const Object& inner);
  /// What of them lay there one after the other, by share of the samples.
  struct LifetimeShare {
    const Object* object = nullptr;
    std::optional<double> share;
  };
  bool isApart(const Object& a, const Object& b);
  std::vector<LifetimeShare> lifetimesOf(const std::vector<const Object*>& objects, Position position,
                                         std::span<const uint32_t> locations);
  void addOthers(std::span<const LifetimeShare> others, Position position, AgreedObject& agreed) const;
  std::string because(const Hypothesis& hypothesis) const;

  TypedBinaries& typed_;
  uint32_t followed_ = 0;            ///< instructions
  std::vector<uint32_t> following_;  ///< locations, by address
  TwoEnds ends_;                     ///< of that
  HashMap<Key, Evidence> evidence_;
  std::vector<Location> locations_;
  std::vector<Hypothesis> hypotheses_;
  HashMap<std::string, uint32_t> names_;
  std::vector<Object> objects_;        ///< by space and base
  std::vector<PointedArray> pointed_;  ///< by space and base
  /// By how, binary, type, flags, element and origin of a hypothesis, as at() asks for them, and the offset.
  std::map<
      std::tuple<inference::CodeObject::How, uint32_t, types::TypeId, uint32_t, uint64_t, uint64_t, uint64_t>,
      uint32_t>
      kinds_;
};

}  // namespace cacheline::analysis
