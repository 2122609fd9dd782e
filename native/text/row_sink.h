// The rows of a text as they are written, in pieces that neither move nor grow without end.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/terminal_text.h"

namespace cacheline::text {

/// How a row or a part of one looks on a terminal with colours.
enum class Mark : uint8_t { none, bold, dim };

class RowSink {
 public:
  explicit RowSink(bool coloured) : coloured_(coloured) {}

  /// The row that is being written: append to it.
  std::string& row() { return row_; }
  /// Ends it, without the spaces at its end.
  void end(Mark mark = Mark::none) {
    row_.resize(row_.find_last_not_of(' ') + 1);
    appendMarked(row_, mark, pieces_.back());
    pieces_.back() += '\n';
    row_.clear();
    if (pieces_.back().size() < kPieceBytes) return;
    pieces_.emplace_back().reserve(kPieceBytes + kPieceBytes / 8);
  }
  void add(std::string_view text, Mark mark = Mark::none) {
    row_ += text;
    end(mark);
  }
  void add(const std::vector<std::string>& rows, Mark mark = Mark::none) {
    for (const std::string& text : rows) add(text, mark);
  }
  /// Appends a text of a row.
  void append(std::string_view text, Mark mark) { appendMarked(text, mark, row_); }
  /// An empty row before a block, unless it is the first one.
  void beginBlock() {
    if (pieces_.size() > 1 || !pieces_.front().empty()) end();
  }

  /// The rows that another sink took.
  void add(RowSink&& other) {
    if (pieces_.back().empty()) pieces_.pop_back();
    for (std::string& piece : other.pieces_) pieces_.push_back(std::move(piece));
  }

  /// All rows, cut between two of them; none where there are no rows.
  std::vector<std::string> take() {
    if (pieces_.back().empty()) pieces_.pop_back();
    return std::move(pieces_);
  }

 private:
  static constexpr size_t kPieceBytes = 1 << 20;

  /// ECMA-48 SGR parameters.
  void appendMarked(std::string_view text, Mark mark, std::string& out) const {
    if (!coloured_ || mark == Mark::none || text.empty()) {
      out += text;
      return;
    }
    out.append(mark == Mark::bold ? "\x1b[1m" : "\x1b[2m").append(text).append("\x1b[22m");
  }

  const bool coloured_;
  std::string row_;
  std::vector<std::string> pieces_{1};
};

}  // namespace cacheline::text
