// From what a person writes to the bytes of a variable: `counter`, `ns::today.cents`, `table[3].count`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/module.h"

namespace cacheline::analysis {

/// A piece of memory that one debug register can watch, or a part of one that needs several.
struct WatchPiece {
  uint64_t address = 0;
  uint32_t length = 0;  ///< bytes: 1, 2, 4 or 8, and `address` is a multiple of it
  std::string name;     ///< for a person
};

/// What `EXPR[:LEN]` says; `length` 0: as large as it is.
struct WatchExpression {
  std::string text;  ///< as written
  std::string place;
  uint64_t length = 0;
  std::optional<uint64_t> address;  ///< of "0x..."
};

/// The most bytes that one expression may name.
inline constexpr uint64_t kMostWatched = 4096;

/// Throws Error(usage) where it cannot be one.
WatchExpression parseWatch(const std::string& text);

/// The pieces that cover [address, address + length).
std::vector<WatchPiece> cutIntoWords(uint64_t address, uint64_t length, const std::string& name);

/// Where an expression leads in a binary.
struct WatchPlace {
  /// At ELF addresses; behind a pointer at bytes from where that points to.
  std::vector<WatchPiece> pieces;
  std::optional<uint64_t> pointer;  ///< ELF address of the pointer that an index counts from
};
/// The pieces of a variable of `module`, or of what it points to; nullopt: it has no variable of that name.
/// Throws Error(usage): the variable has no such member or element, is larger than kMostWatched, or its
/// members are not known without debug information.
std::optional<WatchPlace> placeOf(symbols::Module& module, const WatchExpression& expression);

/// Whether the other binaries of a process see that variable: the dynamic loader lets them use it by its
/// name.
bool isExported(const symbols::Module& module, const WatchExpression& expression);

/// What of that name `module` has in place of a variable with an address: one clause, "it is a function";
/// empty: nothing.
std::string otherwiseNamed(const symbols::Module& module, const WatchExpression& expression);

}  // namespace cacheline::analysis
