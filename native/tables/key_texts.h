// What rows are called: the texts of keys, each made once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "base/hash.h"
#include "profile/line_ids.h"
#include "tables/keys.h"

namespace cacheline::tables {

/// The texts of one key of a table as numbers. References are kept.
class KeyTexts {
 public:
  /// `typed`: the table is by types, too, so that members are called without theirs.
  KeyTexts(Key key, const analysis::Report& report, const profile::LineIds& lines, bool typed)
      : key_(key), report_(report), lines_(lines), typed_(typed) {}

  /// Whether it is the same for all samples of an access.
  bool ofAccess() const { return key_ < Key::thread; }
  /// ofAccess(): of an access on the line with this index.
  uint32_t of(uint32_t line, const analysis::Access& access);
  /// Not ofAccess().
  uint32_t of(const analysis::SplitPlace& place);
  /// Of samples without a place on a line.
  uint32_t of(const analysis::UnplacedSamples& samples);
  /// Of a part of the time, Report::splits' bins.
  uint32_t ofBin(uint32_t bin);

  const std::string& text(uint32_t number) const { return texts_[number]; }
  /// What rows with equal counts are sorted by, before their texts.
  uint64_t rank(uint32_t number) const { return ranks_[number]; }

 private:
  uint32_t intern(std::string text, uint64_t rank = 0);
  std::string textOf(const analysis::DataName& data) const;
  uint32_t ofCode(const analysis::SharedName& code);
  uint32_t make(const analysis::SplitPlace& place);

  const Key key_;
  const analysis::Report& report_;
  const profile::LineIds& lines_;
  const bool typed_;
  std::vector<std::string> texts_;
  std::vector<uint64_t> ranks_;
  HashMap<std::string, uint32_t> numbers_;
  HashMap<uint64_t, uint32_t> known_;       ///< by CodeName, or number of the place
  std::vector<analysis::SharedName> kept_;  ///< whose addresses are in known_
};

/// "push", the function of the place that sourceText() tells, or "[no function known] libc.so.6".
std::string functionText(const analysis::CodeName& code);
/// The function that the binary's symbols have for it: into which others were inlined.
std::string symbolText(const analysis::CodeName& code);
/// "/src/pool.cpp:12", or "[no source line known]".
std::string sourceText(const analysis::CodeName& code);

}  // namespace cacheline::tables
