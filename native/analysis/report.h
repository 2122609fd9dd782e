// The result of an analysis: the fields of `cacheline-report/1` (docs/outputs.md), as values.
// Shares are 0 to 1. optional: empty means this evidence cannot say and becomes null.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/code_name.h"
#include "analysis/false_share.h"
#include "analysis/splits.h"
#include "analysis/whereabouts.h"
#include "layouts/layout.h"
#include "symbols/language.h"

namespace cacheline::analysis {

enum class Verdict : uint8_t { falseSharing, trueSharing, mixed, readShared, privateLine };
const char* verdictName(Verdict verdict);

struct Place {  ///< a source position
  std::string file;
  uint32_t line = 0;
};

/// How the object at an address is known, best first.
enum class How : uint8_t {
  global,      ///< a variable with static storage covers the address
  stack,       ///< a local variable does
  code,        ///< a live pointer, or the code's types followed through registers
  allocation,  ///< a recorded heap block
  unknown
};
const char* howName(How how);

struct HeapBlock {                            ///< a recorded allocation
  uint64_t size = 0;                          ///< bytes
  std::string function;                       ///< that allocated it: the first outside the allocator
  Place place;                                ///< in `function`; file empty: unknown
  std::vector<symbols::SourceFrame> callers;  ///< of `function`, innermost first; some few
};

/// The heap blocks that one place in the code allocated.
struct HeapSite {
  HeapBlock origin;        ///< function, place and callers; no size
  uint64_t blocks = 0;     ///< that were recorded
  uint64_t peakBytes = 0;  ///< of the blocks that were there at one time, the most
  uint64_t lines = 0;      ///< cache lines that blocks cover, whenever they were there
  std::string incomplete;  ///< one clause: why blocks may be missing; empty: all were recorded
};

struct StackOwner {  ///< the thread whose stack it is
  uint32_t pid = 0, tid = 0;
  std::string comm;
};

struct DataName {       ///< what memory an access touched
  std::string object;   ///< ELF symbol (readable), "[heap]", "[stack]", the mapping's name, or "POINTER[]"
  uint64_t offset = 0;  ///< bytes from the object's start; from the mapping's start where it is no symbol
  std::optional<Place> definition;        ///< of the variable
  std::optional<uint64_t> variableBytes;  ///< of the variable that `object` is; empty: it is none
  How how = How::unknown;
  std::string because;  ///< one clause for a person: how it is known, or why not
  std::string type;     ///< of the whole object, readable; empty: unknown
  /// Path from the object's type, in an array from its element's; empty: unknown, a hole, or all of it. Where
  /// members overlap, all of them, with " | " between two; behind them those of objects of other types that
  /// lay there before or after, with their types: "sent | Req.state".
  std::string field;
  /// A class that the debug information does not define or place: members of it may be there. Empty: none.
  std::string incomplete;
  std::optional<uint64_t> base;  ///< where the object of `type` begins
  /// Where the object begins, or of an array the element that was accessed, and its bytes; empty: unknown.
  std::optional<uint64_t> instance, size;
  std::optional<uint64_t> fieldOffset;  ///< bytes from the object's start to the field's
  std::optional<uint64_t> index;        ///< element of the outermost array
  std::optional<HeapBlock> allocation;
  std::optional<StackOwner> stackOwner;  ///< where `object` is "[stack]"; empty: unknown
};
/// What sums over objects call it: the object, and of memory without a name the type: "Worker (heap)".
std::string objectName(const DataName& data);
/// A path whatever the elements: "slots[].count" of "slots[2].count".
std::string withoutIndices(std::string_view field);
/// Memory without a name of its own: a heap, a stack, the kernel's.
bool isUnnamed(const DataName& data);
/// Behind the name of a pointer with static storage, DataName::object of the array that it leads to.
inline constexpr const char* kPointedArray = "[]";
bool isPointedArray(const DataName& data);
/// DataName::object of kernel memory without a symbol.
inline constexpr const char* kKernelMemory = "[kernel]";
/// DataName::object of what mmap() makes of shared memory without a file.
inline constexpr const char* kSharedMemory = "anonymous shared memory";

struct ThreadStatistics {  ///< one thread's use of one line
  uint32_t pid = 0, tid = 0;
  std::string comm;
  uint64_t loads = 0, stores = 0;
  bool competes = false;  ///< its accesses interleave in time with another thread's
};

/// Load latencies in core cycles: means (0 where there was no such load) and percentiles over all loads.
struct Cycles {
  uint64_t sum = 0, loads = 0;  ///< of all loads; the rest of a row that is only summed is not known
  double remoteHitm = 0, localHitm = 0, remotePeer = 0, localPeer = 0, peer = 0, load = 0;
  uint64_t p50 = 0, p95 = 0, max = 0;
};

struct NodeStatistics {  ///< what the CPUs of one node did
  uint32_t node = 0, cpus = 0;
  std::string cpuList;
  uint64_t localHitm = 0, remoteHitm = 0, localPeer = 0, remotePeer = 0, stores = 0;
};

struct CallerFrame {
  uint64_t codeAddress = 0;
  std::string symbol, object, file;  ///< the innermost function's, inlined ones too
  uint32_t line = 0;
  std::vector<symbols::SourceFrame> inlined = {};  ///< as CodeName::inlined
};
struct Callers {  ///< one call chain, innermost caller first
  uint64_t records = 0, hitm = 0;
  std::vector<CallerFrame> frames;
};

/// What only memory samples say of a row.
struct MemoryEvidence {
  MemoryCounts counts;
  std::optional<Cycles> cycles;                ///< empty: the samples carry no latency
  std::optional<std::vector<uint32_t>> nodes;  ///< of the memory, by physical address
  std::optional<uint64_t> physicalChanges;
  std::string cpuList;
  std::vector<NodeStatistics> nodeUse;
};

/// What watchpoints trapped at a row; never part of its counts.
struct WatchCounts {
  uint64_t reads = 0, writes = 0;  ///< a read-modify-write is a write
  uint64_t unknown = 0;            ///< accesses of which the code does not say what they were
  std::vector<uint32_t> threads;
  double windowMs = 0;  ///< in which its word was watched
};

/// A word that was watched.
struct ConfirmedWord {
  uint32_t offset = 0, length = 0;  ///< bytes, in the line
  std::string name;                 ///< for a person; may be empty
  uint64_t reads = 0, writes = 0, unknown = 0;
  std::vector<uint32_t> readers, writers;
  double windowMs = 0;
  uint64_t hits() const { return reads + writes + unknown; }
};

/// What watchpoints say to a line's verdict; not confirmed means not seen.
struct Confirmation {
  bool confirmed = false;
  std::string sentence;
  std::vector<ConfirmedWord> words;  ///< by offset
  uint64_t alternations = 0;         ///< how often the next access of the line was another thread's
};

/// Bytes of a line that accesses use as one.
struct LineWord {
  uint32_t offset = 0, size = 0;  ///< bytes
  uint32_t group = 0;             ///< of the words that are used alike; numbered by offset
  bool sure = true;               ///< its samples suffice to tell it from the groups of words with more
};

/// The waiting at one word that is due to accesses to another one, or to the same.
struct WaitCause {
  uint32_t word = 0, cause = 0;  ///< indices of words
  double share = 0;              ///< of all waiting on the line whose cause is known
  double falsely = 0;            ///< how much of it is false, 0 to 1
  /// How much of it is by code that accesses both words in one step: with a line for each it waits for the
  /// other one.
  double sameStep = 0;
};

/// Who would gain from moving data apart.
struct Victim {
  std::vector<uint32_t> words;    ///< indices: of one group, where it waits
  std::vector<uint32_t> threads;  ///< tids
  uint64_t contended = 0;         ///< samples
  double falseShare = 0;
  std::optional<uint32_t> access,
      cause;  ///< indices: where most of it waits, and for what; empty: not listed
};

/// Whether the function of a read stores to the same place later.
enum class StoresLater : uint8_t { never, sometimes, always };

struct Access {  ///< one row: (offset in the line, code address)
  uint32_t offset = 0, width = 0;
  uint64_t codeAddress = 0;  ///< in the process (the lowest where several have it at different places)
  uint64_t elfAddress = 0;   ///< the binary's own virtual address of it
  SharedName code = noName();
  bool locked = false;
  StoresLater storesLater = StoresLater::never;
  uint64_t records = 0, loads = 0, stores = 0, rmw = 0;
  uint64_t contended = 0;  ///< samples by competing threads, on a line that has a writer; see Waiting
  std::optional<double> falseShare;  ///< of its causes; empty: none is known
  std::optional<uint32_t> word;      ///< index, in lines of which words are known
  WaitSum waits;
  uint32_t cpus = 0;
  std::vector<uint32_t> threads, processes, nodes;
  DataName data;
  std::vector<uint32_t> skid;  ///< [n]: samples whose IP was n instructions after the access
  std::optional<MemoryEvidence> memory;
  std::optional<std::vector<Callers>> callers;  ///< empty: not asked for
  std::optional<WatchCounts> watch;             ///< empty: its bytes were not watched
  std::vector<AccessSplit> splits;              ///< by place; empty: not asked for
  std::optional<uint32_t> finding;              ///< of Report::findings; empty: nobody waits there
};

/// What of a line without a known writer would wait if code that may write it did each time.
struct IfWritten {
  uint64_t contended = 0;  ///< samples
  FalseShare falseShare;
};

struct LineHistory;  // line_history.h
struct UsePairs;     // use_pairs.h

struct Line {
  uint64_t address = 0;  ///< of a shared line: the lowest at which it was seen
  std::string space;     ///< "pid 5000", "file 00:1b:1234" (device in hex as in /proc/PID/maps, inode)
  std::optional<uint64_t> fileOffset;  ///< of a line in a shared mapping, bytes
  std::string mapping;                 ///< name of the mapping
  std::optional<std::vector<uint32_t>> nodes;
  Verdict verdict = Verdict::privateLine;
  std::optional<FalseShare> falseShare;  ///< empty: nobody waits here
  std::optional<IfWritten> ifWritten;    ///< empty: nothing of the kind is known
  std::vector<LineWord> words;           ///< by offset, of lines that somebody waits for
  std::vector<WaitCause> causes;         ///< the largest share first
  std::vector<Victim> victims;           ///< most contended samples first
  std::shared_ptr<UsePairs> pairs;       ///< null: splits are not asked for, or nobody waits here
  std::vector<std::string> flags;
  double contendedShare = 0;  ///< of all contended samples of the recording
  double programShare = 0;    ///< contended samples of this line over all samples: the cost
  uint64_t contended = 0, records = 0, loads = 0, stores = 0, rmw = 0, locked = 0;
  std::optional<MemoryCounts> memory;
  std::optional<uint64_t> physicalChanges;
  std::optional<Confirmation> confirmation;
  std::optional<uint32_t> goroutines;  ///< that were seen at it, in Go programs
  std::vector<ThreadStatistics> threads;
  std::vector<Access> accesses;
  std::shared_ptr<LineHistory> history;  ///< null: not asked for
};

struct ObjectSum {  ///< lines added up per data object
  std::string object, space, binary;
  std::optional<Place> definition;
  std::optional<uint64_t> base;         ///< address of what is told apart by it; empty: by its name alone
  std::optional<HeapBlock> allocation;  ///< the block of its first access that is in one
  uint32_t lines = 0;
  Verdict verdict = Verdict::privateLine;
  std::optional<FalseShare> falseShare;
  std::vector<std::string> flags;
  uint64_t contended = 0, records = 0, loads = 0, stores = 0;
  double contendedShare = 0, programShare = 0;
};

/// One field of a type, over all its instances.
struct FieldHeat {
  uint64_t offset = 0, size = 0;  ///< bytes
  std::string field;              ///< path from the type; empty: a hole, or the whole object; or `b1 | b2`
  uint64_t records = 0, loads = 0, stores = 0, contended = 0;
  std::optional<FalseShare> falseShare;
  std::optional<MemoryCounts> memory;
  std::optional<double> meanCycles;        ///< of loads
  std::vector<uint32_t> readers, writers;  ///< tids that read, and that wrote; some do both
};

struct TypeHeat {  ///< accesses added up over all instances of a type, folded to its own offsets
  std::string name, object, binary;  ///< `object`: the binary's base name, `binary`: its path
  symbols::Language language = symbols::Language::unknown;
  uint64_t instances = 0;  ///< distinct bases; 0 where no base is known
  /// The instances are those inside of other types, whose sums have their accesses too, and all others.
  bool nested = false;
  uint32_t lines = 0;
  Verdict verdict = Verdict::privateLine;
  std::optional<FalseShare> falseShare;
  std::vector<std::string> flags;
  uint64_t records = 0, loads = 0, stores = 0, contended = 0;
  double contendedShare = 0, programShare = 0;
  std::optional<MemoryCounts> memory;
  layouts::Layout layout;                  ///< with all nested members
  std::vector<layouts::LayoutMember> own;  ///< the members that its definition declares, bases included
  std::vector<FieldHeat> fields;
};

/// Who waits at a subject, and for what.
struct FindingWait {
  std::string function, member;  ///< that waits, and where; empty: not known
  Place place;                   ///< of the access that waits
  std::string causeFunction, causeMember;
  bool falsely = false;  ///< most of it is
  double share = 0;      ///< of the finding's contended samples
};

struct FindingMember {
  std::string name;  ///< path from the subject's type; empty: not known
  uint64_t contended = 0;
  std::optional<FalseShare> falseShare;
  Place place;  ///< of the access that waits most
};

/// One judgement: of objects of a type, of an array, a variable, or blocks of one allocation.
struct Finding {
  enum class Kind : uint8_t { type, array, variable, block, memory };
  Kind kind = Kind::memory;             ///< memory: neither its type nor its allocation is known
  std::string type, object;             ///< as in advice; of memory `object` is what sums call it
  uint32_t subject = ~0u;               ///< of Subjects::list(); ~0: none
  std::vector<FindingMember> members;   ///< most contended first
  std::optional<Place> definition;      ///< of the type, or of the variable
  std::optional<HeapBlock> allocation;  ///< of its first object that is in a recorded block
  Verdict verdict = Verdict::mixed;
  std::optional<FalseShare> falseShare;
  std::vector<std::string> flags;
  uint64_t contended = 0;
  double programShare = 0;           ///< of all samples
  uint64_t objects = 0;              ///< that somebody waits at; 0: not known
  std::vector<FindingWait> waits;    ///< the largest share first; some few
  uint64_t lineCount = 0;            ///< contended lines; where some are not listed, all lines of it
  std::vector<uint64_t> lines;       ///< addresses of the most contended of them, some few
  std::vector<uint32_t> neighbours;  ///< other findings, whose data it waits for on shared lines; ascending
  std::optional<uint32_t> advice;    ///< which one speaks of it; empty: none
};
const char* findingKindName(Finding::Kind kind);

struct Unattributed {
  uint64_t kernel = 0, noInstruction = 0, noMemoryOperand = 0, clobbered = 0, threadLocal = 0, unmapped = 0;
};

/// Why nothing can be said about a sample: but for `lost`, the names of samples.unattributed.
enum class UnseenReason : uint8_t { kernel, noInstruction, clobbered, unmapped, lost };
const char* unseenReasonName(UnseenReason reason);

struct BlindReason {
  UnseenReason reason = UnseenReason::kernel;
  std::string what;  ///< for a person, behind "in": "code that no file backs (JIT: Java)"
  double share = 0;
};

/// What a report could not see. Shares are of all samples, with those that are known to be lost.
struct Blind {
  double share = 0;
  std::vector<BlindReason> reasons;  ///< most samples first
};

/// Code whose samples say nothing: where they would have counted.
struct UnseenPlace {
  UnseenReason reason = UnseenReason::clobbered;
  uint64_t codeAddress = 0;  ///< of the access, in the process; 0: of all code of a binary or mapping
  uint64_t elfAddress = 0;
  SharedName code = noName();
  uint64_t samples = 0;
  double share = 0;  ///< as those of Blind
};

struct BinaryState {
  std::string path, buildId, status, detail;
};

/// How much of the recording a thread was in.
struct ThreadSamples {
  uint32_t pid = 0, tid = 0;
  uint64_t samples = 0;  ///< those that could not be attributed, too
  /// Of them, by phase; empty: all in the first one.
  std::map<uint32_t, uint64_t> byPhase = {};
  /// By phase and function (as WordStatistics::function): samples at the thread's own stack, and those that
  /// lost their address. What the function waits for at its plain accesses may show there. Only of reports
  /// whose lines have a history.
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> mayWait = {};
};

/// Which of the lines a filter chose to show.
struct Selected {
  uint64_t lines = 0, of = 0;
};

/// Samples at lines that several threads use and one of them writes, while they took turns on one core.
struct TakenTurns {
  RanBy by = RanBy::samples;  ///< what it is known by
  uint64_t samples = 0;
  uint64_t lines = 0;    ///< with nothing else: private lines with the flag "turns" or "one-core"
  uint64_t oneCore = 0;  ///< of `lines`, those with the latter
  uint32_t threads = 0;  ///< at that of these lines with most of the samples
};

/// A named number of the report's head; empty: this evidence cannot say.
using Statistic = std::pair<const char*, std::optional<uint64_t>>;

/// Of recordings with data sources: what was asked for, and what perf's tables name.
struct C2cSettings {
  std::string display;                ///< tot, lcl, rmt, peer
  std::vector<std::string> coalesce;  ///< tid, pid, iaddr, dso
  bool doubleLine = false;
  std::vector<std::string> events;
  std::vector<std::pair<uint32_t, std::string>> nodes;  ///< number, CPU list
  uint64_t filtered = 0;                                ///< samples
};

struct Report {
  std::vector<std::string> evidence;
  std::string collector;
  uint32_t lineSize = 64;
  bool doubleLine = false;  ///< a line is a pair of neighbours, twice `lineSize`
  uint64_t samples = 0, attributed = 0, lost = 0;
  std::optional<uint64_t> filtered;  ///< samples that filters left out; empty: there was none
  Unattributed unattributed;
  std::optional<Blind> blind;                      ///< empty: less than kBlindShare (blindness.h)
  std::optional<std::vector<UnseenPlace>> unseen;  ///< most samples first, some few; empty: not counted
  std::optional<C2cSettings> c2c;
  bool hitmKnown = false, peerKnown = false;  ///< whether this evidence can tell
  std::vector<Statistic> stats, shared;       ///< in the order of the document
  uint64_t contended = 0;
  /// By the number that LineHistory::threads has; empty where samples do not show where time goes.
  std::vector<ThreadSamples> threads;
  /// Where phases of the program begin (phases.h), of a report with histories; empty: there is one phase.
  std::vector<uint64_t> phases;
  std::optional<Splits> splits;  ///< empty: not asked for
  std::vector<Line> lines;
  uint64_t linesLeftOut = 0;         ///< private lines not listed
  std::optional<Selected> selected;  ///< empty: all lines are
  uint64_t linesOfMany = 0;          ///< with more threads than are compared (verdict.h)
  std::optional<TakenTurns> turns;   ///< empty: nothing tells where threads ran
  /// Where threads ran, by the number that LineHistory::threads has; null: nothing tells, or lines have no
  /// history.
  std::shared_ptr<const Whereabouts> whereabouts;
  std::optional<uint64_t> contendedLeftOut;  ///< of `contended`, on lines not listed; with data sources alone
  std::vector<ObjectSum> objects;
  std::optional<std::vector<HeapSite>> heapSites;  ///< empty: not asked for, or no heap blocks are recorded
  std::vector<TypeHeat> types;                     ///< by contended samples, descending
  std::vector<Finding> findings;                   ///< by contended samples, descending
  std::vector<BinaryState> binaries;
  std::vector<std::string> warnings;
  double seconds = 0;                  ///< first to last sample
  std::string metaJson;                ///< the recording's meta.json, verbatim where it parses, else empty
  std::shared_ptr<const void> source;  ///< what it was made from and needs no more, where that is large
};

/// The document `cacheline-report/1` (docs/outputs.md). Valid JSON whatever bytes names hold: invalid UTF-8
/// becomes U+FFFD.
std::string reportJson(const Report& report);

/// The document without its `lines`, and single elements of its lists; of a line also without its `accesses`,
/// or without the call chains of these.
std::string headJson(const Report& report);
enum class LineParts { all, withoutCallers, withoutAccesses };
std::string lineJson(const Report& report, const Line& line, LineParts parts = LineParts::all);
std::string objectJson(const Report& report, const ObjectSum& object);
std::string typeJson(const Report& report, const TypeHeat& type);

/// What a piece of a document is cut behind: JavaScript's strings have at most half a GiB.
inline constexpr size_t kReportPieceBytes = 64 << 20;
/// The same document in at least two pieces: the first one ends with the `[` of `lines`, the last one begins
/// with its `]`, and those between are whole lines, at least `pieceBytes` a piece, all but the first of them
/// behind a comma.
std::vector<std::string> reportPieces(const Report& report, size_t pieceBytes = kReportPieceBytes);

}  // namespace cacheline::analysis
