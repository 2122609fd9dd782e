// Contended samples by function, with callers and callees.
#include "scheduling/contended_code.h"

#include <gtest/gtest.h>

#include "made_switches.h"

namespace cacheline::scheduling::test {
namespace {

analysis::CallerFrame frameOf(const std::string& name) {
  analysis::CallerFrame frame;
  frame.codeAddress = 1;
  frame.symbol = name;
  frame.object = "made";
  return frame;
}

analysis::Callers chainOf(uint64_t records, const std::vector<std::string>& names) {
  analysis::Callers chain;
  chain.records = records;
  for (const std::string& name : names) chain.frames.push_back(frameOf(name));
  return chain;
}

analysis::Access accessOf(const std::string& function, uint64_t records, uint64_t contended,
                          std::vector<analysis::Callers> callers = {}) {
  analysis::Access access;
  auto code = std::make_shared<analysis::CodeName>();
  code->symbol = function;
  code->object = "made";
  access.code = code;
  access.records = records;
  access.contended = contended;
  access.callers = std::move(callers);
  return access;
}

analysis::Report reportOf(std::vector<analysis::Access> accesses) {
  analysis::Report report;
  report.lines.emplace_back().accesses = std::move(accesses);
  return report;
}

const ContendedFunction& functionOf(const std::vector<ContendedFunction>& list, const std::string& name) {
  for (const ContendedFunction& function : list)
    if (function.function.name == name) return function;
  static const ContendedFunction none;
  ADD_FAILURE() << "there is no function " << name;
  return none;
}

TEST(ContendedCode, CallersAndCalleesShareTheSamplesOfTheirChains) {
  const auto list = contendedFunctions(reportOf({
      accessOf("lock", 100, 50, {chainOf(60, {"push", "worker"}), chainOf(40, {"pop", "worker"})}),
      accessOf("pop", 10, 10, {chainOf(10, {"worker"})}),
  }));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].function.name, "worker") << "most with what it calls";
  EXPECT_DOUBLE_EQ(list[0].total, 60);
  EXPECT_DOUBLE_EQ(list[0].self, 0);
  ASSERT_EQ(list[0].callees.size(), 2u);
  EXPECT_EQ(list[0].callees[0].function.name, "pop");
  EXPECT_DOUBLE_EQ(list[0].callees[0].samples, 30);
  EXPECT_DOUBLE_EQ(list[0].callees[1].samples, 30);
  const ContendedFunction& lock = functionOf(list, "lock");
  EXPECT_DOUBLE_EQ(lock.self, 50);
  EXPECT_DOUBLE_EQ(lock.total, 50);
  EXPECT_DOUBLE_EQ(lock.callers.at(0).samples, 30);
  EXPECT_EQ(lock.callers.at(0).function.name, "push");
  EXPECT_DOUBLE_EQ(lock.callers.at(1).samples, 20);
  const ContendedFunction& pop = functionOf(list, "pop");
  EXPECT_DOUBLE_EQ(pop.self, 10);
  EXPECT_DOUBLE_EQ(pop.total, 30);
  EXPECT_EQ(pop.callees.at(0).function.name, "lock");
}

TEST(ContendedCode, ChainsThatAreNotListedHaveNoCaller) {
  const auto list = contendedFunctions(reportOf({accessOf("lock", 100, 100, {chainOf(70, {"push"})})}));
  EXPECT_DOUBLE_EQ(functionOf(list, "lock").total, 100);
  EXPECT_DOUBLE_EQ(functionOf(list, "lock").callers.at(0).samples, 70);
  EXPECT_DOUBLE_EQ(functionOf(list, "push").total, 70);
}

TEST(ContendedCode, RecursionCountsOnce) {
  const auto list = contendedFunctions(
      reportOf({accessOf("walk", 10, 10, {chainOf(10, {"walk", "visit", "walk", "visit", "main"})})}));
  EXPECT_DOUBLE_EQ(functionOf(list, "walk").total, 10);
  EXPECT_DOUBLE_EQ(functionOf(list, "visit").total, 10);
  EXPECT_DOUBLE_EQ(functionOf(list, "visit").callees.at(0).samples, 10);
  EXPECT_DOUBLE_EQ(functionOf(list, "walk").callers.at(0).samples, 10);
  EXPECT_EQ(functionOf(list, "walk").callers.size(), 1u);
}

TEST(ContendedCode, WhatAFunctionWasInlinedIntoCallsIt) {
  analysis::Callers chain = chainOf(10, {"small"});
  chain.frames[0].inlined = {{"small", "/a.c", 1}, {"large", "/a.c", 9}};
  analysis::Access access = accessOf("run", 10, 10, {chain});
  analysis::CodeName code = *access.code;
  code.inlined = {{"fetch_add", "/usr/include/c++/12/atomic", 3}, {"bump", "/a.c", 2}, {"run", "/a.c", 5}};
  access.code = std::make_shared<const analysis::CodeName>(code);
  const auto list = contendedFunctions(reportOf({access}));
  EXPECT_EQ(list.size(), 4u);
  EXPECT_DOUBLE_EQ(functionOf(list, "bump").self, 10);
  EXPECT_EQ(functionOf(list, "bump").callers.at(0).function.name, "run");
  EXPECT_DOUBLE_EQ(functionOf(list, "run").self, 0);
  EXPECT_EQ(functionOf(list, "run").callers.at(0).function.name, "small");
  EXPECT_EQ(functionOf(list, "small").callers.at(0).function.name, "large");
  EXPECT_DOUBLE_EQ(functionOf(list, "large").total, 10);
}

TEST(ContendedCode, UnknownCallersEndAChain) {
  analysis::Callers chain = chainOf(10, {"push"});
  chain.frames.insert(chain.frames.begin(), analysis::CallerFrame{});
  const auto list = contendedFunctions(reportOf({accessOf("lock", 10, 10, {chain})}));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_TRUE(list[0].callers.empty());
}

TEST(ContendedCode, WhatDoesNotWaitIsLeftOut) {
  EXPECT_TRUE(contendedFunctions(reportOf({accessOf("read", 10, 0)})).empty());
}

TEST(ContendedCode, ManyFunctionsAreCutToTheMostContended) {
  std::vector<analysis::Access> accesses;
  for (uint64_t i = 0; i < kMostFunctions + 20; ++i)
    accesses.push_back(accessOf("f" + std::to_string(i), 1000, 1 + i, {chainOf(1000, {"caller"})}));
  const auto list = contendedFunctions(reportOf(accesses));
  ASSERT_EQ(list.size(), kMostFunctions);
  EXPECT_EQ(list[0].function.name, "caller");
  EXPECT_EQ(list[0].callees.size(), kMostCalls);
  EXPECT_DOUBLE_EQ(list[1].self, static_cast<double>(kMostFunctions) + 20);
}

}  // namespace
}  // namespace cacheline::scheduling::test
