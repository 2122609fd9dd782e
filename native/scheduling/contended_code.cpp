// Rows and their call chains added up by function.
#include "scheduling/contended_code.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/own_place.h"

namespace cacheline::scheduling {

namespace {

struct Sums {
  double self = 0, total = 0;
  std::map<FunctionName, double> callers, callees;
};

/// What is told of code, the innermost function first: those into which others were inlined called them.
template <typename Code>
std::vector<FunctionName> namesOf(const Code& code) {
  std::vector<FunctionName> names;
  for (const std::string* function : analysis::ownFunctions(code)) names.push_back({*function, code.object});
  return names;
}

/// The kernel passed over the caller of code that keeps no frame pointer.
bool isUnknown(const analysis::CallerFrame& frame) {
  return frame.codeAddress == 0 && frame.symbol.empty() && frame.object.empty();
}

class CallGraph {
 public:
  void add(const analysis::Access& access) {
    const std::vector<FunctionName> code = namesOf(*access.code);
    const FunctionName& leaf = code.front();
    const auto contended = static_cast<double>(access.contended);
    double told = 0;
    if (access.callers && access.records > 0) {
      for (const analysis::Callers& chain : *access.callers) {
        const double samples =
            contended * static_cast<double>(chain.records) / static_cast<double>(access.records);
        addChain(code, chain, samples);
        told += samples;
      }
    }
    functions_[leaf].self += contended;
    // Of some samples the chains are not listed.
    functions_[leaf].total += std::max(contended - told, 0.0);
  }

  std::vector<ContendedFunction> list() const {
    std::vector<ContendedFunction> functions;
    for (const auto& [name, sums] : functions_)
      functions.push_back({name, sums.self, sums.total, sorted(sums.callers), sorted(sums.callees)});
    std::ranges::sort(functions, [](const ContendedFunction& a, const ContendedFunction& b) {
      return std::tie(b.total, b.self, a.function) < std::tie(a.total, a.self, b.function);
    });
    if (functions.size() > kMostFunctions) functions.resize(kMostFunctions);
    return functions;
  }

 private:
  /// A function that calls itself counts once for each sample; a call from it to itself is none.
  void addChain(const std::vector<FunctionName>& code, const analysis::Callers& chain, double samples) {
    std::vector<FunctionName> stack = code;
    for (const analysis::CallerFrame& frame : chain.frames) {
      if (isUnknown(frame)) break;
      std::ranges::copy(namesOf(frame), std::back_inserter(stack));
    }
    std::set<FunctionName> counted;
    std::set<std::pair<FunctionName, FunctionName>> calls;
    const FunctionName* callee = nullptr;
    for (const FunctionName& caller : stack) {
      if (counted.insert(caller).second) functions_[caller].total += samples;
      if (callee != nullptr && caller != *callee && calls.insert({caller, *callee}).second) {
        functions_[caller].callees[*callee] += samples;
        functions_[*callee].callers[caller] += samples;
      }
      callee = &caller;
    }
  }

  static std::vector<CallShare> sorted(const std::map<FunctionName, double>& calls) {
    std::vector<CallShare> list;
    for (const auto& [function, samples] : calls) list.push_back({function, samples});
    std::ranges::stable_sort(list, std::ranges::greater(), &CallShare::samples);
    if (list.size() > kMostCalls) list.resize(kMostCalls);
    return list;
  }

  std::map<FunctionName, Sums> functions_;
};

}  // namespace

std::vector<ContendedFunction> contendedFunctions(const analysis::Report& report) {
  CallGraph graph;
  for (const analysis::Line& line : report.lines)
    for (const analysis::Access& access : line.accesses)
      if (access.contended > 0) graph.add(access);
  return graph.list();
}

}  // namespace cacheline::scheduling
