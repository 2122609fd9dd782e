// Widths, folding and rows of a grouped table.
#include "text/grouped_table.h"

#include <algorithm>
#include <utility>

namespace cacheline::text {

namespace {

constexpr size_t kInnerGap = 1;     ///< between columns of one group
constexpr size_t kGap = 2;          ///< between groups and between texts
constexpr size_t kMargin = 2;       ///< of all rows
constexpr size_t kHang = 5;         ///< where an entry's second and further rows begin
constexpr size_t kNarrowest = 12;   ///< a column of texts that can be shortened does not become narrower
constexpr char kTitleMargin = '#';  ///< as perf's titles have it

void appendBlanks(std::string& row, size_t columns) {
  row.append(columns, ' ');
}

void appendPadded(std::string& row, std::string_view text, size_t width) {
  row += text;
  appendBlanks(row, width - std::min(width, displayWidth(text)));
}

/// Over several columns in the middle of dashes, over one column as that is aligned.
void appendGroupTitle(std::string& row, std::string_view title, size_t columns, size_t width) {
  const size_t room = width - title.size();
  if (columns == 1 || room < 4) {
    appendBlanks(row, room);
    row += title;
    return;
  }
  const size_t dashes = room - 2;
  row.append(dashes / 2, '-').append(" ").append(title).append(" ").append(dashes - dashes / 2, '-');
}

}  // namespace

void Entry::clear() {
  bytes_.clear();
  cells_.clear();
  texts_.clear();
  ended_ = 0;
}

void Entry::end(std::vector<Place>& list) {
  const std::string_view text = std::string_view(bytes_).substr(ended_);
  list.push_back({ended_, text.size(), displayWidth(text)});
  ended_ = bytes_.size();
}

Entry::Part Entry::part(const std::vector<Place>& list, size_t index) const {
  if (index >= list.size()) return {{}, 0};
  const Place& place = list[index];
  return {std::string_view(bytes_).substr(place.from, place.length), place.width};
}

/// Texts behind a row, and in further rows where they do not fit.
class GroupedTable::Flow {
 public:
  /// `used`: columns of the row that is being written; `margin`: what each row begins with.
  Flow(size_t width, size_t used, RowSink& out, char margin = ' ', Mark mark = Mark::none)
      : width_(width), used_(used), out_(out), margin_(margin), mark_(mark) {}

  void add(Entry::Part part) {
    if (used_ + kGap + part.width > width_) {
      end();
      appendBlanks(out_.row(), kHang);
      used_ = kHang;
    } else {
      appendBlanks(out_.row(), kGap);
      used_ += kGap;
    }
    out_.row() += part.text;
    used_ += part.width;
  }
  void end() {
    if (!out_.row().empty()) out_.row().front() = margin_;
    out_.end(mark_);
  }
  /// The next text begins a row of its own.
  void breakRow() {
    end();
    appendBlanks(out_.row(), kHang - kGap);
    used_ = kHang - kGap;
  }

 private:
  const size_t width_;
  size_t used_;
  RowSink& out_;
  const char margin_;
  const Mark mark_;
};

GroupedTable::GroupedTable(std::vector<Group> groups, std::vector<Field> fields, size_t width)
    : groups_(std::move(groups)), fields_(std::move(fields)), width_(width) {
  for (const Group& group : groups_)
    for (const std::string& title : group.columns) cellWidths_.push_back(title.size());
  for (const Field& field : fields_) textWidths_.push_back(field.title.size());
}

void GroupedTable::measure(const Entry& entry) {
  for (size_t i = 0; i < entry.cells(); ++i) cellWidths_[i] = std::max(cellWidths_[i], entry.cell(i).width);
  for (size_t i = 0; i < entry.texts(); ++i) textWidths_[i] = std::max(textWidths_[i], entry.text(i).width);
  size_t width = 0;
  eachPiece(entry, [&](Entry::Part piece) { width += (width > 0 ? kGap : 0) + piece.width; });
  widestTexts_ = std::max(widestTexts_, width);
}

void GroupedTable::measure(const GroupedTable& other) {
  const auto widen = [](std::vector<size_t>& widths, const std::vector<size_t>& by) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], by[i]);
  };
  widen(cellWidths_, other.cellWidths_);
  widen(textWidths_, other.textWidths_);
  widestTexts_ = std::max(widestTexts_, other.widestTexts_);
}

void GroupedTable::layOut() {
  fold(placeGroups());
  if (bands_.size() == 1) placeFields();
  textsFollow_ = !beside_ && bands_.back().width() + kGap + std::max(widestTexts_, titlesWidth()) <= width_;
}

size_t GroupedTable::titlesWidth() const {
  size_t width = 0;
  for (const Field& field : fields_) width += (width > 0 ? kGap : 0) + field.title.size();
  return width;
}

/// A group that is wider than a row becomes one group a column.
std::vector<GroupedTable::PlacedGroup> GroupedTable::placeGroups() const {
  std::vector<PlacedGroup> placed;
  size_t first = 0;
  for (const Group& group : groups_) {
    PlacedGroup whole{group.title, {}, first, kInnerGap * (group.columns.size() - 1)};
    for (const std::string& title : group.columns) {
      whole.columns.push_back({title, cellWidths_[first++]});
      whole.width += whole.columns.back().width;
    }
    if (group.title.size() > whole.width) {  // widens the first of its columns
      whole.columns.front().width += group.title.size() - whole.width;
      whole.width = group.title.size();
    }
    if (whole.width + kHang <= width_) {
      placed.push_back(std::move(whole));
      continue;
    }
    for (size_t i = 0; i < whole.columns.size(); ++i) {
      const Column& column = whole.columns[i];
      placed.push_back({i == 0 ? group.title : "", {column}, whole.first + i, column.width});
    }
  }
  return placed;
}

/// As many groups in a row as fit.
void GroupedTable::fold(std::vector<PlacedGroup> groups) {
  bands_ = {{kMargin, {}}};
  for (PlacedGroup& group : groups) {
    if (!bands_.back().groups.empty() && bands_.back().width() + kGap + group.width > width_)
      bands_.push_back({kHang, {}});
    bands_.back().groups.push_back(std::move(group));
  }
}

size_t GroupedTable::Band::width() const {
  size_t width = indent;
  for (const PlacedGroup& group : groups) width += group.width;
  return width + kGap * (groups.size() - 1);
}

/// The columns that can be shortened give way, the widest first; then optional ones are left out, the last
/// first.
void GroupedTable::placeFields() {
  std::vector<PlacedField> placed;
  for (size_t i = 0; i < fields_.size(); ++i) placed.push_back({i, textWidths_[i]});
  const auto excess = [&] {
    size_t needed = numbersWidth();
    for (const PlacedField& field : placed) needed += kGap + field.width;
    return needed - std::min(needed, width_);
  };
  for (;;) {
    for (size_t left = excess(); left > 0; --left) {
      PlacedField* widest = nullptr;
      for (PlacedField& field : placed)
        if (fields_[field.index].shorten && field.width > (widest == nullptr ? kNarrowest : widest->width))
          widest = &field;
      if (widest == nullptr) break;
      --widest->width;
    }
    if (excess() == 0) {
      beside_ = std::move(placed);
      return;
    }
    const auto dropped = std::find_if(placed.rbegin(), placed.rend(), [&](const PlacedField& field) {
      return fields_[field.index].optional;
    });
    if (dropped == placed.rend()) return;
    placed.erase(std::next(dropped).base());
    for (PlacedField& field : placed) field.width = textWidths_[field.index];
  }
}

size_t GroupedTable::numbersWidth() const {
  size_t widest = 0;
  for (const Band& band : bands_) widest = std::max(widest, band.width());
  return widest;
}

/// From its indent on; `partOf` gives what stands in a column, by its index in an entry.
template <typename PartOf>
void GroupedTable::appendBand(const Band& band, std::string& row, PartOf partOf) {
  size_t gap = band.indent;
  for (const PlacedGroup& group : band.groups) {
    for (size_t i = 0; i < group.columns.size(); ++i) {
      const Entry::Part part = partOf(group.columns[i], group.first + i);
      appendBlanks(row, gap + group.columns[i].width - part.width);
      row += part.text;
      gap = kInnerGap;
    }
    gap = kGap;
  }
}

/// The texts, none longer than a row.
template <typename Each>
void GroupedTable::eachPiece(const Entry& entry, Each each) const {
  const size_t room = std::max(kNarrowest + kHang, width_) - kHang;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Entry::Part part = entry.text(i);
    if (part.text.empty()) continue;
    if (part.width <= room) {
      each(part);
    } else if (const auto& shorten = fields_[i].shorten) {
      std::string text;
      appendShortened(text, part.text, part.width, room, *shorten);
      each(Entry::Part{text, displayWidth(text)});
    } else {
      for (const std::string& piece : breakText(part.text, room))
        each(Entry::Part{piece, displayWidth(piece)});
    }
  }
}

void GroupedTable::flowTexts(const Entry& entry, Flow& flow) const {
  bool below = !textsFollow_;
  eachPiece(entry, [&](const Entry::Part& part) {
    if (std::exchange(below, false)) flow.breakRow();
    flow.add(part);
  });
  flow.end();
}

void GroupedTable::writeHeader(RowSink& out) const {
  std::string& row = out.row();
  for (const Band& band : bands_) {
    appendBlanks(row, band.indent);
    for (const PlacedGroup& group : band.groups) {
      if (&group != &band.groups.front()) appendBlanks(row, kGap);
      appendGroupTitle(row, group.title, group.columns.size(), group.width);
    }
    Flow(width_, 0, out, kTitleMargin, Mark::dim).end();
    appendBand(band, row,
               [](const Column& column, size_t) { return Entry::Part{column.title, column.title.size()}; });
    Flow flow(width_, band.width(), out, kTitleMargin, Mark::dim);
    if (&band != &bands_.back()) {
      flow.end();
    } else if (beside_) {
      for (const PlacedField& place : *beside_) {
        appendBlanks(row, kGap);
        appendPadded(row, fields_[place.index].title, place.width);
      }
      flow.end();
    } else {
      Entry titles;
      for (const Field& field : fields_) titles.text(field.title);
      flowTexts(titles, flow);
    }
  }
}

void GroupedTable::write(const Entry& entry, RowSink& out) const {
  const auto cell = [&](const Column&, size_t index) { return entry.cell(index); };
  for (const Band& band : bands_) {
    appendBand(band, out.row(), cell);
    if (&band != &bands_.back()) out.end();
  }
  if (beside_) {
    for (const PlacedField& place : *beside_) appendBeside(place, entry.text(place.index), out);
    out.end();
  } else {
    Flow flow(width_, bands_.back().width(), out);
    flowTexts(entry, flow);
  }
}

void GroupedTable::appendBeside(const PlacedField& place, const Entry::Part& text, RowSink& out) const {
  const Field& field = fields_[place.index];
  appendBlanks(out.row(), kGap);
  if (text.width <= place.width) {
    out.append(text.text, field.mark);
    appendBlanks(out.row(), place.width - text.width);
    return;
  }
  std::string shortened;  // only a field that can be is narrower than its texts
  appendShortened(shortened, text.text, text.width, place.width, *field.shorten);
  out.append(shortened, field.mark);
  appendBlanks(out.row(), place.width - displayWidth(shortened));
}

void GroupedTable::writeHeadline(const Entry& entry, RowSink& out) const {
  // Whole groups, so that the band of the last cell ends the row of numbers.
  size_t used = 0;
  const size_t cells = entry.cells();
  for (const Band& band : bands_) {
    Band shown{band.indent, {}};
    for (const PlacedGroup& group : band.groups)
      if (group.first < cells) shown.groups.push_back(group);
    if (shown.groups.empty()) break;
    if (used > 0) out.end(Mark::bold);
    appendBand(shown, out.row(), [&](const Column&, size_t index) { return entry.cell(index); });
    used = shown.width();
  }
  Flow flow(width_, used, out, ' ', Mark::bold);
  for (size_t i = 0; i < entry.texts(); ++i)
    for (const std::string& piece : breakText(entry.text(i).text, width_ - kHang))
      flow.add({piece, displayWidth(piece)});
  flow.end();
}

}  // namespace cacheline::text
