// What answers are written with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>

#include "analysis/report.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "profile/line_ids.h"
#include "profile/profile.h"

namespace cacheline::profile {

/// Throws Error(cancelled) where the question was. `line`: how many were looked at.
inline void look(const KeepOn& keepOn, size_t line) {
  constexpr size_t kLinesBetweenLooks = 256;
  if (line % kLinesBetweenLooks == 0 && keepOn && !keepOn())
    throw Error(ErrorKind::cancelled, "the question was cancelled");
}

class Answer : public JsonWriter {
 public:
  using JsonWriter::address;
  using JsonWriter::beginList;
  using JsonWriter::close;
  using JsonWriter::element;
  using JsonWriter::endList;
  using JsonWriter::field;
  using JsonWriter::list;
  using JsonWriter::null;
  using JsonWriter::open;
  using JsonWriter::optional;
  using JsonWriter::raw;
  using JsonWriter::take;
  using JsonWriter::value;

  std::string line(const analysis::Report& report, const LineIds& ids, uint32_t index,
                   analysis::LineParts parts) {
    open();
    field("id", ids.of(index));
    raw("line", analysis::lineJson(report, report.lines[index], parts));
    close();
    return take();
  }

  /// {"total", "rows"}: `each` writes one element of the range.
  template <typename Items, typename Each>
  std::string rows(const Items& items, Range range, Each each) {
    open();
    field("total", uint64_t{items.size()});
    beginList("rows");
    const size_t begin = std::min(range.offset, items.size()),
                 end = begin + std::min(range.count, items.size() - begin);
    for (size_t i = begin; i < end; ++i) each(items[i]);
    endList();
    close();
    return take();
  }
};

/// `name`: a place, or null where the file is not known.
void writePlace(Answer& answer, const char* name, const std::string* file, uint32_t line);
/// "data": what says which data it is.
void writeData(Answer& answer, const analysis::DataName& data);

}  // namespace cacheline::profile
