// What the code around one access has in its hands, and which of it is told.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/live_variables.h"

namespace cacheline::inference {

/// A CodeObject without its strings: those are copied once its place in the order is known.
struct FoundObject {
  static constexpr uint32_t kNoVariable = ~0u;
  CodeObject::How how = CodeObject::How::pointer;
  bool array = false;
  types::TypeId type = types::kNoType;
  uint32_t variable = kNoVariable;  ///< index into FunctionScopes::variables
  uint32_t depth = 0;
  uint64_t base = 0;
  uint64_t size = 0;     ///< of one object, bytes
  bool element = false;  ///< of the array that the index counts in
  bool direct = false;   ///< by the register that the instruction counts its address from
  uint64_t origin = 0;   ///< as CodeObject::origin
  bool isItself() const { return how == CodeObject::How::stack || how == CodeObject::How::threadLocal; }
  bool isNamed() const { return variable != kNoVariable; }
};

/// Types that lie one in the other from the first byte to the last, below this one: a `std::atomic<long>` has
/// one more than its base class.
uint32_t layersOf(const types::TypeTable& table, types::TypeId type);

/// Outermost first: the variables that are the object, then larger objects, what wraps another one, arrays,
/// callers' variables.
bool isOuter(const types::TypeTable& table, const FoundObject& a, const FoundObject& b);

/// Whether `one` is a part of a container's node, or of the element in it at `address`, but not that element.
bool isPartOf(const types::TypeTable& table, const FoundObject& node, const FoundObject& one,
              uint64_t address);

/// What only happens to reach there (an end pointer, a register that still has an older object's address) is
/// no outer object of the one that the instruction goes to. Nor is what the code was followed to in another
/// branch, where a variable says what is in the register.
void dropStrangers(const types::TypeTable& table, std::vector<FoundObject>& found, uint64_t address);

/// Where variables point to the start of one object with several types, none of which is a part of, an
/// extension of, a view of or a buffer for another (a message cast to each of its kinds): what else is known
/// there decides, then which of them have members there. Else those are dropped, and what all of them begin
/// with is left. Between which types nobody can tell; empty: it can be told.
std::vector<types::TypeId> settleCasts(const types::TypeTable& table, std::vector<FoundObject>& found,
                                       uint64_t address, uint32_t width);

}  // namespace cacheline::inference
