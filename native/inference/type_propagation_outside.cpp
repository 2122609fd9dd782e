// Constants that lead out of the object that they are counted from: to its neighbour in an array, or to a
// member of what contains it.
#include <algorithm>

#include "inference/naming_rules.h"
#include "inference/type_propagation_impl.h"
#include "types/field_path.h"
#include "types/named_members.h"
#include "types/type_reader.h"

namespace cacheline::inference {
namespace {

/// Whether a constant leads behind the object that it is counted from: to its neighbour in an array, or to
/// what lies behind a member of something larger.
bool leadsBehind(const types::TypeTable& table, const AbstractValue& address) {
  if (address.kind != AbstractValue::Kind::pointer || address.stride != 0 || address.offset < 0) return false;
  const auto size = table.sizeOf(address.type);
  const auto offset = static_cast<uint64_t>(address.offset);
  return size && *size != 0 && offset >= *size && types::fieldsAt(table, address.type, offset, 1).empty();
}

}  // namespace

/// Types of which objects are members of something larger in this function (a constant leads behind one of
/// them, and not to a field of a neighbour), and types whose objects it counts.
const TypePropagation::Impl::Neighbours& TypePropagation::Impl::neighboursHere() {
  if (neighbours) return *neighbours;
  neighbours.emplace();
  for (size_t i = 0; i < blocks.size(); i++)
    for (Replay replay(*this, i); replay.step < blocks[i].last; replay.advance()) {
      const auto access = pointerAccess(steps[replay.step], replay.now);
      if (!access) continue;
      const types::TypeId held = access->address.type;
      const uint64_t size = facts.table().sizeOf(held).value_or(0), stride = access->address.stride;
      if (stride != 0 && size != 0 && stride % size == 0) neighbours->counted.insert(held);
      if (!leadsBehind(facts.table(), access->address)) continue;
      if (!types::isField(facts.table(), held, static_cast<uint64_t>(access->address.offset) % size,
                          access->width))
        neighbours->contained.insert(held);
    }
  return *neighbours;
}

/// Of an access of `width` bytes whose constant leads out of its object: the place in what contains that,
/// where no other type of the binary, and no neighbour in an array, has such a member there; open where that
/// cannot be told (`doubt`, which may be null, then says between what). `address` itself: the neighbour, or
/// no such case. `solved`: what the whole function does is known.
AbstractValue TypePropagation::Impl::resolved(const AbstractValue& address, uint32_t width, bool solved,
                                              Doubt* doubt) {
  const types::TypeTable& table = facts.table();
  if (address.kind != AbstractValue::Kind::pointer || address.stride != 0 ||
      isOff(NamingRule::enclosingTypes))
    return address;
  const bool behind = leadsBehind(table, address);
  if (!behind && address.offset >= 0) return address;
  const bool contained = behind && solved && neighboursHere().contained.contains(address.type);
  const AbstractValue otherwise = contained ? AbstractValue{} : address;
  const types::TypeId stripped = table.strip(address.type);
  if (!facts.countsOutOfMembers() || stripped == types::kNoType ||
      !types::isAggregate(table.kind(stripped)) || types::wrapped(table, stripped))
    return otherwise;
  const layouts::Surroundings& around = facts.types().around(address.type, address.offset, width);
  const bool link = layouts::isLink(table, stripped);
  if (around.members.empty() && !around.others && (around.all || !link)) return otherwise;
  const auto next = contained ? std::nullopt : types::within(table, address.type, address.offset, 0);
  const bool neighbour = next && types::isField(table, address.type, next->offset, width);
  if (neighbour && solved && neighboursHere().counted.contains(address.type)) return address;
  const uint64_t size = std::max<uint64_t>(table.sizeOf(stripped).value_or(0), 1);
  const bool inArray = static_cast<uint64_t>(address.offset) / size < around.elements;
  if (around.members.size() == 1 && around.all && (!neighbour || (link && !inArray))) {
    const layouts::Enclosing& enclosing = around.members.front();
    return {AbstractValue::Kind::pointer, 0, enclosing.type,
            address.offset + static_cast<int64_t>(enclosing.offset)};
  }
  if (doubt != nullptr) {
    *doubt = {stripped, {}, neighbour, {}};
    for (const layouts::Enclosing& enclosing : around.members)
      doubt->enclosingTypes.push_back(enclosing.type);
  }
  return {};
}

}  // namespace cacheline::inference
