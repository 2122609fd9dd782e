// Roll-up of accesses to types and their fields.
#include "analysis/type_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "types/field_path.h"
#include "types/named_members.h"

namespace cacheline::analysis {

namespace {

constexpr size_t kNotSummed = ~size_t{0};
constexpr int kDeepestBase = 32;
constexpr size_t kMostFields = 256;  // of one type; above that the elements of arrays count as their array

void addCounts(std::optional<MemoryCounts>& sum, const MemoryCounts* more) {
  if (more == nullptr) return;
  if (!sum) sum.emplace();
  sum->localHitm += more->localHitm;
  sum->remoteHitm += more->remoteHitm;
  sum->localPeer += more->localPeer;
  sum->remotePeer += more->remotePeer;
}

const MemoryCounts* countsOf(const Access& access) {
  return access.memory ? &access.memory->counts : nullptr;
}

void unite(std::vector<uint32_t>& list, const std::vector<uint32_t>& more) {
  if (std::includes(list.begin(), list.end(), more.begin(), more.end())) return;
  list.insert(list.end(), more.begin(), more.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Definitions of one name in different places are different types, and so are those of one place that macros
/// make differ. Of the file only the last component counts: units may have come by different ways to one
/// header.
std::string sumKey(const std::string& binary, layouts::BinaryTypes& types, types::TypeId type, bool nested) {
  const types::Type& described = types.table()[type];
  const std::string file = described.file.substr(described.file.rfind('/') + 1);
  std::string key = binary;
  for (const std::string& part : {types.table().nameOf(type), std::to_string(types.signatures().of(type)),
                                  file, std::to_string(described.line), std::string(nested ? "+" : "")})
    key += '\0' + part;
  return key;
}

/// Whether its definition is one that people look at.
bool isLookedAt(const types::Type& type) {
  return !type.name.empty() && !types::isStandard(type.name);
}

/// The array that a path's first element belongs to; the path itself where it names none.
std::string arrayOf(const std::string& path) {
  return path.substr(0, path.find('['));
}

}  // namespace

void TypeSums::beginLine(const Line& line) {
  line_ = &line;
  ++lineNumber_;
}

size_t TypeSums::sumOf(uint32_t binary, types::TypeId type, bool nested) {
  const uint64_t key = (uint64_t{binary} << 33) | (uint64_t{nested} << 32) | type;
  const auto [known, unknown] = known_.try_emplace(key, kNotSummed);
  if (!unknown) return known->second;
  const types::TypeTable& table = typed_.table(binary);
  const types::Type& described = table[type];
  const bool structured = described.kind == types::Kind::structure ||
                          described.kind == types::Kind::classType ||
                          described.kind == types::Kind::unionType;
  if (!structured || described.size.value_or(0) == 0) return kNotSummed;
  const std::string& path = typed_.binaries().path(binary);
  const auto [it, added] = index_.try_emplace(sumKey(path, typed_.types(binary), type, nested), sums_.size());
  if (added) {
    Sum fresh;
    fresh.binary = binary;
    fresh.type = type;
    fresh.open = types::endsInFlexibleArray(table, type);
    fresh.heat.name = table.nameOf(type);
    fresh.heat.object = typed_.binaries().baseName(binary);
    fresh.heat.binary = path;
    fresh.heat.language = described.language;
    fresh.heat.nested = nested;
    sums_.push_back(std::move(fresh));
  }
  return known.value() = it->second;
}

void TypeSums::Field::add(const Field& other) {
  heat.records += other.heat.records;
  heat.loads += other.heat.loads;
  heat.stores += other.heat.stores;
  heat.contended += other.heat.contended;
  addCounts(heat.memory, other.heat.memory ? &*other.heat.memory : nullptr);
  analysis::unite(heat.readers, other.heat.readers);
  analysis::unite(heat.writers, other.heat.writers);
  waits.add(other.waits);
  cycles += other.cycles;
  timed += other.timed;
}

size_t TypeSums::fieldOf(Sum& sum, const FieldHeat& place) {
  const auto [it, added] =
      sum.index.try_emplace(place.field + '\0' + std::to_string(place.offset), sum.fields.size());
  if (added) {
    Field field;
    field.heat.offset = place.offset;
    field.heat.size = place.size;
    field.heat.field = place.field;
    sum.fields.push_back(std::move(field));
  }
  return it->second;
}

/// The base classes of `object` that hold the byte `at`.
void TypeSums::addBases(const types::TypeTable& table, types::InnerObject object, uint64_t at, int depth,
                        std::vector<types::InnerObject>& inner) {
  if (depth > kDeepestBase) return;
  for (const types::Member& member : table[object.type].members) {
    const bool base = member.role == types::Member::Role::base;
    const uint64_t start = object.offset + member.offset;
    if (!base || !member.located || at < start || at - start >= member.size) continue;
    const types::InnerObject there{table.strip(member.type), start};
    if (there.type == types::kNoType) continue;
    if (isLookedAt(table[there.type])) inner.push_back(there);
    addBases(table, there, at, depth + 1, inner);
  }
}

const TypeSums::Spot& TypeSums::spotOf(Sum& sum, const SpotKey& at) {
  const auto [offset, width, element] = at;
  const auto [it, fresh] = sum.spots.try_emplace(at);
  Spot& spot = it.value();
  if (!fresh) return spot;
  const types::TypeTable& table = typed_.table(sum.binary);
  const auto fields = types::fieldsAt(table, sum.type, offset, width, element);
  FieldHeat place;
  if (fields.empty()) {
    place.offset = offset;  // a hole
    place.size = width;
    spot.field = fieldOf(sum, place);
    return spot;
  }
  const types::FieldPath& path = chooseField(fields, width);
  place.field = fieldText(fields, width);  // nobody knows which of a union's members it is
  place.offset = path.offset;
  place.size = path.size;
  spot.field = fieldOf(sum, place);
  if (sum.heat.nested) return spot;
  for (const types::InnerObject& object : path.around) {
    const bool itself = object.type == sum.type && object.offset == 0;
    if (!itself && isLookedAt(table[object.type])) spot.inner.push_back(object);
    addBases(table, object, offset, 0, spot.inner);
  }
  return spot;
}

const TypeSums::Spot& TypeSums::addTo(Sum& sum, const Access& access, const TypedPlace& place,
                                      uint64_t offset) {
  const uint64_t base = line_->address + access.offset - offset;
  // What lies in one element of an array: which one it is, only the address says.
  const bool inElement = place.element != 0 && sum.heat.nested && !sum.open &&
                         *typed_.table(sum.binary)[sum.type].size <= place.element;
  const bool based = place.based || inElement;
  if (based && (sum.instances.empty() || sum.instances.back() != std::pair(line_->space, base)))
    sum.instances.emplace_back(line_->space, base);
  sum.verdict.add(*line_, lineNumber_, access);
  TypeHeat& heat = sum.heat;
  heat.records += access.records;
  heat.loads += access.loads;
  heat.stores += access.stores;
  heat.contended += access.contended;
  addCounts(heat.memory, countsOf(access));

  const Spot& spot = spotOf(sum, {offset, std::max(access.width, 1u), place.element});
  Field& field = sum.fields[spot.field];
  field.heat.records += access.records;
  field.heat.loads += access.loads;
  field.heat.stores += access.stores;
  field.heat.contended += access.contended;
  field.waits.add(lineNumber_, access.waits);
  addCounts(field.heat.memory, countsOf(access));
  // As extension/protocol/roles.ts has it: who does both is in either list, and who has no samples reads.
  if (access.stores > 0) analysis::unite(field.heat.writers, access.threads);
  if (access.loads > 0 || access.stores == 0) analysis::unite(field.heat.readers, access.threads);
  if (access.memory && access.memory->cycles) {
    field.cycles += access.memory->cycles->sum;
    field.timed += access.memory->cycles->loads;
  }
  return spot;
}

void TypeSums::add(const Access& access, const TypedPlace& place) {
  if (!place) return;
  const types::TypeTable& table = typed_.table(place.binary);
  types::TypeId type = table.strip(place.type);
  while (type != types::kNoType && table[type].kind == types::Kind::array)
    type = table.strip(table[type].target);
  if (type == types::kNoType) return;
  const size_t outermost = sumOf(place.binary, type, false);
  if (outermost == kNotSummed) return;
  const uint64_t offset = sums_[outermost].open ? place.offset : place.offset % *table[type].size;
  const std::vector<types::InnerObject> inner = addTo(sums_[outermost], access, place, offset).inner;
  for (const types::InnerObject& object : inner) {
    const size_t sum = sumOf(place.binary, object.type, true);
    if (sum != kNotSummed) addTo(sums_[sum], access, place, offset - object.offset);
  }
}

void TypeSums::gather(std::vector<Field>& fields) {
  std::map<std::string, Field> arrays;
  for (Field& field : fields) {
    const std::string name = arrayOf(field.heat.field);
    const auto [it, added] = arrays.try_emplace(name, field);
    if (added) {
      it->second.heat.field = name;
      continue;
    }
    FieldHeat& sum = it->second.heat;
    const uint64_t end = std::max(sum.offset + sum.size, field.heat.offset + field.heat.size);
    sum.offset = std::min(sum.offset, field.heat.offset);
    sum.size = end - sum.offset;
    it->second.add(field);
  }
  fields.clear();
  for (auto& [name, field] : arrays) fields.push_back(std::move(field));
}

/// The instances of `other`, which is of the same type, count in `sum`, too.
void TypeSums::unite(Sum& sum, const Sum& other) {
  TypeHeat& heat = sum.heat;
  heat.records += other.heat.records;
  heat.loads += other.heat.loads;
  heat.stores += other.heat.stores;
  heat.contended += other.heat.contended;
  addCounts(heat.memory, other.heat.memory ? &*other.heat.memory : nullptr);
  sum.verdict.add(other.verdict);
  sum.instances.insert(sum.instances.end(), other.instances.begin(), other.instances.end());
  for (const Field& field : other.fields) sum.fields[fieldOf(sum, field.heat)].add(field);
}

void TypeSums::finish(Sum& sum) const {
  TypeHeat& heat = sum.heat;
  std::sort(sum.instances.begin(), sum.instances.end());
  heat.instances =
      static_cast<uint64_t>(std::unique(sum.instances.begin(), sum.instances.end()) - sum.instances.begin());
  heat.lines = sum.verdict.lines();
  heat.verdict = sum.verdict.verdict();
  heat.falseShare = sum.verdict.falseShare();
  heat.flags = sum.verdict.takeFlags();
  const auto shareOf = [&](uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(heat.contended) / static_cast<double>(whole);
  };
  heat.contendedShare = shareOf(contended_);
  heat.programShare = shareOf(samples_);
  // A card has an array in one piece, and arrays of structures with arrays would make many rows.
  heat.layout = layouts::layoutOf(typed_.table(sum.binary), sum.type,
                                  {.lineSize = lineSize_, .expand = true, .elements = false});
  heat.own = layouts::layoutOf(typed_.table(sum.binary), sum.type, {.lineSize = lineSize_}).members;
  if (sum.fields.size() > kMostFields) gather(sum.fields);
  for (Field& field : sum.fields) {
    if (field.heat.contended > 0) field.heat.falseShare = field.waits.sum().share();
    if (field.timed > 0)
      field.heat.meanCycles = static_cast<double>(field.cycles) / static_cast<double>(field.timed);
    heat.fields.push_back(std::move(field.heat));
  }
  std::sort(heat.fields.begin(), heat.fields.end(), [](const FieldHeat& a, const FieldHeat& b) {
    return std::tie(a.offset, a.size, a.field) < std::tie(b.offset, b.size, b.field);
  });
}

std::vector<TypeHeat> TypeSums::take() {
  std::vector<TypeHeat> list;
  list.reserve(sums_.size());
  for (Sum& sum : sums_) {
    if (!sum.heat.nested) continue;
    const auto outermost = index_.find(sumKey(sum.heat.binary, typed_.types(sum.binary), sum.type, false));
    if (outermost != index_.end()) unite(sum, sums_[outermost->second]);
  }
  for (Sum& sum : sums_) {
    finish(sum);
    list.push_back(std::move(sum.heat));
  }
  std::sort(list.begin(), list.end(), [](const TypeHeat& a, const TypeHeat& b) {
    if (a.nested != b.nested) return b.nested;
    if (a.contended != b.contended) return a.contended > b.contended;
    if (a.records != b.records) return a.records > b.records;
    return std::tie(a.name, a.binary) < std::tie(b.name, b.binary);
  });
  return list;
}

}  // namespace cacheline::analysis
