// What the parts of the type propagation share.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "decode/steps.h"
#include "inference/abstract_value.h"
#include "inference/control_flow.h"
#include "inference/propagation_facts.h"
#include "inference/type_propagation.h"

namespace cacheline::inference {

inline constexpr uint8_t kArguments[] = {kRegDi, kRegSi, kRegDx, kRegCx, kRegR8, kRegR9};
inline constexpr uint32_t kByDescriptor =
    1u << kRegAx;  ///< all that the function of a TLS descriptor overwrites

struct TypePropagation::Impl {
  PropagationFacts facts;
  const symbols::ElfImage* image;
  ControlFlow flow;
  std::vector<decode::Step>& steps = flow.steps;
  const std::vector<ControlFlow::Block>& blocks = flow.blocks;
  size_t visits = 0;                               // of ways between blocks, by propagate()
  std::vector<PropagationState> entries;           // of the blocks
  std::vector<PropagationFacts::Holding> holding;  // where they begin
  struct Neighbours {
    std::set<types::TypeId> contained, counted;
  };
  std::optional<Neighbours> neighbours;  // what neighboursHere() found

  Impl(symbols::Module& module, layouts::BinaryTypes& types, CallFrames& frames,
       const FunctionScopes& function)
      : facts(module, types, frames, function), image(module.image()), flow(image, function) {
    if (!steps.empty()) solve(function);
    while (!steps.empty() && facts.guess() != types::kNoType && !guessFits()) {
      facts.nextGuess();
      solve(function);
    }
  }

  void solve(const FunctionScopes& function);
  bool guessFits();
  bool propagate(std::deque<size_t>& work, const std::vector<bool>& fixed);
  void giveUp();
  struct Replay;
  PropagationState replay(size_t block, size_t end);
  struct PointerAccess {
    AbstractValue address;
    uint32_t width;
  };
  std::optional<PointerAccess> pointerAccess(const decode::Step& step, const PropagationState& now);
  const Neighbours& neighboursHere();
  AbstractValue resolved(const AbstractValue& address, uint32_t width, bool solved, Doubt* doubt);
  AbstractValue byDescriptor(const decode::Step& call, const PropagationState& now);
  void apply(const decode::Step& step, PropagationState& state);
  using FactIterator = std::vector<RegisterFact>::const_iterator;
  FactIterator stateUpTo(uint64_t address, PropagationState& now, FactIterator from);
  FactIterator stateAtStart(size_t block, PropagationState& now);
  void state(PropagationState& now, const RegisterFact& fact);
  bool isOuter(const AbstractValue& a, const AbstractValue& b);
  AbstractValue addressOf(const decode::StepMemory& memory, uint64_t at, const PropagationState& state);
  AbstractValue loaded(const AbstractValue& address, uint64_t at, const PropagationState& state);
  std::optional<Operand> place(const AbstractValue& address, uint64_t at);
  AbstractValue inferBackward(size_t step, uint8_t reg, bool deep = false, bool* kept = nullptr);
  Allocated behindCookie(size_t step, uint64_t bytes, bool kept);
};

/// A block step by step.
struct TypePropagation::Impl::Replay {
  Impl& impl;
  size_t step;           ///< the next one
  PropagationState now;  ///< before it
  FactIterator fact;

  Replay(Impl& of, size_t block)
      : impl(of), step(of.blocks[block].first), now(of.entries[block]), fact(of.stateAtStart(block, now)) {}
  void advance() {
    const decode::Step& here = impl.steps[step++];
    impl.apply(here, now);
    fact = impl.stateUpTo(here.address + here.length, now, fact);
  }
};

}  // namespace cacheline::inference
