// Tables as perf prints them: titles in two rows over groups of number columns, then texts. Where the width
// is too small, whole groups and the texts move to further rows of the same entry; a number is never cut.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/row_sink.h"
#include "text/terminal_text.h"

namespace cacheline::text {

/// Number columns under one title.
struct Group {
  std::string title;
  std::vector<std::string> columns;
};

/// A text column behind the numbers.
struct Field {
  std::string title;
  /// How a text too long for its place is shortened; without it, it is broken into several rows.
  std::optional<Shorten> shorten;
  /// Left out where all numbers fit one row and this does not fit behind them.
  bool optional = false;
  Mark mark = Mark::none;
};

/// The cells of an entry, one for each number column, and its texts, one for each field. What was appended to
/// bytes() since the last one becomes the next of them. To be used again for the next entry, as there are
/// many.
class Entry {
 public:
  struct Part {
    std::string_view text;
    size_t width;  ///< on a terminal
  };

  void clear();
  std::string& bytes() { return bytes_; }
  void endCell() { end(cells_); }
  void endText() { end(texts_); }
  void cell(std::string_view text) {
    bytes_ += text;
    endCell();
  }
  void text(std::string_view text) {
    bytes_ += text;
    endText();
  }

  size_t cells() const { return cells_.size(); }
  size_t texts() const { return texts_.size(); }
  /// Empty where there is none.
  Part cell(size_t index) const { return part(cells_, index); }
  Part text(size_t index) const { return part(texts_, index); }

 private:
  struct Place {
    size_t from, length, width;
  };
  void end(std::vector<Place>& list);
  Part part(const std::vector<Place>& list, size_t index) const;

  std::string bytes_;
  size_t ended_ = 0;
  std::vector<Place> cells_, texts_;
};

/// First every entry is measured, as their widths are the columns'; then, behind layOut(), they are written
/// one by one, perhaps with other rows between them. They are made twice: that is cheaper than to keep them.
class GroupedTable {
 public:
  GroupedTable(std::vector<Group> groups, std::vector<Field> fields, size_t width);

  void measure(const Entry& entry);
  /// What another table of the same columns has measured.
  void measure(const GroupedTable& other);
  void layOut();

  /// Columns of the widest row of numbers.
  size_t numbersWidth() const;
  void writeHeader(RowSink& out) const;
  void write(const Entry& entry, RowSink& out) const;
  /// The cells of the first groups, and any texts instead of the rest.
  void writeHeadline(const Entry& entry, RowSink& out) const;

 private:
  struct Column {
    std::string title;
    size_t width;
  };
  /// A group with the widths of its columns, and where its cells begin in an entry.
  struct PlacedGroup {
    std::string title;
    std::vector<Column> columns;
    size_t first, width;
  };
  struct Band {
    size_t indent;
    std::vector<PlacedGroup> groups;
    size_t width() const;
  };
  struct PlacedField {
    size_t index, width;
  };
  class Flow;

  std::vector<PlacedGroup> placeGroups() const;
  void fold(std::vector<PlacedGroup> groups);
  void placeFields();
  template <typename Each>
  void eachPiece(const Entry& entry, Each each) const;
  template <typename PartOf>
  static void appendBand(const Band& band, std::string& row, PartOf partOf);
  void flowTexts(const Entry& entry, Flow& flow) const;
  void appendBeside(const PlacedField& place, const Entry::Part& text, RowSink& out) const;
  size_t titlesWidth() const;

  const std::vector<Group> groups_;
  const std::vector<Field> fields_;
  const size_t width_;
  std::vector<size_t> cellWidths_, textWidths_;  ///< of the widest ones and their titles
  size_t widestTexts_ = 0;                       ///< of an entry, side by side, none longer than a row
  std::vector<Band> bands_;
  /// What of the fields stands in columns behind the numbers; none where texts have no columns.
  std::optional<std::vector<PlacedField>> beside_;
  /// Texts without columns stand behind an entry's last row of numbers where those of all entries fit there,
  /// else below.
  bool textsFollow_ = false;
};

}  // namespace cacheline::text
