// Roll-up of accesses to types and their fields.
#include "analysis/type_sums.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "types/field_path.h"

namespace cacheline::analysis {

namespace {

constexpr size_t kNotSummed = ~size_t{0};
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

/// Cycles of an access's loads of all kinds, out of their means.
double cyclesOf(const Access& access) {
  const MemoryCounts& counts = access.memory->counts;
  const Cycles& cycles = *access.memory->cycles;
  const uint64_t contended = counts.localHitm + counts.remoteHitm + counts.localPeer + counts.remotePeer;
  const auto times = [](double mean, uint64_t count) { return mean * static_cast<double>(count); };
  return times(cycles.localHitm, counts.localHitm) + times(cycles.remoteHitm, counts.remoteHitm) +
         times(cycles.localPeer, counts.localPeer) + times(cycles.remotePeer, counts.remotePeer) +
         times(cycles.load, access.loads - std::min(access.loads, contended));
}

void unite(std::vector<uint32_t>& list, const std::vector<uint32_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
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

TypeSums::Sum* TypeSums::sumOf(uint32_t binary, types::TypeId type) {
  const auto [known, unknown] = known_.try_emplace((uint64_t{binary} << 32) | type, kNotSummed);
  if (unknown) {
    const types::TypeTable& table = typed_.table(binary);
    const types::Type& described = table[type];
    const bool structured = described.kind == types::Kind::structure ||
                            described.kind == types::Kind::classType ||
                            described.kind == types::Kind::unionType;
    if (structured && described.size.value_or(0) > 0) {
      const std::string& path = typed_.binaries().path(binary);
      const std::string name = table.nameOf(type);
      const auto [it, added] =
          index_.try_emplace(path + '\0' + name + '\0' + std::to_string(*described.size), sums_.size());
      if (added) {
        Sum fresh;
        fresh.binary = binary;
        fresh.type = type;
        fresh.heat.name = name;
        fresh.heat.object = typed_.binaries().baseName(binary);
        fresh.heat.binary = path;
        sums_.push_back(std::move(fresh));
      }
      known.value() = it->second;
    }
  }
  return known->second == kNotSummed ? nullptr : &sums_[known->second];
}

void TypeSums::addTo(Field& field, const Access& access) {
  FieldHeat& heat = field.heat;
  heat.records += access.records;
  heat.loads += access.loads;
  heat.stores += access.stores;
  heat.contended += access.contended;
  addCounts(heat.memory, countsOf(access));
  unite(access.stores > 0 ? heat.writers : heat.readers, access.threads);
  if (access.memory && access.memory->cycles) {
    field.cycles += cyclesOf(access);
    field.timed += access.loads;
  }
}

void TypeSums::add(const Access& access, const TypedPlace& place) {
  if (!place) return;
  const types::TypeTable& table = typed_.table(place.binary);
  types::TypeId type = table.strip(place.type);
  while (type != types::kNoType && table[type].kind == types::Kind::array)
    type = table.strip(table[type].target);
  if (type == types::kNoType) return;
  Sum* sum = sumOf(place.binary, type);
  if (sum == nullptr) return;
  const uint64_t inElement = place.offset % *table[type].size;
  if (place.based) sum->instances.emplace_back(line_->space, line_->address + access.offset - inElement);
  sum->verdict.add(*line_, lineNumber_, access.contended);
  TypeHeat& heat = sum->heat;
  heat.records += access.records;
  heat.loads += access.loads;
  heat.stores += access.stores;
  heat.contended += access.contended;
  addCounts(heat.memory, countsOf(access));

  const auto fields = types::fieldsAt(table, type, inElement, std::max(access.width, 1u));
  types::FieldPath hole;
  hole.offset = inElement;
  hole.size = std::max(access.width, 1u);
  const types::FieldPath& path = fields.empty() ? hole : chooseField(fields, access.width);
  const auto [it, added] =
      sum->index.try_emplace(path.path + '\0' + std::to_string(path.offset), sum->fields.size());
  if (added) {
    Field field;
    field.heat.offset = path.offset;
    field.heat.size = path.size;
    field.heat.field = path.path;
    sum->fields.push_back(std::move(field));
  }
  addTo(sum->fields[it->second], access);
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
    Field& sum = it->second;
    const uint64_t end = std::max(sum.heat.offset + sum.heat.size, field.heat.offset + field.heat.size);
    sum.heat.offset = std::min(sum.heat.offset, field.heat.offset);
    sum.heat.size = end - sum.heat.offset;
    sum.heat.records += field.heat.records;
    sum.heat.loads += field.heat.loads;
    sum.heat.stores += field.heat.stores;
    sum.heat.contended += field.heat.contended;
    addCounts(sum.heat.memory, field.heat.memory ? &*field.heat.memory : nullptr);
    unite(sum.heat.readers, field.heat.readers);
    unite(sum.heat.writers, field.heat.writers);
    sum.cycles += field.cycles;
    sum.timed += field.timed;
  }
  fields.clear();
  for (auto& [name, field] : arrays) fields.push_back(std::move(field));
}

void TypeSums::finish(Sum& sum) const {
  TypeHeat& heat = sum.heat;
  std::sort(sum.instances.begin(), sum.instances.end());
  heat.instances =
      static_cast<uint64_t>(std::unique(sum.instances.begin(), sum.instances.end()) - sum.instances.begin());
  heat.lines = sum.verdict.lines();
  heat.verdict = sum.verdict.verdict();
  heat.flags = sum.verdict.takeFlags();
  const auto shareOf = [&](uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(heat.contended) / static_cast<double>(whole);
  };
  heat.contendedShare = shareOf(contended_);
  heat.programShare = shareOf(samples_);
  heat.layout = types::layoutOf(typed_.table(sum.binary), sum.type, {.lineSize = lineSize_, .expand = true});
  if (sum.fields.size() > kMostFields) gather(sum.fields);
  for (Field& field : sum.fields) {
    std::vector<uint32_t> only;
    std::set_difference(field.heat.readers.begin(), field.heat.readers.end(), field.heat.writers.begin(),
                        field.heat.writers.end(), std::back_inserter(only));
    field.heat.readers = std::move(only);
    if (field.timed > 0) field.heat.meanCycles = field.cycles / static_cast<double>(field.timed);
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
    finish(sum);
    list.push_back(std::move(sum.heat));
  }
  std::sort(list.begin(), list.end(), [](const TypeHeat& a, const TypeHeat& b) {
    if (a.contended != b.contended) return a.contended > b.contended;
    if (a.records != b.records) return a.records > b.records;
    return std::tie(a.name, a.binary) < std::tie(b.name, b.binary);
  });
  return list;
}

}  // namespace cacheline::analysis
