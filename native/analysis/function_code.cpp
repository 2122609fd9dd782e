// A jump out of a function is a call of another one, unless that jumps back into its middle.
#include "analysis/function_code.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "symbols/frame_ranges.h"

namespace cacheline::analysis {

namespace {

using decode::CodeSweep;

constexpr size_t kMostParts = 16;
constexpr std::string_view kColdSuffix = ".cold";

bool isPartName(std::string_view name) {
  return name.find(kColdSuffix) != std::string_view::npos;
}

class CodeParts {
 public:
  CodeParts(const symbols::ElfImage& image, const symbols::Section& function)
      : image_(image), function_(function) {
    if (image.hasSymbolTable()) symbol_ = image.functionAt(function.address);
  }

  /// False where not all can be known.
  bool find(SweptFunction& swept) {
    const bool mayBeEntered = symbol_ != nullptr
                                  ? isPartName(symbol_->name)
                                  : swept.sweep.calls() && image_.section(".gcc_except_table").has_value();
    if (mayBeEntered || !collect(swept.sweep)) return false;
    std::vector<size_t> entries;
    for (const auto& [start, size] : candidates_) {
      const auto bytes = image_.bytesAt(start, size);
      auto sweep = std::make_unique<const CodeSweep>(bytes, 0, CodeSweep::Extent::part);
      const size_t before = entries.size();
      for (const CodeSweep::Leaving& jump : sweep->leaving()) {
        const uint64_t offset = start + jump.target - function_.address;
        if (offset > 0 && offset < function_.size) entries.push_back(offset);
      }
      if (entries.size() == before) {
        if (bytes.size() == size && isEnd(*sweep)) addEnds(swept, start, size);
        continue;
      }
      if (bytes.size() != size || !sweep->indirectJumps().empty()) return false;
      swept.parts.push_back({*sweep, bytes, start});
      swept.partSweeps.push_back(std::move(sweep));
    }
    swept.sweep.enterAt(entries);
    return true;
  }

 private:
  static bool isEnd(const CodeSweep& sweep) {
    return sweep.returns().empty() && sweep.indirectJumps().empty() && sweep.leaving().empty();
  }
  void addEnds(SweptFunction& swept, uint64_t start, uint64_t size) const {
    for (const CodeSweep::Leaving& jump : swept.sweep.leaving()) {
      const uint64_t target = function_.address + jump.target;
      if (target - start < size) swept.ends.push_back(target);
    }
  }
  /// Code that may be a part of the function. False where there is too much.
  bool collect(const CodeSweep& sweep) {
    if (symbol_ != nullptr)
      if (const auto cold = image_.addressOfSymbol(std::string(symbol_->name) + std::string(kColdSuffix)))
        add(functionAround(image_, *cold));
    for (const CodeSweep::Leaving& jump : sweep.leaving()) {
      const uint64_t target = function_.address + jump.target;
      const auto range = functionAround(image_, target);
      if (!range && jump.conditional) return false;
      if (range && !isCall(*range, target)) add(range);
      if (candidates_.size() > kMostParts) return false;
    }
    return std::none_of(candidates_.begin(), candidates_.end(),
                        [](const auto& candidate) { return candidate.second > kMaxSweep; });
  }
  /// Whether a jump to `target` is the call of a function by its name.
  bool isCall(const symbols::Section& range, uint64_t target) const {
    const symbols::Symbol* symbol = symbol_ != nullptr ? image_.functionAt(target) : nullptr;
    return symbol != nullptr && range.address == target && !isPartName(symbol->name);
  }
  void add(const std::optional<symbols::Section>& range) {
    if (range && range->address != function_.address) candidates_[range->address] = range->size;
  }

  const symbols::ElfImage& image_;
  const symbols::Section& function_;
  const symbols::Symbol* symbol_ = nullptr;
  std::map<uint64_t, uint64_t> candidates_;  ///< sizes by addresses
};

auto bytesOf(const symbols::ElfImage& image, const symbols::Section& function, uint64_t ip) {
  const uint64_t before = ip - function.address;
  return image.bytesAt(function.address, function.size > before ? std::min(function.size, kMaxSweep + kWindow)
                                                                : before + kWindow);
}

SweptFunction sweep(const symbols::ElfImage& image, const symbols::Section& function,
                    std::span<const uint8_t> bytes) {
  using Extent = CodeSweep::Extent;
  const Extent extent = bytes.size() == function.size ? Extent::function : Extent::part;
  SweptFunction swept{CodeSweep(bytes, 0, extent), {}};
  if (extent == Extent::function && swept.sweep.indirectJumps().empty() &&
      !CodeParts(image, function).find(swept))
    return {CodeSweep(bytes, 0, Extent::part), {}};
  return swept;
}

}  // namespace

std::optional<symbols::Section> functionAround(const symbols::ElfImage& image, uint64_t address) {
  if (const symbols::Symbol* function = image.functionAt(address))
    return symbols::Section{function->address, function->size};
  return symbols::frameRange(image, address);
}

decode::Code sweptCode(const symbols::ElfImage& image, const symbols::Section& function, uint64_t ip,
                       Sweeps& sweeps) {
  const auto bytes = bytesOf(image, function, ip);
  auto known = sweeps.find(function.address);
  // How much code is taken of a symbol without a size depends on the IP.
  if (known == sweeps.end() || known->second.sweep.size() != bytes.size()) {
    constexpr size_t kMostKept = 4096;  // of up to 25 KB each, and their jumps: symbols may lie on each other
    if (sweeps.size() >= kMostKept) sweeps.clear();
    known = sweeps.insert_or_assign(function.address, sweep(image, function, bytes)).first;
  }
  return {known->second.sweep, bytes, function.address, known->second.parts, known->second.ends};
}

}  // namespace cacheline::analysis
