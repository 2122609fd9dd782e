// The order in which the data of a row is named.
#include "analysis/typed_rows.h"

namespace cacheline::analysis {

namespace {
constexpr const char* kNoTypesOfKernel =
    "types of the kernel need its vmlinux with debug information (--vmlinux FILE)";
}  // namespace

void TypedRows::beginLine(const Line& line) {
  objects_.beginLine(line);
  types_.beginLine(line);
}

/// The block that holds a typed object; where its size is a multiple of the type's, the object is an element
/// of the array that the block is. Returns where that begins.
uint64_t TypedRows::placeInBlock(const HeapBlocks::Found& found, const TypedPlace& place, uint64_t address,
                                 DataName& name) {
  name.allocation = found.block;
  const types::TypeTable& table = typed_.table(place.binary);
  const uint64_t size = table.sizeOf(place.type).value_or(0);
  const uint64_t ahead = address - found.address;
  if (size == 0 || types::endsInOpenArray(table, place.type) || !place.based || found.block.size < 2 * size ||
      found.block.size % size != 0 || ahead % size != place.offset % size)
    return found.address;
  if (name.fieldOffset) *name.fieldOffset = ahead / size * size + *name.fieldOffset % size;
  name.index = ahead / size;
  name.base = found.address;
  name.type += '[' + std::to_string(found.block.size / size) + ']';
  return found.address;
}

void TypedRows::add(const RowData& row, Access& access) {
  DataName& name = access.data = row.data.name;
  TypedPlace place;
  uint64_t objectBase = 0;
  AgreedObject agreed;
  if (row.data.symbol) {
    place = nameGlobal(typed_, row.data, row.width, name);
  } else if (agreed = votes_.at(row.position, row.sites); agreed.place) {
    place = agreed.place;
    name.how = agreed.how;
    name.because = agreed.because;
    objectBase = agreed.arrayBase;
    nameField(typed_.table(place.binary), place, row.data.address, row.width, name);
    if (blocks_ != nullptr && name.how != How::stack)
      if (const auto found = blocks_->at(row.position))
        objectBase = placeInBlock(*found, place, row.data.address, name);
  } else if (const auto found = blocks_ == nullptr ? std::nullopt : blocks_->at(row.position)) {
    name.how = How::allocation;
    name.because = "a recorded heap block; no variable that is live at the access leads to it";
    name.base = objectBase = found->address;
    name.allocation = found->block;
  } else if (row.codeBinary == kNone || !typed_.described(row.codeBinary)) {
    name.because = "the code at the access has no debug information, which would say what it points to";
  } else if (!agreed.because.empty()) {
    name.because = agreed.because;
  } else {
    name.because = "no variable that is live at the access leads to it";
  }
  if (name.allocation) name.stackOwner.reset();  // a stack out of the heap
  const bool named = row.data.binary != kNone;
  if (named) typed_.binaries().countData(row.data.binary);
  if (access.records == 0) return;  // only seen by a watchpoint: no part of the sums
  objects_.add(access, named ? typed_.binaries().baseName(row.data.binary) : std::string(), objectBase);
  types_.add(access, place);
}

void TypedRows::addKernel(const KernelData& found, RowData row, Access& access) {
  DataName& name = row.data.name;
  name.object = found.symbol.empty() ? kKernelMemory : found.symbol;
  // Without a symbol nothing is known that it could count from.
  name.offset = found.symbol.empty() ? access.offset : found.offset;
  name.definition = found.definition;
  row.data.binary = found.place.binary;
  row.data.elfAddress = found.place.elfAddress;
  row.data.symbol = found.place.binary != kNone;
  if (!found.symbol.empty() && !row.data.symbol) {
    name.how = How::global;
    name.because = "symbol of kallsyms; " + std::string(kNoTypesOfKernel);
    access.data = std::move(name);
    objects_.add(access, found.object);
    return;
  }
  add(row, access);
  if (!found.copy.empty()) access.data.because += "; it is " + found.copy + " of a per-CPU variable";
  if (access.data.how != How::unknown || row.codeBinary != kNone) return;
  access.data.because =
      access.code->object == kKernelObject ? kNoTypesOfKernel
      : access.code->object.starts_with('[')
          ? "types that the code of " + access.code->object +
                " touches need the module's file with debug information (--symfs DIR)"
          : "the accessing code was made at run time (" + access.code->object + ") and has no types";
}

void TypedRows::addUntyped(const Access& access, const std::string& binary) {
  objects_.add(access, binary);
}

void TypedRows::finish(Report& report) {
  report.objects = objects_.take();
  report.types = types_.take();
}

}  // namespace cacheline::analysis
