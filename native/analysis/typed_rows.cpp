// The order in which the data of a row is named.
#include "analysis/typed_rows.h"

namespace cacheline::analysis {

void TypedRows::beginLine(const Line& line) {
  objects_.beginLine(line);
  types_.beginLine(line);
}

void TypedRows::add(const RowData& row, Access& access) {
  DataName& name = access.data = row.data.name;
  TypedPlace place;
  uint64_t objectBase = 0;
  if (row.data.symbol) {
    place = nameGlobal(typed_, row.data, row.width, name);
  } else if (const AgreedObject agreed = votes_.at(row.position, row.sites); agreed.place) {
    place = agreed.place;
    name.how = agreed.how;
    name.because = agreed.because;
    objectBase = agreed.arrayBase;
    nameField(typed_.table(place.binary), place, row.data.address, row.width, name);
  } else if (row.codeBinary == kNone || !typed_.described(row.codeBinary)) {
    name.because = "the code at the access has no debug information, which would say what it points to";
  } else {
    name.because = "no variable that is live at the access leads to it";
  }
  const bool named = row.data.binary != kNone;
  if (named) typed_.binaries().countData(row.data.binary);
  objects_.add(access, named ? typed_.binaries().baseName(row.data.binary) : std::string(), objectBase);
  types_.add(access, place);
}

void TypedRows::addUntyped(const Access& access, const std::string& binary) {
  objects_.add(access, binary);
}

void TypedRows::finish(Report& report) {
  report.objects = objects_.take();
  report.types = types_.take();
}

}  // namespace cacheline::analysis
