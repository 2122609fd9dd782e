// What to change so that threads no longer wait for each other's data (docs/design/advice.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "advice/locks.h"
#include "advice/member_groups.h"
#include "analysis/report.h"

namespace cacheline::advice {

enum class Why : uint8_t {
  lockWithOwnData,
  mixedUse,
  unrelatedOwners,
  alignment,
  adjacent,
  trueSharing,
  notKnown
};
const char* whyName(Why why);

enum class Way : uint8_t { align, pad, reorder, split, stride, allocate, perThread, none };
const char* wayName(Way way);

/// Of the program's elapsed time: before over after.
struct Speedup {
  double low = 1, mid = 1, high = 1;
};

struct Variable {
  std::string name, type;
  uint64_t size = 0;  ///< bytes
  std::optional<analysis::Place> definition;
};

/// What an edit is to do.
struct ChangeMembers {
  MemberLayout layout;
};
struct SplitMembers {
  MemberSplit split;
};
struct AlignType {};
struct AlignVariables {
  std::string binary;  ///< path of the one that defines them
  std::vector<Variable> variables;
};
struct Allocate {
  std::string binary;  ///< path of the one that calls
  std::optional<analysis::Place> call;
  std::string function;            ///< that calls
  std::string type;                ///< of the objects; empty: not known
  std::vector<std::string> files;  ///< sources of code that accesses them, where the call is not known
};
using Change = std::variant<std::monostate, ChangeMembers, SplitMembers, AlignType, AlignVariables, Allocate>;

/// Members of different threads that share a line where an object begins that far behind a line's start.
struct LatentPlacement {
  uint32_t baseOffset = 0, lineSize = 0;  ///< bytes
  std::vector<std::pair<std::string, std::string>> pairs;
};

struct Advice {
  std::string type, object;
  std::vector<std::string> members;                      ///< that somebody waits for
  analysis::Verdict verdict = analysis::Verdict::mixed;  ///< this and the shares are the finding's
  bool sure = false;
  std::optional<analysis::FalseShare> falseShare;
  Why why = Why::notKnown;
  /// A good part of the waiting is of code that uses two words in one step, each written by other threads: as
  /// the indices of a ring buffer are.
  bool twoSides = false;
  std::vector<Lock> locks;  ///< members; of data that several locks protect, each
  /// Where members share a line: with others they do not, so that the waiting is luck. Empty: it is none.
  std::vector<LatentPlacement> placements;
  Way way = Way::none;
  double confidence = 0;
  std::optional<analysis::Place> definition;
  std::optional<analysis::HeapBlock> allocation;  ///< that was recorded
  /// Of an array's elements: so many in a row that one thread uses and no other one; 0: threads use the same
  /// ones, or each some here and there.
  uint64_t elementsInRow = 0;
  /// Of its type, as debug information says; else by the file that defines it; else of the code that waits.
  symbols::Language language = symbols::Language::unknown;
  const analysis::TypeHeat* described = nullptr;  ///< of the report; null: no structure
  uint64_t contended = 0;                         ///< samples
  double programShare = 0;                        ///< of all samples
  uint64_t bytesPerInstance = 0;                  ///< more than now
  std::optional<uint64_t> bytesTotal;
  bool abi = false;
  uint64_t readerLinesBefore = 1, readerLinesAfter = 1;
  std::optional<Speedup> speedup;
  double mostSpeedup = 1;              ///< whatever contention costs there
  bool threadsOnly = false;            ///< single threads gain, and the program too little for an edit
  std::optional<double> excessCycles;  ///< see gain.h; of what the way ends
  double contendedLeft = 1;
  double trulyLeft = 0;  ///< of the same waiting, what waits for data that it shares: no layout ends that
  std::string basis;
  Change change;
};

/// Objects that nobody waits for where they lie.
struct Latent {
  std::string type, object;
  std::vector<std::string> members;
  std::vector<LatentPlacement> placements;
};

struct AdviceList {
  std::vector<Advice> advice = {};  ///< most contended samples first
  std::vector<Latent> latent = {};
  std::vector<std::string> warnings;  ///< those of the report first
};

/// `report`: with histories of its lines, private ones too.
AdviceList advise(const analysis::Report& report);

/// The document `cacheline-advice/1` (docs/outputs.md), of which the edits are not known yet.
std::string adviceJson(const analysis::Report& report, const AdviceList& list);

}  // namespace cacheline::advice
