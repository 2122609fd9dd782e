// What DWARF states about a function's registers, stack slots, globals and calls: where types come from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference/frame_base.h"
#include "inference/function_scopes.h"
#include "inference/type_propagation.h"
#include "layouts/binary_types.h"
#include "symbols/thread_locals.h"

namespace cacheline::inference {

/// While the instruction pointer is in [low, high), `reg` holds the address of an object plus an offset.
struct RegisterFact {
  uint64_t low = 0, high = 0;
  uint8_t reg = kRegNone;
  types::TypeId pointee = types::kNoType;
  int64_t offset = 0;
  uint64_t size = 0;    ///< of the object, bytes
  uint64_t origin = 0;  ///< number of the variable; 0: it is not that pointer alone
};

/// A place that has a type, and the byte of it that was asked for.
struct TypedPlace {
  types::TypeId type = types::kNoType;
  uint64_t offset = 0;
  std::string variable;  ///< where it is thread-local
  uint64_t origin = 0;   ///< where it is in the function's frame: number of the variable
};

/// Not thread-safe.
class PropagationFacts {
 public:
  PropagationFacts(symbols::Module& module, layouts::BinaryTypes& types, CallFrames& frames,
                   const FunctionScopes& function);

  types::TypeTable& table() { return types_.table(); }
  layouts::BinaryTypes& types() { return types_; }
  /// The source's language counts from a member to what contains it: C and its kin, not Rust or Go.
  bool countsOutOfMembers() const { return countsOutOfMembers_; }
  /// What a void pointer was cast to, most likely: the type of the only pointer variable that was optimised
  /// out, or of a structure that was copied from there and split into registers. kNoType: no such case, or
  /// no more of them.
  types::TypeId guess() const { return guesses_.empty() ? types::kNoType : guesses_.front(); }
  /// That one does not fit.
  void nextGuess();
  /// What the 8 bytes point to that lie `offset` bytes from where `reg` pointed when the function began, by
  /// the variables that DWARF says are there.
  struct Behind {
    types::TypeId pointee = types::kNoType;
    uint64_t origin = 0;  ///< number of the variable
  };
  Behind behindArgument(uint8_t reg, int64_t offset) const;
  bool knowsBehind(uint8_t reg) const;  ///< of any bytes there
  /// What the pointer that the function returns points to.
  types::TypeId returned();
  /// By `low`.
  const std::vector<RegisterFact>& registers() const { return registers_; }
  /// Indexes in registers(): what holds at an address, and the first that begins behind it.
  struct Holding {
    std::vector<uint32_t> facts;
    uint32_t next = 0;
  };
  /// Whether variables have a register point to the start of objects at an address that do not hold each
  /// other.
  bool isContested(uint8_t reg, uint64_t address);
  /// At each of some ascending addresses.
  std::vector<Holding> holdingAt(const std::vector<uint64_t>& addresses) const;
  /// The offset from the call frame address that `reg` has at an ELF address, where the call frame
  /// information counts from it.
  std::optional<int64_t> frameOffset(uint8_t reg, uint64_t address);
  /// AbstractValue::origin of the pointer that lies at `offset` in an object of `type`, by the name of the
  /// member; in a container, of that, which the pointer `holder` leads to. `indexed`: to one of several.
  uint64_t memberPointer(types::TypeId type, uint64_t offset, uint64_t holder, bool indexed);
  /// Of an AbstractValue::origin, as the source has it: `BufferDescriptors`, `cache.slots`, `State.partial`,
  /// `work::sums`; empty: it has no such name.
  std::string pointerName(uint64_t origin);
  /// The variable of the function's frame at an offset from the call frame address.
  std::optional<TypedPlace> stackVariable(int64_t offset, uint64_t address);
  std::optional<TypedPlace> global(uint64_t address);
  /// The thread-local variable there; its name is set.
  std::optional<TypedPlace> threadLocal(const AbstractValue& address);
  /// What code gets by a word that the dynamic loader fills in, to find a thread-local variable: its address,
  /// or its distance from the thread pointer. Unknown where `word` is no address of a word of that kind.
  AbstractValue byLoader(const AbstractValue& word, symbols::ThreadLocals::Entry::Kind kind) const;
  /// What the call that ends at `after` returns.
  AbstractValue returnedBy(uint64_t after, uint64_t address, const AbstractValue& firstArgument);
  /// A called function: what it takes and gives.
  struct Callee {
    types::TypeId returned = types::kNoType;  ///< what the pointer it returns points to
    std::vector<types::TypeId> parameters;    ///< what those point to that come in rdi, rsi, rdx, rcx, r8, r9
  };
  /// By the call that ends at `after`, else by the address that is called, 0: unknown.
  const Callee& callee(uint64_t after, uint64_t address);

 private:
  struct StackVariable {
    int64_t offset = 0;
    uint64_t size = 0;
    uint64_t low = 0, high = 0;
    uint32_t scope = 0;
    types::TypeId type = types::kNoType;
    uint64_t origin = 0;
  };
  uint64_t numberOf(std::string name, bool local);
  uint64_t numberOf(const ScopedVariable& variable);
  const std::string& functionName(uint32_t scope);
  void addRegisters();
  bool addRegister(const ScopedVariable& variable, const LocationRange& range);
  void addBehindArgument(const ScopedVariable& variable, const LocationRange& range);
  void addGuess(const ScopedVariable& variable);
  const std::vector<StackVariable>& frame(uint64_t address, const Linear& rule);
  const std::optional<Linear>& rule(uint64_t address);
  Dwarf_Die functionAt(uint64_t address);
  AbstractValue byWrapper(uint64_t function);

  symbols::Module& module_;
  layouts::BinaryTypes& types_;
  CallFrames& frames_;
  const FunctionScopes& function_;
  bool countsOutOfMembers_ = true;
  std::vector<RegisterFact> registers_;
  std::vector<types::TypeId> guesses_;
  std::map<std::pair<uint8_t, int64_t>, Behind> behindArguments_;
  std::map<uint64_t, std::string> pointers_;       ///< by number
  std::map<const void*, uint64_t> variables_;      ///< numbers, by the DIE's place in memory
  std::map<uint32_t, std::string> functionNames_;  ///< by scope
  /// The variables in memory, by the rule for the call frame address: their offsets count from it.
  std::map<std::pair<uint8_t, int64_t>, std::vector<StackVariable>> frameVariables_;
  const Expression* lastCfa_ = nullptr;  ///< that rule() was asked for, and what it said
  std::optional<Linear> lastRule_;
  std::map<const void*, Callee> callees_;  ///< by the DIE's place in memory
};

}  // namespace cacheline::inference
