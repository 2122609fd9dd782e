// Programs for the tests that step through accesses.
#pragma once

namespace cacheline::inference::test {

/// The definition of `note`, for the head of a program in C or C++.
extern const char* const kNoteInC;
extern const char* const kHeapObjectsInCpp;  ///< needs kNoteInC
extern const char* const kHeapObjectsInC;    ///< needs kNoteInC
/// Objects around members that the code has in its hands, and a flexible array; needs kNoteInC.
extern const char* const kContainersInC;
extern const char* const kHeapObjectsInRust;

}  // namespace cacheline::inference::test
