// The words of a cache line, and which of them the competing actors use alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/intervals.h"
#include "analysis/report.h"

namespace cacheline::decode {
struct LockStep;
}

namespace cacheline::analysis {

/// Whether code writes a place after it has read it, with another instruction.
enum class LaterWrite : uint8_t {
  none,
  each,     ///< as often as it reads it
  some,     ///< it does, at most as often
  possible  ///< it may, at most as often
};

/// A place of the line as one instruction uses it.
struct WordStatistics {
  uint32_t offset = 0, width = 1;      ///< bytes, in the line
  bool reads = false, writes = false;  ///< a read-modify-write does both; also what is written later for sure
  bool locked =
      false;          ///< and costs nearly as much alone (see Waiting::contended); never of loads with HITMs
  uint64_t code = 0;  ///< the instruction; one that uses several places does so by an index
  uint64_t function = 0;  ///< that the instruction is in
  bool swaps = false;     ///< as decode::MemoryOperand::swaps
  bool adds = false;      ///< as decode::MemoryOperand::adds
  LaterWrite later = LaterWrite::none;
  double leastWrites = 0;  ///< of LaterWrite::some, for each read: as often as samples show that it is next
  std::shared_ptr<const decode::LockStep> lock = {};  ///< of what writes; null: not known
  /// Whether it waits for reads, too. What is written later waits at the read.
  bool waitsForReads() const { return (writes && later == LaterWrite::none) || locked; }
};

/// One sample at a line.
struct PlaceSample {
  uint32_t use = 0;      ///< index of its WordStatistics
  uint32_t visitor = 0;  ///< index of its Visitor
  bool waits = true;     ///< it is one of the line's contended samples
  uint32_t weight = 1;   ///< how many samples it stands for
  uint64_t time = 0;     ///< ns; 0: not known
  uint32_t cpu = kNoCpu;
  uint64_t since = 0;  ///< when its core had a sample at the line before, ns; 0: never
};

/// What an actor is known to do, whether samples show it or not.
struct KnownUse {
  uint32_t offset = 0, width = 1;  ///< bytes, in the line
  uint32_t actor = 0;
  bool reads = false, writes = false;
};

/// What the code of a WordStatistics accesses in the same basic block, too.
struct StepUse {
  uint32_t use = 0;                ///< index of the WordStatistics
  uint32_t offset = 0, width = 1;  ///< bytes, in the line
};

/// Who shares: an actor (a thread, or a goroutine) while it is on one thread. Dense, of the line.
struct Visitor {
  uint32_t actor = 0, thread = 0;
};

/// How sure it is that two words are used differently: 0 alike, 1 differently. `low` and `high` are what it
/// can be at least and at most, as far as the samples can tell.
struct Difference {
  double value = 0, low = 0, high = 0;
};

/// Words are the bytes that one access covers, with what overlaps them.
///
/// Two words are used differently where an actor reads (or writes) one of them and was not seen to read
/// (write) the other nor is known to, though so few samples come by chance at most once in e^3 times, as if
/// three had been expected and none came; likewise all actors together, and where nearly each actor keeps to
/// one of the two, or nearly each thread does, whichever actors it runs. Where they differ in what is
/// likelier by chance, they are alike in `low` and different in `high`; `value` is then how likely it is,
/// going by the line's other words, and stays below what makes a verdict. So are elements of an array in
/// `high` that one instruction uses by an index.
///
/// Where instructions go through many words (two buffers of bytes side by side), each word has too few
/// samples. Words that an actor uses by one instruction, or in one step, are then a *stretch*: two are used
/// differently where an actor uses one of them only, and their words would hardly be apart by chance.
///
/// Words of a stretch, and those that an actor uses in one function, are alike where nothing decides. Who
/// uses several waits for the line at the first one that it comes to: what it has at its other words says how
/// many samples to expect at one more.
class WordGroups {
 public:
  WordGroups(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
             std::span<const Visitor> visitors, std::span<const KnownUse> known,
             std::span<const StepUse> steps);

  const std::vector<LineWord>& words() const { return words_; }  ///< by offset
  uint32_t wordOf(uint32_t use) const { return wordOf_[use]; }
  const Difference& between(uint32_t a, uint32_t b) const { return differences_[a * words_.size() + b]; }
  /// The actor that alone writes a word, or kNobody.
  uint32_t ownerOf(uint32_t word) const;
  static constexpr uint32_t kNobody = ~uint32_t{0};

 private:
  struct ByUser {
    uint32_t user = 0;
    uint32_t reads = 0, writes = 0;  ///< samples; a read-modify-write counts as both
    bool knownReads = false, knownWrites = false;
  };
  using Users = std::vector<ByUser>;  ///< ascending
  struct WordUse {
    Users actors;
    Users threads;  ///< only where actors move between threads
    uint32_t samples = 0, reads = 0, writes = 0;
    std::vector<uint64_t> codes;  ///< ascending
  };
  enum class Kind : uint8_t { read, write };
  struct Likeness;
  /// What one user has at the words of a set, of one kind.
  struct Walk {
    uint32_t words = 0, samples = 0;  ///< how many have some, and how many these are
    uint32_t most = 0, at = 0;        ///< at the word that has most, and which that is
  };
  using Walks = std::map<std::tuple<uint32_t, uint32_t, Kind>, Walk>;  ///< by set, user and kind
  /// Two that are compared: words, or all of two stretches (and then `words` is empty).
  struct Two {
    const WordUse &a, &b;
    std::optional<std::pair<size_t, size_t>> words;
  };
  Likeness compare(const Two& two) const;
  void compare(const Two& two, Users WordUse::*users, Kind kind, Likeness& result) const;
  void findWords(std::span<const WordStatistics> uses);
  void count(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
             std::span<const uint32_t> userOf, Users WordUse::*users);
  void addKnown(std::span<const KnownUse> known);
  void findStretches(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                     std::span<const Visitor> visitors, std::span<const StepUse> steps);
  /// Whether the stretches of two words are used differently; their words may be in one.
  bool areApart(size_t a, size_t b);
  void findSets(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                std::span<const Visitor> visitors);
  void findWalks(Users WordUse::*users, Walks& walks) const;
  /// How many samples a user of one word of a set would have at another one, where it has none, if it used
  /// both; empty: it has samples at one word alone, or the words are of two sets.
  std::optional<double> expectedAt(Users WordUse::*users, uint32_t user, Kind kind, size_t there,
                                   size_t missing) const;
  void findDifferences();
  /// Of two words' samples, the share that the same actors have at both: 0 to 1.
  static double usersInCommon(const Users& a, const Users& b);
  void group();

  std::vector<LineWord> words_;
  std::vector<uint32_t> wordOf_;
  std::vector<WordUse> used_;  ///< by word
  struct Stretch {
    WordUse used;  ///< of all its words; without codes
    uint32_t words = 0;
  };
  std::vector<uint32_t> stretchOf_;  ///< by word
  std::vector<Stretch> stretches_;
  /// Sets of words: stretches, and what an actor uses in one function.
  std::vector<uint32_t> setOf_, samplesOfSet_;  ///< by word; by set
  Walks actorWalks_, threadWalks_;
  std::vector<std::optional<bool>> apart_;  ///< of pairs of stretches; empty: not asked yet
  std::vector<Difference> differences_;
};

}  // namespace cacheline::analysis
