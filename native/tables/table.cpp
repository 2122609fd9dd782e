// Splits of accesses added up to rows.
#include "tables/table.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/object_sums.h"
#include "base/hash.h"
#include "tables/key_texts.h"
#include "tables/limits.h"
#include "tables/pairs.h"

namespace cacheline::tables {

namespace {

using analysis::Access;
using analysis::AccessSplit;
using analysis::Line;
using analysis::Report;

/// Numbers of the texts of one row's keys; 0 behind the last key.
struct RowKey {
  std::array<uint32_t, kMostKeys> texts{};
  bool operator==(const RowKey&) const = default;
  size_t hash() const { return mix((uint64_t{texts[2]} << 32) | texts[0], texts[1]); }
};

/// A row on the way.
struct Sum {
  RowKey key;
  Row row;
  uint64_t placed = 0;  ///< samples with a place on a line
  uint64_t misses = 0;
  uint64_t accesses = 0;  ///< with those of memory samples without an address
  double nanoseconds = 0;
  analysis::MemoryCounts counts;
  analysis::RolledVerdict verdict;
  std::vector<bool> threads;  ///< by number
};

/// An object, or an element of an array.
struct Instance {
  uint32_t row = 0, space = 0;
  uint64_t address = 0;
  bool operator==(const Instance&) const = default;
  size_t hash() const { return mix(address, (uint64_t{row} << 32) | space); }
};

class Builder {
 public:
  Builder(const Report& report, const std::vector<Key>& by)
      : report_(report), splits_(*report.splits), by_(by), ids_(report) {
    const bool typed = std::find(by.begin(), by.end(), Key::type) != by.end();
    for (const Key key : by) texts_.emplace_back(key, report, ids_, typed);
  }

  Table run() {
    for (uint32_t i = 0; i < report_.lines.size(); ++i)
      for (const Access& access : report_.lines[i].accesses) add(i, access);
    // Of some lines alone, they would be samples of other ones.
    if (!report_.selected)
      for (const analysis::UnplacedSamples& samples : splits_.unplaced) add(samples);
    if (by_ == std::vector{Key::time}) addEmptyBins();
    Table table;
    table.by = by_;
    table.evidence = report_.evidence;
    table.collector = report_.collector;
    table.programSamples = report_.samples;
    table.filtered = report_.filtered;
    table.selected = report_.selected;
    table.bins = splits_.bins;
    table.limits = limitsOf(report_);
    table.warnings = report_.warnings;
    for (Sum& sum : sums_) finish(sum, table);
    if (by_ == std::vector{Key::function}) addPairs();
    takeRows(table);
    return table;
  }

 private:
  Sum& sumAt(const RowKey& key) {
    const auto [known, isNew] = index_.try_emplace(key, static_cast<uint32_t>(sums_.size()));
    if (isNew) {
      sums_.emplace_back().key = key;
      sums_.back().threads.resize(splits_.threads.size());
    }
    return sums_[known->second];
  }
  uint32_t indexAt(const RowKey& key) { return static_cast<uint32_t>(&sumAt(key) - sums_.data()); }

  void add(uint32_t line, const Access& access) {
    RowKey key;
    for (size_t i = 0; i < texts_.size(); ++i)
      if (texts_[i].ofAccess() && !access.splits.empty()) key.texts[i] = texts_[i].of(line, access);
    contended_.clear();
    for (const AccessSplit& split : access.splits) {
      for (size_t i = 0; i < texts_.size(); ++i)
        if (!texts_[i].ofAccess()) key.texts[i] = texts_[i].of(split.place);
      const uint32_t index = indexAt(key);
      add(split, sums_[index]);
      const auto found = std::ranges::find(contended_, index, &std::pair<uint32_t, uint64_t>::first);
      if (found == contended_.end())
        contended_.emplace_back(index, split.contended);
      else
        found->second += split.contended;
    }
    for (const auto& [index, contended] : contended_) {
      sums_[index].verdict.add(report_.lines[line], line, partOf(access, contended));
      addInstance(index, report_.lines[line], access.data);
    }
  }

  static void add(const AccessSplit& split, Sum& sum) {
    sum.placed += split.samples;
    sum.accesses += split.samples;
    sum.misses += split.misses;
    sum.row.samples += split.samples;
    sum.row.contended += split.contended;
    sum.row.reads += split.loads;
    sum.row.writes += split.stores;
    if (split.samples > 0)
      sum.nanoseconds += static_cast<double>(split.contended) * static_cast<double>(split.periods) /
                         static_cast<double>(split.samples);
    sum.counts.add(split.counts);
    sum.threads[split.place.thread] = true;
  }

  /// What a verdict is rolled up from, of so many of the access's contended samples.
  static Access partOf(const Access& access, uint64_t contended) {
    Access part;
    part.contended = contended;
    part.word = access.word;
    if (access.contended == 0) return part;
    const double share = static_cast<double>(contended) / static_cast<double>(access.contended);
    part.waits = access.waits;
    for (double* each :
         {&part.waits.waiting, &part.waits.known, &part.waits.falsely, &part.waits.low, &part.waits.high})
      *each *= share;
    part.waits.variance *= share * share;
    return part;
  }

  void addInstance(uint32_t index, const Line& line, const analysis::DataName& data) {
    const std::optional<uint64_t> address = data.instance ? data.instance
                                            : data.index  ? std::nullopt
                                                          : data.base;
    if (!address) return;
    const uint32_t space =
        spaces_.try_emplace(line.space, static_cast<uint32_t>(spaces_.size())).first->second;
    Row& row = sums_[index].row;
    if (!instances_.try_emplace({index, space, *address}, true).second) return;
    row.instances = row.instances.value_or(0) + 1;
    const std::optional<uint64_t> size =
        data.size || !data.allocation ? data.size : std::optional(data.allocation->size);
    if (size) row.bytes = row.bytes.value_or(0) + *size;
  }

  void add(const analysis::UnplacedSamples& samples) {
    RowKey key;
    for (size_t i = 0; i < texts_.size(); ++i) key.texts[i] = texts_[i].of(samples);
    Sum& sum = sumAt(key);
    sum.row.samples += samples.samples;
    sum.row.reads += samples.loads;
    sum.row.writes += samples.stores;
    sum.accesses += samples.loads + samples.stores;
    sum.misses += samples.misses;
    sum.counts.add(samples.counts);
    sum.threads[samples.place.thread] = true;
  }

  void addEmptyBins() {
    if (splits_.bins->last == 0) return;  // no sample has a time
    for (uint32_t bin = 0; bin < splits_.bins->count; ++bin) sumAt({{texts_[0].ofBin(bin)}});
  }

  void finish(Sum& sum, Table& table) {
    Row& row = sum.row;
    for (size_t i = 0; i < texts_.size(); ++i) row.key.push_back(texts_[i].text(sum.key.texts[i]));
    table.samples += row.samples;
    table.contended += row.contended;
    if (splits_.memory) table.misses = table.misses.value_or(0) + sum.misses;
    if (report_.samples > 0)
      row.programShare = static_cast<double>(row.contended) / static_cast<double>(report_.samples);
    if (splits_.periodsKnown) row.contendedNs = static_cast<uint64_t>(sum.nanoseconds + 0.5);
    if (splits_.memory) addMemory(sum);
    row.threads = static_cast<uint64_t>(std::ranges::count(sum.threads, true));
    row.lines = sum.verdict.lines();
    if (sum.placed == 0) return;
    row.verdict = sum.verdict.verdict();
    row.falseShare = sum.verdict.falseShare();
  }

  void addMemory(Sum& sum) const {
    Row& row = sum.row;
    const analysis::MemoryCounts& counts = sum.counts;
    row.counts = counts;
    row.misses = sum.misses;
    const uint64_t hitm = counts.localHitm + counts.remoteHitm, peer = counts.localPeer + counts.remotePeer;
    if (report_.hitmKnown) row.hitm = hitm;
    if (report_.peerKnown) row.peer = peer;
    if (!report_.hitmKnown && !report_.peerKnown) return;
    row.bounce = sum.accesses == 0
                     ? 0
                     : std::min(1.0, static_cast<double>(hitm + peer) / static_cast<double>(sum.accesses));
  }

  void addPairs() {
    const FunctionPairs pairs(report_);
    for (Sum& sum : sums_) sum.row.waitsFor = pairs.of(sum.row.key.front(), sum.row.contended);
  }

  /// Sorted.
  void takeRows(Table& table) {
    std::map<uint32_t, uint64_t> ofFirst;  // contended samples, by the first key
    for (const Sum& sum : sums_) ofFirst[sum.key.texts[0]] += sum.row.contended;
    std::vector<uint32_t> order(sums_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](uint32_t x, uint32_t y) { return before(sums_[x], sums_[y], ofFirst); });
    for (const uint32_t index : order) table.rows.push_back(std::move(sums_[index].row));
  }

  uint64_t rankOf(const Sum& sum, size_t key) const { return texts_[key].rank(sum.key.texts[key]); }

  bool before(const Sum& a, const Sum& b, const std::map<uint32_t, uint64_t>& ofFirst) const {
    if (by_.front() == Key::time && rankOf(a, 0) != rankOf(b, 0)) return rankOf(a, 0) < rankOf(b, 0);
    // A timeline of each.
    if (by_.back() == Key::time && by_.size() == 2) {
      if (a.key.texts[0] == b.key.texts[0]) return rankOf(a, 1) < rankOf(b, 1);
      const uint64_t ofA = ofFirst.at(a.key.texts[0]), ofB = ofFirst.at(b.key.texts[0]);
      if (ofA != ofB) return ofA > ofB;
      return std::tuple(rankOf(a, 0), a.row.key) < std::tuple(rankOf(b, 0), b.row.key);
    }
    if (a.row.contended != b.row.contended) return a.row.contended > b.row.contended;
    if (a.row.samples != b.row.samples) return a.row.samples > b.row.samples;
    for (size_t i = 0; i < texts_.size(); ++i)
      if (rankOf(a, i) != rankOf(b, i)) return rankOf(a, i) < rankOf(b, i);
    return a.row.key < b.row.key;
  }

  const Report& report_;
  const analysis::Splits& splits_;
  const std::vector<Key>& by_;
  const profile::LineIds ids_;
  std::vector<KeyTexts> texts_;  ///< by key
  std::vector<Sum> sums_;
  HashMap<RowKey, uint32_t> index_;
  HashMap<std::string, uint32_t> spaces_;
  HashMap<Instance, bool> instances_;
  std::vector<std::pair<uint32_t, uint64_t>> contended_;  ///< of the access at hand, by index of the sum
};

}  // namespace

Table tableOf(const Report& report, const std::vector<Key>& by) {
  return Builder(report, by).run();
}

}  // namespace cacheline::tables
