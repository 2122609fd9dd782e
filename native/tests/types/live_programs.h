// Programs for the tests that step through accesses.
#pragma once

namespace cacheline::types::test {

/// The definition of `note`, for the head of a program in C or C++.
extern const char* const kNoteInC;
extern const char* const kHeapObjectsInCpp;  ///< needs kNoteInC
extern const char* const kHeapObjectsInC;    ///< needs kNoteInC
extern const char* const kHeapObjectsInRust;

}  // namespace cacheline::types::test
