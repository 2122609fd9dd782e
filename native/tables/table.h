// A report added up by keys: the rows of `cacheline report --by` (docs/outputs.md, "Tables").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "tables/keys.h"

namespace cacheline::tables {

/// One source line that waits for another one.
struct WaitingLines {
  std::string source, cause;  ///< as Key::source has them
  double share = 0;           ///< of the row's contended samples
};

/// What a function waits for: what another function does, or itself.
struct WaitsFor {
  std::string function;             ///< as Key::function has it
  double share = 0;                 ///< of the row's contended samples
  double falseShare = 0;            ///< how much of it is false
  std::vector<WaitingLines> lines;  ///< the largest share first
};

struct Row {
  std::vector<std::string> key;  ///< one text for each key of the table
  uint64_t samples = 0, contended = 0, reads = 0, writes = 0;
  double programShare = 0;              ///< contended samples over all samples of the report
  std::optional<uint64_t> contendedNs;  ///< clock evidence: the time that the contended samples stand for
  std::optional<uint64_t> hitm;         ///< where the evidence tells them
  std::optional<uint64_t> misses;       ///< memory evidence: accesses whose line the first cache did not have
  std::optional<uint64_t> peer;         ///< likewise
  std::optional<double> bounce;  ///< memory evidence: share of the accesses with a HITM or a peer's answer
  std::optional<analysis::MemoryCounts> counts;    ///< memory evidence
  std::optional<analysis::FalseShare> falseShare;  ///< empty: nobody waits
  std::optional<analysis::Verdict> verdict;        ///< empty: no sample of the row has a place on a line
  uint64_t threads = 0, lines = 0;                 ///< distinct ones
  /// Distinct objects (elements of arrays) of which samples are, and their bytes: lower bounds. Empty: the
  /// start of none is known.
  std::optional<uint64_t> instances, bytes;
  std::vector<WaitsFor> waitsFor;  ///< by function alone, the largest share first
};

struct Table {
  std::vector<Key> by;
  std::vector<std::string> evidence;
  std::string collector;
  uint64_t samples = 0, contended = 0;         ///< what the rows add up to
  std::optional<uint64_t> misses;              ///< likewise; empty: not known
  uint64_t programSamples = 0;                 ///< of the report
  std::optional<uint64_t> filtered;            ///< as analysis::Report
  std::optional<analysis::Selected> selected;  ///< likewise
  std::optional<analysis::TimeBins> bins;      ///< where time is a key
  std::vector<std::string> limits;             ///< sentences: what this evidence can and cannot know
  std::vector<std::string> warnings;           ///< of the report
  std::vector<Row> rows;
};

/// Adds up the lines of a report whose splits were asked for with splitsFor(by), by at most kMostKeys. The
/// rows add up to the samples and contended samples of the report; where a filter chose lines, to those of
/// these lines. Samples without a place on a line are in rows "[not attributed: REASON]" of the keys that
/// only a place gives; of threads, CPUs, times and, where their code is known, code they are in these rows.
/// By contended samples, then samples, descending, then by key; times ascend.
Table tableOf(const analysis::Report& report, const std::vector<Key>& by);

/// The document `cacheline-table/1`, in at least two pieces: the first one ends with the `[` of `rows`, the
/// last one begins with its `]`, and those between are whole rows, at least `pieceBytes` a piece, all but the
/// first of them behind a comma.
std::vector<std::string> tablePieces(const Table& table, size_t pieceBytes = analysis::kReportPieceBytes);

}  // namespace cacheline::tables
