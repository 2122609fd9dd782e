// Roll-up of lines to objects.
#include "analysis/object_sums.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>

#include "analysis/waiting.h"

namespace cacheline::analysis {

namespace {

constexpr std::array<std::string_view, 5> kFlagOrder = {"straddling", "adjacent", "mixed-use", "latent",
                                                        "lock"};

void unite(std::vector<std::string>& flags, const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (const std::string_view flag : kFlagOrder)
    if (std::find(flags.begin(), flags.end(), flag) != flags.end() ||
        std::find(more.begin(), more.end(), flag) != more.end())
      all.emplace_back(flag);
  flags = std::move(all);
}

}  // namespace

void RolledVerdict::add(const Line& line, uint64_t number, const Access& access) {
  if (lines_.empty() || lines_.back() != number) {
    lines_.push_back(number);
    contendedOnLine_ = false;
  }
  if (line.verdict == Verdict::readShared) anyReadShared_ = true;
  waits_.add(number, access.waits);
  victims_ = victims_ || (access.waits.waiting > 0 &&
                          std::any_of(line.victims.begin(), line.victims.end(), [&](const Victim& victim) {
                            return std::find(victim.words.begin(), victim.words.end(), *access.word) !=
                                   victim.words.end();
                          }));
  if (access.contended == 0 || contendedOnLine_) return;
  contendedOnLine_ = true;
  unite(flags_, line.flags);
  verdict_ = !anyContended_ || verdict_ == line.verdict ? line.verdict : Verdict::mixed;
  anyContended_ = true;
}

void RolledVerdict::add(const RolledVerdict& other) {
  std::vector<uint64_t> all;
  std::set_union(lines_.begin(), lines_.end(), other.lines_.begin(), other.lines_.end(),
                 std::back_inserter(all));
  lines_ = std::move(all);
  anyReadShared_ |= other.anyReadShared_;
  waits_.add(other.waits_);
  victims_ |= other.victims_;
  if (!other.anyContended_) return;
  unite(flags_, other.flags_);
  verdict_ = !anyContended_ || verdict_ == other.verdict_ ? other.verdict_ : Verdict::mixed;
  anyContended_ = true;
}

void RolledVerdict::addRest(const WaitSum& waits) {
  WaitsOfLines rest;
  rest.add(1, waits);
  waits_.add(rest);
  anyContended_ = true;
}

Verdict RolledVerdict::verdict() const {
  if (!anyContended_) return anyReadShared_ ? Verdict::readShared : Verdict::privateLine;
  const WaitSum sum = waits_.sum();
  return sum.known > 0 ? verdictOf(sum.share(), victims_) : verdict_;
}

std::optional<FalseShare> RolledVerdict::falseShare() const {
  if (!anyContended_) return std::nullopt;
  return waits_.sum().share();
}

void ObjectSums::beginLine(const Line& line) {
  line_ = &line;
  ++lineNumber_;
}

void ObjectSums::add(const Access& access, const std::string& binary, uint64_t base) {
  std::string name = objectName(access.data);
  std::string key = line_->space + '\0' + binary + '\0' + name + '\0' + std::to_string(base);
  const auto [it, added] = index_.try_emplace(std::move(key), sums_.size());
  if (added) {
    Sum fresh;
    fresh.object.object = std::move(name);
    fresh.object.space = line_->space;
    fresh.object.binary = binary;
    // In a shared mapping it is a place in the file.
    const uint64_t moved = line_->fileOffset ? line_->address - *line_->fileOffset : 0;
    if (base != 0 || access.data.allocation) fresh.object.base = base + moved;
    sums_.push_back(std::move(fresh));
  }
  Sum& sum = sums_[it->second];
  ObjectSum& object = sum.object;
  sum.verdict.add(*line_, lineNumber_, access);
  if (!object.definition) object.definition = access.data.definition;
  if (!object.allocation) object.allocation = access.data.allocation;
  object.records += access.records;
  object.loads += access.loads;
  object.stores += access.stores;
  object.contended += access.contended;
}

std::vector<ObjectSum> ObjectSums::take() {
  std::vector<ObjectSum> list;
  list.reserve(sums_.size());
  for (Sum& sum : sums_) {
    ObjectSum& object = sum.object;
    object.lines = sum.verdict.lines();
    object.verdict = sum.verdict.verdict();
    object.falseShare = sum.verdict.falseShare();
    object.flags = sum.verdict.takeFlags();
    const auto shareOf = [&](uint64_t whole) {
      return whole == 0 ? 0 : static_cast<double>(object.contended) / static_cast<double>(whole);
    };
    object.contendedShare = shareOf(contended_);
    object.programShare = shareOf(samples_);
    list.push_back(std::move(object));
  }
  std::sort(list.begin(), list.end(), [](const ObjectSum& a, const ObjectSum& b) {
    if (a.contended != b.contended) return a.contended > b.contended;
    if (a.records != b.records) return a.records > b.records;
    return std::tie(a.object, a.binary, a.space, a.base) < std::tie(b.object, b.binary, b.space, b.base);
  });
  return list;
}

}  // namespace cacheline::analysis
