// What the tables of lines and of rows have in common: which loads they count, and how numbers are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::c2c {

/// Loads of a line or a row by where they were answered.
struct LoadPair {
  uint64_t local = 0, remote = 0;
};

/// The loads that a report is sorted by: HITMs, or loads that a peer's cache answered.
class Displayed {
 public:
  explicit Displayed(const analysis::Report& report);

  bool peer() const { return peer_; }
  /// Whether this evidence can tell; where not, `of` gives none.
  bool known() const { return known_; }
  LoadPair of(uint64_t localHitm, uint64_t remoteHitm, uint64_t localPeer, uint64_t remotePeer) const;
  LoadPair of(const analysis::MemoryCounts& counts) const;
  /// How many of them count.
  uint64_t count(const LoadPair& loads) const;
  /// Title of their share, in two parts.
  const char* upperTitle() const;
  const char* lowerTitle() const;

 private:
  bool peer_, local_, remote_, known_;
};

/// Ranges of ascending numbers, or perf's "N/A" where the recording does not say.
void appendNodes(std::string& out, const std::vector<uint32_t>& nodes);
void appendNodes(std::string& out, const std::optional<std::vector<uint32_t>>& nodes);
/// "n/a" where this evidence cannot say.
void appendCount(std::string& out, const std::optional<uint64_t>& number);
/// In percent with two decimals, as perf has them.
void appendShare(std::string& out, uint64_t part, uint64_t whole);

}  // namespace cacheline::c2c
