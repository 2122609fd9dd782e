// The rules that decide between what could be the name of data, and how a bench takes one of them away.
#pragma once

#include <cstdint>

namespace cacheline::inference {

/// As docs/design/naming.md has them, which says what each gains. By the names of naming_rules.cpp.
enum class NamingRule : uint8_t {
  inferBackward,       ///< an unknown register is what it becomes further on
  enclosingTypes,      ///< container_of: the only type that has such a member there
  guesses,             ///< a `void*` is what the only variable that was optimised out would have been
  behindArguments,     ///< variables say what lies behind an argument
  nodes,               ///< an iterator leads to the node of a container
  strangers,           ///< objects that only happen to reach there are dropped
  casts,               ///< of variables with one pointer as several types
  enclosingOfElement,  ///< an element of an array inside of an object goes by the object
  around,              ///< a part goes by the object that other accesses show around it
  words,               ///< so does a plain integer that is as wide as a member there
  silent,              ///< an access without a candidate goes by the object that others show there
  ownStack,            ///< but not in the frame of its own function
  bytes,               ///< a pointer to bytes says nothing of wider accesses
  joinedArrays,        ///< objects of one type end to end are one array
  lifetimes,           ///< objects that lay there one after the other are told apart
  arrayBlocks,         ///< a heap block may be an array of what is found in it
  wholeBlocks,         ///< a heap block may be one object, by the code that allocated it
  partsOfBlocks,       ///< a heap block may be full of larger objects
  pools,               ///< a heap block with other objects in it is no array
  pointers,            ///< an array goes by the pointer with static storage that leads to it
};

/// Whether rules are asked to do without this one, by the environment's CACHELINE_WITHOUT_NAMING_RULE: only
/// `npm run bench:types -- --rules` sets that.
bool isOff(NamingRule rule);

}  // namespace cacheline::inference
