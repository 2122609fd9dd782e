// DWARF expressions operation by operation, by hand and against values worked out on paper.
#include "inference/location.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>

#include "types/type_table.h"

namespace cacheline::inference::test {
namespace {

using namespace types;

Registers someRegisters() {
  Registers registers;
  for (uint8_t reg = 0; reg < kRegCount; reg++) {
    registers.mask |= uint64_t{1} << reg;
    registers.value[reg] = 0x1000u * (reg + 1u);
  }
  return registers;
}

Expression expressionOf(std::initializer_list<Operation> operations) {
  Expression expression;
  expression.operations = operations;
  return expression;
}

Places placesOf(const Expression& expression, const Expression* frameBase = nullptr,
                const Expression* cfa = nullptr) {
  const Registers registers = someRegisters();
  LocationContext context{&registers, frameBase, cfa, 0x500000};
  Places places;
  evaluate(expression, context, places);
  return places;
}

/// "memory 2a", "value 2a", "unknown: reason"; several pieces as "value 1 @0+8, ...".
std::string text(const Places& places) {
  std::string result;
  for (const Place& place : places.all()) {
    if (!result.empty()) result += ", ";
    char number[32];
    std::snprintf(number, sizeof number, "%lx", static_cast<unsigned long>(place.number));
    if (place.kind == Place::Kind::unknown)
      result += std::string("unknown: ") + place.reason;
    else
      result += (place.kind == Place::Kind::memory ? "memory " : "value ") + std::string(number);
    if (places.count > 1 || place.size != 0)
      result += " @" + std::to_string(place.offset) + "+" + std::to_string(place.size);
  }
  return result;
}

std::string text(std::initializer_list<Operation> operations) {
  return text(placesOf(expressionOf(operations)));
}

TEST(Location, PlacesOfVariables) {
  // DWARF numbers rbx 3 and rdi 5; perf numbers them 1 and 5.
  EXPECT_EQ(text({{DW_OP_reg3}}), "value 2000");
  EXPECT_EQ(text({{DW_OP_reg5}}), "value 6000");
  EXPECT_EQ(text({{DW_OP_regx, 15}}), "value 18000");
  EXPECT_EQ(text({{DW_OP_breg3, 0x18}}), "memory 2018");
  EXPECT_EQ(text({{DW_OP_breg3, static_cast<uint64_t>(-16)}, {DW_OP_stack_value}}), "value 1ff0");
  EXPECT_EQ(text({{DW_OP_addr, 0x40}}), "memory 500040");
  EXPECT_EQ(text({{DW_OP_addr, 0x40}, {DW_OP_plus_uconst, 8}, {DW_OP_stack_value}}), "value 500048");
  EXPECT_EQ(text({{DW_OP_implicit_value, 0x1234, 2}}), "value 1234");
  EXPECT_EQ(text({}), "unknown: the compiler optimised it out here");
}

TEST(Location, FrameBaseAndCallFrame) {
  const Expression frameBase = expressionOf({{DW_OP_call_frame_cfa}});
  const Expression cfa = expressionOf({{DW_OP_breg7, 0x30}});  // rsp + 48
  const Expression variable = expressionOf({{DW_OP_fbreg, static_cast<uint64_t>(-32)}});
  EXPECT_EQ(text(placesOf(variable, &frameBase, &cfa)), "memory 8010");
  EXPECT_EQ(text(placesOf(variable, &frameBase)), "unknown: there is no call frame information here");
  EXPECT_EQ(text(placesOf(variable)), "unknown: the function has no frame base");
  const Expression byRegister = expressionOf({{DW_OP_reg6}});  // rbp, as clang writes it
  EXPECT_EQ(text(placesOf(variable, &byRegister)), "memory 6fe0");
  const Expression loop = expressionOf({{DW_OP_fbreg, 0}});
  EXPECT_EQ(text(placesOf(loop, &loop)), "unknown: its location expression is nested too deeply");
}

TEST(Location, PiecesAreKnownOneByOne) {
  EXPECT_EQ(text({{DW_OP_reg3}, {DW_OP_piece, 8}, {DW_OP_reg5}, {DW_OP_piece, 8}}),
            "value 2000 @0+8, value 6000 @8+8");
  EXPECT_EQ(text({{DW_OP_piece, 8}, {DW_OP_reg5}, {DW_OP_piece, 4}}),
            "unknown: the compiler optimised it out here @0+8, value 6000 @8+4");
  EXPECT_EQ(text({{DW_OP_breg3, 0},
                  {DW_OP_deref},
                  {DW_OP_piece, 8},
                  {DW_OP_lit5},
                  {DW_OP_stack_value},
                  {DW_OP_piece, 8}}),
            "unknown: it is reached through memory, which samples do not have @0+8, value 5 @8+8");
}

TEST(Location, WhatASampleCannotKnow) {
  EXPECT_EQ(
      text({{DW_OP_entry_value}, {DW_OP_stack_value}}),
      "unknown: it is known by its value at the function's entry only, and the caller's registers are gone");
  EXPECT_EQ(text({{DW_OP_reg17}}), "unknown: it is in a register that samples do not have");
  EXPECT_EQ(text({{DW_OP_const8u, 8}, {DW_OP_form_tls_address}}), "unknown: it is thread-local");
  EXPECT_EQ(text({{DW_OP_implicit_value, 0, 16}}), "unknown: it is a constant larger than a register");
  Registers few;
  few.mask = uint64_t{1} << kRegAx;
  LocationContext context;
  context.registers = &few;
  Places places;
  evaluate(expressionOf({{DW_OP_reg3}}), context, places);
  EXPECT_EQ(text(places), "unknown: the sample lacks the register it is in");
}

TEST(Location, ImplicitPointersLeadToVariablesInMemory) {
  Expression pointer = expressionOf({{DW_OP_implicit_pointer, 4, 0, 0}});
  pointer.inner.push_back(expressionOf({{DW_OP_breg7, 16}}));
  EXPECT_EQ(text(placesOf(pointer)), "value 8014");
  pointer.inner[0] = expressionOf({{DW_OP_reg3}});
  EXPECT_EQ(text(placesOf(pointer)), "unknown: it points to a variable that is not in memory");
  pointer.inner.clear();
  EXPECT_EQ(text(placesOf(pointer)), "unknown: it points to a variable that is not in memory");
}

TEST(Location, Arithmetic) {
  const auto of = [](uint64_t a, uint64_t b, uint8_t code) {
    return text({{DW_OP_constu, a}, {DW_OP_constu, b}, {code}, {DW_OP_stack_value}});
  };
  const auto minus = [](uint64_t value) { return 0 - value; };
  EXPECT_EQ(of(7, 3, DW_OP_minus), "value 4");
  EXPECT_EQ(of(7, 3, DW_OP_mul), "value 15");
  EXPECT_EQ(of(minus(7), 2, DW_OP_div), "value fffffffffffffffd");
  EXPECT_EQ(of(1ull << 63, minus(1), DW_OP_div), "value 8000000000000000");
  EXPECT_EQ(of(7, 0, DW_OP_div), "unknown: its location expression divides by zero");
  EXPECT_EQ(of(7, 0, DW_OP_mod), "unknown: its location expression divides by zero");
  EXPECT_EQ(of(7, 4, DW_OP_mod), "value 3");
  EXPECT_EQ(of(1, 64, DW_OP_shl), "value 0");
  EXPECT_EQ(of(minus(8), 1, DW_OP_shra), "value fffffffffffffffc");
  EXPECT_EQ(of(minus(8), 200, DW_OP_shra), "value ffffffffffffffff");
  EXPECT_EQ(of(minus(1), 1, DW_OP_lt), "value 1");
  EXPECT_EQ(of(6, 3, DW_OP_xor), "value 5");
  EXPECT_EQ(text({{DW_OP_lit1}, {DW_OP_lit2}, {DW_OP_lit3}, {DW_OP_rot}, {DW_OP_drop}, {DW_OP_stack_value}}),
            "value 1");
  EXPECT_EQ(text({{DW_OP_lit1}, {DW_OP_lit2}, {DW_OP_over}, {DW_OP_stack_value}}), "value 1");
  EXPECT_EQ(text({{DW_OP_lit1}, {DW_OP_lit2}, {DW_OP_swap}, {DW_OP_stack_value}}), "value 1");
  EXPECT_EQ(text({{DW_OP_lit9}, {DW_OP_lit2}, {DW_OP_pick, 1}, {DW_OP_stack_value}}), "value 9");
  EXPECT_EQ(text({{DW_OP_lit9}, {DW_OP_neg}, {DW_OP_abs}, {DW_OP_stack_value}}), "value 9");
}

TEST(Location, JumpsAreFollowedAndBounded) {
  // 1 ? 5 : 6
  EXPECT_EQ(
      text({{DW_OP_lit1}, {DW_OP_bra, 4}, {DW_OP_lit6}, {DW_OP_skip, 5}, {DW_OP_lit5}, {DW_OP_stack_value}}),
      "value 5");
  EXPECT_EQ(text({{DW_OP_skip, 0}}), "unknown: its location expression does not end");
  EXPECT_EQ(text({{DW_OP_skip, ~0ull}}), "unknown: its location expression is malformed");
  EXPECT_EQ(text({{DW_OP_lit1}, {DW_OP_skip, 0}}), "unknown: its location expression needs too deep a stack");
  EXPECT_EQ(text({{DW_OP_plus}}), "unknown: its location expression is malformed");
  EXPECT_EQ(text({{0xff}}), "unknown: its location expression is malformed");
}

/// The short way and the evaluator say the same of whatever the short way takes.
TEST(Location, LinearFormAgreesWithTheEvaluator) {
  std::mt19937_64 random(5);
  const uint8_t codes[] = {DW_OP_reg0, DW_OP_breg3, DW_OP_breg7, DW_OP_fbreg,       DW_OP_call_frame_cfa,
                           DW_OP_addr, DW_OP_piece, DW_OP_lit1,  DW_OP_plus_uconst, DW_OP_stack_value};
  const auto some = [&](size_t most) {
    Expression expression;
    for (size_t n = random() % most + 1; n > 0; n--)
      expression.operations.push_back({codes[random() % std::size(codes)], random() % 512, 0});
    return expression;
  };
  const Registers registers = someRegisters();
  size_t taken = 0;
  for (int i = 0; i < 20000; i++) {
    const Expression expression = some(3), frameBase = some(2), cfa = some(2);
    const auto linear = linearForm(expression, &frameBase, &cfa);
    if (!linear) continue;
    taken++;
    const Places places = placesOf(expression, &frameBase, &cfa);
    uint64_t number = static_cast<uint64_t>(linear->offset) + (linear->isAddress ? 0x500000 : 0);
    if (linear->reg != kRegNone) number += registers.value[linear->reg];
    ASSERT_EQ(places.count, 1u);
    ASSERT_NE(places.piece[0].kind, Place::Kind::unknown) << places.piece[0].reason;
    ASSERT_EQ(places.piece[0].number, number);
    ASSERT_EQ(places.piece[0].kind == Place::Kind::memory, linear->inMemory);
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace cacheline::inference::test
