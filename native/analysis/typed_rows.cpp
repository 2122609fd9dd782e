// The order in which the data of a row is named.
#include "analysis/typed_rows.h"

#include <algorithm>
#include <cmath>

#include "inference/naming_rules.h"
#include "inference/pointer_names.h"
#include "layouts/natural_alignment.h"
#include "types/field_path.h"
#include "types/type_reader.h"

namespace cacheline::analysis {

namespace {
constexpr const char* kNoTypesOfKernel =
    "types of the kernel need its vmlinux with debug information (--vmlinux FILE)";
constexpr const char* kNoVariable = "no variable that is live at the access leads to it";
constexpr size_t kMostCallersAsked = 8;  // of an allocation, looked at for the type of what they get
}  // namespace

void TypedRows::beginLine(const Line& line) {
  objects_.beginLine(line);
  types_.beginLine(line);
}

/// Whether a block is an array of what was found in it. The code says so: it counts elements there, or takes
/// what it allocated for them; or several objects were found, next to one another, unless they may be parts
/// of larger ones. That their size divides the block's says nothing: it does so in arenas and over-sized
/// blocks, too. Bytes ahead of the elements: those of a cookie; nullopt: it is none.
std::optional<uint64_t> TypedRows::cookieOfArray(const HeapBlocks::Found& found, const AgreedObject& agreed,
                                                 const RowData& row) {
  const TypedPlace& place = agreed.place;
  const types::TypeTable& table = typed_.table(place.binary);
  const uint64_t size = table.sizeOf(place.type).value_or(0), ahead = found.ahead;
  if (size == 0 || !place.based || types::endsInFlexibleArray(table, place.type)) return std::nullopt;
  if (inference::isOff(inference::NamingRule::arrayBlocks)) return std::nullopt;
  const types::Kind kind = table.kind(table.strip(place.type));
  uint64_t head = takenFor(found).head;
  if (head == 0 && found.block.size % size != 0 && types::isAggregate(kind))
    head = layouts::arrayCookie(table, place.type);
  if (ahead < head || found.block.size < head + 2 * size || (found.block.size - head) % size != 0 ||
      (ahead - head) % size != place.offset % size)
    return std::nullopt;
  Position begin = row.position;
  begin.offset -= ahead - head;
  if (const auto allocated = isAllocatedAs(found, place)) {
    if (!*allocated) return std::nullopt;
    // A pool whose first object is what malloc's result was seen to become.
    const ObjectEvidence::Lifetime lifetime{begin, found.block.size - head, found.allocated, found.freed};
    const auto [others, isNew] =
        others_.try_emplace({begin.space, begin.offset, found.allocated, agreed.name});
    if (isNew) others->second = evidence_.hasOthers(agreed, lifetime);
    return others->second ? std::nullopt : std::optional(head);
  }
  if (place.array || place.offset >= size) return head;
  if (!types::isAggregate(kind) && kind != types::Kind::array) return std::nullopt;
  const auto [elements, isNewBlock] =
      elements_.try_emplace({begin.space, begin.offset, found.block.size, agreed.name});
  if (isNewBlock) elements->second = evidence_.areElements(agreed, begin, found.block.size - head, size);
  if (!elements->second) return std::nullopt;
  const uint64_t start = ahead - place.offset;
  const auto [it, isNew] = parts_.try_emplace({place.binary, place.type, found.block.size, start});
  if (isNew) it->second = typed_.types(place.binary).mayBePart(place.type, found.block.size, start);
  return it->second && !inference::isOff(inference::NamingRule::partsOfBlocks) ? std::nullopt
                                                                               : std::optional(head);
}

/// By the innermost function that has more to say of it than that it is bytes.
const TypedRows::Taken& TypedRows::takenFor(const HeapBlocks::Found& found) {
  const auto [known, isNew] = taken_.try_emplace({found.stack.data(), found.block.size});
  Taken& taken = known->second;
  if (!isNew) return taken;
  for (const HeapBlocks::CodePlace& call :
       found.stack.first(std::min(found.stack.size(), kMostCallersAsked))) {
    if (call.binary == kNone || !typed_.described(call.binary)) continue;
    const CodeName& name = *blocks_->names().atOffset(call.binary, call.fileOffset);
    // A class's own: it may ask for more than its objects need.
    const auto isOwn = [](const std::string& function) {
      return function.find("::operator new") != std::string::npos;
    };
    if (isOwn(name.symbol) || std::any_of(name.inlined.begin(), name.inlined.end(),
                                          [&](const auto& frame) { return isOwn(frame.function); })) {
      taken.pool = true;
      break;
    }
    const auto allocated = typed_.live(call.binary).allocatedBy(name.elfAddress + 1, found.block.size);
    const types::TypeTable& table = typed_.table(call.binary);
    const bool bytes = table.sizeOf(allocated.type) == 1;
    if (bytes) {
      const std::string byte = table.nameOf(table.strip(allocated.type));
      if (allocated.fits && taken.bytes.empty()) taken.bytes = byte;
      // Rust's allocators hand out bytes, whatever for.
      taken.pool |= byte != "u8";
    }
    if (bytes || allocated.type == types::kNoType) {
      if (allocated.kept) break;  // what the caller gets is something else
      continue;                   // it says what for
    }
    taken.binary = call.binary;
    taken.type = allocated.type;
    taken.fits = allocated.fits;
    taken.head = allocated.head;
    break;
  }
  return taken;
}

/// Whether the code that asked for the block takes it for objects of the place's type. nullopt: it does not
/// say what for.
std::optional<bool> TypedRows::isAllocatedAs(const HeapBlocks::Found& found, const TypedPlace& place) {
  const Taken& taken = takenFor(found);
  const types::TypeTable& table = typed_.table(place.binary);
  if (!taken.bytes.empty() && table.nameOf(table.strip(place.type)) == taken.bytes) return true;
  if (taken.pool) return false;
  if (taken.type == types::kNoType) return std::nullopt;
  const types::TypeTable& its = typed_.table(taken.binary);
  return taken.fits && its.sizeOf(taken.type) == table.sizeOf(place.type) &&
         its.nameOf(its.strip(taken.type)) == table.nameOf(table.strip(place.type));
}

/// The code at the access says nothing, or names a part (the `this` of an atomic's method that was not
/// inlined): where the block is one object by the code that asked for it, that is the object.
void TypedRows::nameByBlock(const HeapBlocks::Found& found, AgreedObject& agreed) {
  const TypedPlace& part = agreed.place;
  const uint64_t ahead = found.ahead;
  if (part) {
    const types::TypeTable& table = typed_.table(part.binary);
    const uint64_t size = table.sizeOf(part.type).value_or(0);
    if (!part.based || size == 0 || size >= found.block.size || part.offset > ahead) return;
  }
  const Taken& taken = takenFor(found);
  if (taken.type == types::kNoType || !taken.fits || inference::isOff(inference::NamingRule::wholeBlocks))
    return;
  const types::TypeTable& table = typed_.table(taken.binary);
  if (table.sizeOf(taken.type) != found.block.size ||
      !types::isAggregate(table.kind(table.strip(taken.type))))
    return;
  const bool isPart = part && (taken.binary == part.binary
                                   ? types::contains(table, taken.type, ahead - part.offset, part.type)
                                   : types::containsSame(table, taken.type, ahead - part.offset,
                                                         typed_.table(part.binary), part.type));
  if (part && !isPart) return;
  agreed.how = part ? agreed.how : How::allocation;
  agreed.because = part ? agreed.because + "; this is a member of what was allocated"
                        : "the code that allocated the block takes it for one object of this type";
  agreed.place = {};
  agreed.place.binary = taken.binary;
  agreed.place.type = table.strip(taken.type);
  agreed.place.offset = ahead;
  agreed.place.based = true;
  agreed.enclosing = {};
  agreed.origin = 0;
}

/// An element of an array inside of a larger object, in a block with room for that, goes by the object; a
/// block of its size is that object.
void TypedRows::nameByHolder(const std::optional<HeapBlocks::Found>& found, AgreedObject& agreed) {
  if (!agreed.enclosing) return;
  const types::TypeTable& table = typed_.table(agreed.enclosing.binary);
  const uint64_t size = table.sizeOf(agreed.enclosing.type).value_or(0);
  if (found && found->block.size < size) return;
  TypedPlace place = agreed.enclosing;
  if (found && found->block.size == size && found->ahead >= agreed.place.offset &&
      types::contains(table, place.type, found->ahead - agreed.place.offset, agreed.place.type)) {
    place.offset = found->ahead;
    place.based = true;
    place.element = 0;
  }
  agreed.place = place;
  agreed.because = kFollowed;
  agreed.arrayBase = 0;  // not known
}

namespace {

/// `S[6][4]` of six `S[4]`.
std::string arrayOf(const types::TypeTable& table, types::TypeId element, uint64_t count) {
  const std::string name = table.nameOf(element), length = '[' + std::to_string(count) + ']';
  const types::Type& type = table[element];
  if (type.kind != types::Kind::array) return name + length;
  const std::string inner = table.nameOf(type.target);
  return name.starts_with(inner) ? inner + length + name.substr(inner.size()) : name + length;
}

}  // namespace

/// Of the row's own samples; one that holds the object that the code tells of.
std::optional<HeapBlocks::Found> TypedRows::blockAt(const RowData& row, const TypedPlace& place) {
  if (blocks_ == nullptr) return std::nullopt;
  std::optional<HeapBlocks::Extent> object;
  if (place && place.based)
    object = {place.offset, typed_.table(place.binary).sizeOf(place.type).value_or(0)};
  return blocks_->at(row.position, row.locations, object);
}

/// Why the code at the access, which has been asked, leads to nothing.
std::string TypedRows::whyNot(const RowData& row) {
  if (!row.inexact.empty()) return row.inexact;
  if (row.codeBinary == kNone || !typed_.described(row.codeBinary))
    return "the code at the access has no debug information, which would say what it points to";
  return kNoVariable;
}

void TypedRows::add(const RowData& row, Access& access) {
  DataName& name = access.data = row.data.name;
  TypedPlace place;
  uint64_t objectBase = 0;
  AgreedObject agreed;
  std::optional<HeapBlocks::Found> found;
  if (!row.data.symbol) {
    if (row.inexact.empty()) agreed = evidence_.at(row.position, row.locations);
    if (agreed.how != How::stack) found = blockAt(row, agreed.place);
    if (found && (agreed.origin == 0 || inference::isNumbered(agreed.origin))) nameByBlock(*found, agreed);
  }
  if (row.data.symbol) {
    place = nameGlobal(typed_, row.data, name);
    if (place) nameField(place, row, name);
  } else if (agreed.place) {
    const bool pointed = agreed.origin != 0 && agreed.place.array;
    auto head = found ? cookieOfArray(*found, agreed, row) : std::nullopt;
    // One block may hold several arrays that pointers lead to, or be one, which they lead into.
    if (head && pointed && *head + agreed.place.offset != found->ahead &&
        !isAllocatedAs(*found, agreed.place).value_or(false))
      head.reset();
    if (!head) nameByHolder(found, agreed);
    place = agreed.place;
    name.how = agreed.how;
    name.because = agreed.because;
    objectBase = agreed.origin != 0 && !pointed ? 0 : agreed.arrayBase;
    const types::TypeTable& table = typed_.table(place.binary);
    TypedPlace shown = place;
    if (found) {
      name.allocation = found->block;
      if (agreed.origin == 0) objectBase = row.position.offset - found->ahead;
    }
    if (head) {
      shown.array = true;
      shown.offset = found->ahead - *head;
    }
    nameField(shown, row, name);
    if (head) name.type = arrayOf(table, place.type, (found->block.size - *head) / *table.sizeOf(place.type));
    if (head) agreed.place = shown;
    if (agreed.origin != 0 && !inference::isOff(inference::NamingRule::pointers)) nameByPointer(agreed, name);
  } else if (found) {
    name.how = How::allocation;
    name.because = "a recorded heap block; " + (agreed.because.empty() ? whyNot(row) : agreed.because);
    name.incomplete = agreed.undefined;
    name.base = row.data.address - found->ahead;
    objectBase = row.position.offset - found->ahead;
    name.allocation = found->block;
  } else if (!row.inexact.empty() || row.codeBinary == kNone || !typed_.described(row.codeBinary)) {
    name.because = whyNot(row);
  } else if (!agreed.because.empty()) {
    name.because = agreed.because;
    name.incomplete = agreed.undefined;
  } else {
    name.because = whyNot(row);
  }
  if (name.allocation) name.stackOwner.reset();  // a stack out of the heap
  if (found && !found->others.empty()) name.because += "; " + found->others;
  const bool named = row.data.binary != kNone;
  if (named) typed_.binaries().countData(row.data.binary);
  const Counted counted{named ? typed_.binaries().baseName(row.data.binary) : std::string(), objectBase,
                        place};
  if (agreed.others.empty())
    count(access, counted);
  else
    addLifetimes(agreed, found, row, counted, access);
}

/// An element of the array that a pointer leads to goes by the pointer's name.
void TypedRows::nameByPointer(const AgreedObject& agreed, DataName& name) {
  if (agreed.pointer.empty()) return;
  name.object = agreed.pointer + kPointedArray;
  name.because += "; in the array that `" + agreed.pointer + "` points to";
  if (agreed.place.array) name.offset = agreed.place.offset;
}

void TypedRows::nameField(const TypedPlace& place, const RowData& row, DataName& name) {
  const types::TypeTable& table = typed_.table(place.binary);
  if (row.onlySums)
    name.type = table.nameOf(place.type);
  else
    analysis::nameField(table, place, row.data.address, row.width, name);
}

void TypedRows::count(const Access& access, const Counted& as) {
  if (access.records == 0) return;  // only seen by a watchpoint: no part of the sums
  objects_.add(access, as.binary, as.base);
  types_.add(access, as.place);
}

namespace {

/// Takes a share of the counts that sums are made of.
Access takeShare(Access& from, double share) {
  Access taken = from;
  const auto move = [share](uint64_t& whole, uint64_t& part) {
    part = static_cast<uint64_t>(std::llround(static_cast<double>(whole) * share));
    whole -= part;
  };
  move(from.records, taken.records);
  move(from.loads, taken.loads);
  move(from.stores, taken.stores);
  move(from.contended, taken.contended);
  if (!from.memory) return taken;
  MemoryCounts &left = from.memory->counts, &counts = taken.memory->counts;
  move(left.localHitm, counts.localHitm);
  move(left.remoteHitm, counts.remoteHitm);
  move(left.localPeer, counts.localPeer);
  move(left.remotePeer, counts.remotePeer);
  if (!from.memory->cycles) return taken;
  move(from.memory->cycles->sum, taken.memory->cycles->sum);
  move(from.memory->cycles->loads, taken.memory->cycles->loads);
  return taken;
}

}  // namespace

/// One row of several objects, one after the other: says all of them, and gives each its samples in the sums.
void TypedRows::addLifetimes(const AgreedObject& agreed, const std::optional<HeapBlocks::Found>& found,
                             const RowData& row, const Counted& most, Access& access) {
  DataName& name = access.data;
  // A block of that one object, all the time: other code sees it as something else.
  const uint64_t size = typed_.table(most.place.binary).sizeOf(most.place.type).value_or(0);
  const bool one = found && found->others.empty() && found->block.size == size;
  Access rest = access;
  double left = 1;
  for (const AgreedObject::Other& other : agreed.others) {
    if (one && (!other.share || found->isThere(other.first, other.last))) continue;
    if (row.onlySums && !other.share) continue;
    Access part = takeShare(rest, std::min(other.share.value_or(0) / left, 1.0));
    left -= other.share.value_or(0);
    DataName& its = part.data = row.data.name;
    its.how = How::code;
    nameField(other.place, row, its);
    count(part, {most.binary, other.arrayBase, other.place});
    const std::string text = its.field.empty() ? its.type : its.type + '.' + its.field;
    if (!name.field.empty()) name.field += " | " + text;
    if (other.share)
      name.because += "; about " + std::to_string(std::lround(100 * *other.share)) +
                      "% of the samples were taken at another time, when " + text + " was there";
    else
      name.because += "; other code takes it for " + text + ": samples without registers do not say when";
  }
  count(rest, most);
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
