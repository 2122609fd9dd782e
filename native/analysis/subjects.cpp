// Objects, found by the names of accesses.
#include "analysis/subjects.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <set>

#include "analysis/own_place.h"

namespace cacheline::analysis {

namespace {

constexpr int kDeepest = 16;  // structures inside structures

bool isOnHeap(const DataName& data) {
  return data.how != How::global && data.how != How::stack && data.object != "[stack]";
}

/// "struct {...}", as types::TypeTable::nameOf() calls each type that has no name.
bool isUnnamedType(std::string_view type) {
  return type.ends_with("{...}");
}

/// Whether a type has the member that an access to one of its objects names, where it names it.
bool hasMember(const TypeHeat& type, std::string_view field, uint64_t offset) {
  return field.empty() || std::ranges::any_of(type.own, [&](const layouts::LayoutMember& member) {
           return offset >= member.offset && offset - member.offset < member.size &&
                  (member.name.empty() || field.starts_with(member.name));
         });
}

/// Of C and C++.
bool isLanguageLibrary(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.find(".so") != std::string_view::npos &&
         std::ranges::any_of(std::array<std::string_view, 9>{"ld-", "libc.", "libc-", "libpthread", "libm.",
                                                             "librt.", "libstdc++", "libc++", "libgcc_s"},
                             [&](std::string_view library) { return name.starts_with(library); });
}

/// Debug information of Rust and Go has no files of types: of those paths and packages tell.
bool isOfLanguage(const TypeHeat& type) {
  const std::string& file = type.layout.file;
  const auto isNamed = [&](std::string_view owner) { return file.empty() && type.name.starts_with(owner); };
  return ownerOf(file) == SourceOwner::language || isLanguageLibrary(type.binary) || isNamed("core::") ||
         isNamed("alloc::") || isNamed("std::") || isNamed("sync.") || isNamed("sync/") ||
         isNamed("runtime.") || isNamed("internal/");
}

}  // namespace

std::string_view elementName(std::string_view type) {
  while (type.ends_with(']')) {
    type = type.substr(0, type.rfind('['));
    while (type.ends_with(' ')) type.remove_suffix(1);
  }
  return type;
}

uint64_t elementsOf(std::string_view type) {
  uint64_t count = 1;
  for (size_t at = type.find('['); at != std::string_view::npos; at = type.find('[', at + 1)) {
    uint64_t number = 0;
    std::from_chars(type.data() + at + 1, type.data() + type.size(), number);
    if (number == 0 || count > ~uint64_t{0} / number) return 0;
    count *= number;
  }
  return count;
}

Subjects::Subjects(const Report& report) : report_(report), regions_(report.lines.size()) {
  // Of a name several types may answer; those that are objects of their own come first.
  for (const bool nested : {false, true}) {
    for (const TypeHeat& type : report.types) {
      if (type.nested != nested) continue;
      const auto number = static_cast<uint32_t>(list_.size());
      if (isUnnamedType(type.name))
        unnamed_.push_back(number);
      else if (!types_.try_emplace({type.name, type.binary}, number).second)
        continue;
      Subject& subject = list_.emplace_back();
      subject.type = type.name;
      subject.size = type.layout.size;
      subject.count = type.instances;
      subject.described = &type;
      if (!type.layout.file.empty()) subject.definition = {type.layout.file, type.layout.line};
    }
  }
  for (uint32_t number = 0; number < list_.size(); ++number) {
    list_[number].fixed = isOfLanguage(*list_[number].described);
    list_[number].opaque = isOpaque(number);
    if (list_[number].opaque) list_[number].definition.reset();
  }
  std::map<uint32_t, std::set<std::string>> objects;
  for (uint32_t line = 0; line < report.lines.size(); ++line) {
    std::vector<Region>& regions = regions_[line];
    for (const Access& access : report.lines[line].accesses) {
      const std::optional<Region> region = regionOf(report.lines[line], access);
      if (!region) continue;
      regions.push_back(*region);
      Subject& subject = list_[region->subject];
      if (subject.kind == Subject::Kind::type) {
        objects[region->subject].insert(isUnnamed(access.data) ? "" : access.data.object);
        const bool unaligned = access.data.base && *access.data.base % report.lineSize != 0;
        subject.unaligned |= unaligned && isOnHeap(access.data);
      }
      if (access.data.how == How::global)
        subject.variables.try_emplace(
            access.data.object,
            Subject::Variable{access.data.type, access.data.variableBytes.value_or(subject.size),
                              access.data.definition});
      if (!subject.allocation) subject.allocation = access.data.allocation;
    }
  }
  findOwners();
  for (std::vector<Region>& regions : regions_) {
    std::sort(regions.begin(), regions.end());
    std::vector<Region> apart;
    for (const Region& region : regions) {
      if (apart.empty() || region.start >= apart.back().end)
        apart.push_back(region);
      else if (region.subject == apart.back().subject &&
               list_[region.subject].kind == Subject::Kind::variable)
        apart.back().end = std::max(apart.back().end, region.end);
    }
    regions = std::move(apart);
  }
  for (const auto& [subject, names] : objects)
    if (names.size() == 1) list_[subject].object = *names.begin();
  findArrays();
  lines_.resize(list_.size());
  for (uint32_t line = 0; line < regions_.size(); ++line) {
    std::set<uint32_t> here;
    const uint64_t start = report.lines[line].address;
    for (const Access& access : report.lines[line].accesses)
      for (const Holder& holder : at(line, start + access.offset)) here.insert(holder.subject);
    for (const uint32_t subject : here) lines_[subject].push_back(line);
  }
}

/// Objects on a heap that lie at multiples of their size, some beside each other, are elements of one array,
/// which begins at the first one that was seen: between blocks of their own the allocator has its header.
void Subjects::findArrays() {
  std::map<std::pair<uint32_t, std::string>, std::set<uint64_t>> starts;  // by subject and space
  for (size_t line = 0; line < regions_.size(); ++line)
    for (const Region& region : regions_[line])
      if (list_[region.subject].unaligned)
        starts[{region.subject, report_.lines[line].space}].insert(region.start);
  std::erase_if(starts, [&](const auto& each) {
    const uint64_t first = *each.second.begin(), size = list_[each.first.first].size;
    bool together = false, multiples = true;
    uint64_t last = first;
    for (const uint64_t start : each.second) {
      together |= start - last == size;
      multiples &= (start - first) % size == 0;
      last = start;
    }
    return !together || !multiples;
  });
  for (size_t line = 0; line < regions_.size(); ++line) {
    for (Region& region : regions_[line]) {
      const auto found = starts.find({region.subject, report_.lines[line].space});
      if (found == starts.end()) continue;
      region.first = *found->second.begin();
      list_[region.subject].inArrays = true;
    }
  }
}

/// Code that has a pointer to a member only names an object of the member's type. It is a part of the holder
/// where objects of the holder's type lie around it in steps of one length, and hold such a member there.
void Subjects::findOwners() {
  struct Row {
    uint64_t first = ~uint64_t{0}, last = 0, step = 0;  ///< addresses of the first and the last object
  };
  std::map<std::pair<std::string, uint32_t>, Row> rows;  // by space and subject
  const auto each = [&](auto&& visit) {
    for (size_t line = 0; line < regions_.size(); ++line)
      for (Region& region : regions_[line])
        if (list_[region.subject].kind == Subject::Kind::type) visit(report_.lines[line].space, region);
  };
  each([&](const std::string& space, const Region& region) {
    Row& row = rows[{space, region.subject}];
    if (row.last != 0)
      row.step =
          std::gcd(row.step, region.start > row.last ? region.start - row.last : row.last - region.start);
    row.first = std::min(row.first, region.start);
    row.last = std::max(row.last, region.start);
  });
  std::map<std::string, std::vector<std::pair<uint32_t, Row>>> arrays;  // by space
  for (const auto& [key, row] : rows)
    if (row.step > 0 && row.step >= list_[key.second].size) arrays[key.first].emplace_back(key.second, row);
  each([&](const std::string& space, Region& region) {
    const auto here = arrays.find(space);
    if (here == arrays.end()) return;
    for (const auto& [owner, row] : here->second) {
      const Subject& holder = list_[owner];
      if (owner == region.subject || region.start < row.first || region.start >= row.last + holder.size ||
          region.end - region.start >= holder.size)
        continue;
      const uint64_t start = region.start - (region.start - row.first) % row.step;
      if (region.end > start + holder.size) continue;
      std::vector<Holder> holders;
      descend(owner, start, region.start, holders);
      if (std::ranges::none_of(holders, [&](const Holder& inner) {
            return inner.subject == region.subject && inner.base == region.start;
          }))
        continue;
      region = {start, start + holder.size, start, owner};
      return;
    }
  });
}

/// A structure of one other structure, and at most bytes that fill it up.
bool Subjects::isWrapper(uint32_t number) const {
  const TypeHeat* type = list_[number].described;
  if (type == nullptr) return false;
  size_t structures = 0;
  for (const layouts::LayoutMember& member : type->own) {
    if (!member.structure.empty() && elementName(member.type).size() == member.type.size())
      ++structures;
    else if (!elementName(member.type).ends_with("char") || !member.type.ends_with(']'))
      return false;
  }
  return structures == 1;
}

/// The outermost object, or what it wraps.
size_t Subjects::outermost(const std::vector<Holder>& at) const {
  size_t index = 0;
  while (index + 1 < at.size() && isWrapper(at[index].subject)) ++index;
  return index;
}

Subjects::Told Subjects::toldOf(const std::vector<Holder>& at, const std::vector<Holder>& by,
                                bool sameWord) const {
  if (sameWord) {
    size_t unit = outermost(at);
    for (size_t i = unit; i + 1 < at.size(); ++i)
      if (list_[at[i].subject].described->own[at[i].member].type.ends_with(']')) unit = i + 1;
    return {at[unit], Relation::itself};
  }
  size_t common = 0;  // that hold both
  while (common < at.size() && common < by.size() && at[common].subject == by[common].subject &&
         at[common].base == by[common].base)
    ++common;
  if (common == 0) {
    const bool alike = !by.empty() && by.front().subject == at.front().subject;
    return {at[outermost(at)], alike ? Relation::between : Relation::elsewhere};
  }
  const bool sameMember = at[common - 1].member == by[common - 1].member;
  // Elements of one member are objects of their own.
  if (sameMember && common < at.size() && common < by.size()) return {at[common], Relation::between};
  return {at[common - 1], sameMember ? Relation::member : Relation::inside};
}

uint32_t Subjects::subjectOf(Subject subject) {
  std::string key =
      std::to_string(static_cast<int>(subject.kind)) + '\0' + subject.object + '\0' + subject.type;
  if (subject.kind == Subject::Kind::block && subject.allocation)
    key += '\0' + subject.allocation->function + '\0' + subject.allocation->place.file + '\0' +
           std::to_string(subject.allocation->place.line) + '\0' + std::to_string(subject.size);
  const auto [known, isNew] = others_.try_emplace(std::move(key), static_cast<uint32_t>(list_.size()));
  if (isNew) list_.push_back(std::move(subject));
  return known->second;
}

/// Of a member that is a structure, or an array of such. Which one of those without a name it is, is not
/// known.
std::optional<uint32_t> Subjects::typeOf(const layouts::LayoutMember& member,
                                         const std::string& binary) const {
  const auto found = types_.find({member.structure, binary});
  return found == types_.end() ? std::nullopt : std::optional(found->second);
}

/// Of an object or element that an access names. Of types without a name it is the only one that has such a
/// member there.
/// @param inObject bytes from the start of the object, or of the array
std::optional<uint32_t> Subjects::typeOf(const DataName& data, std::string_view element,
                                         uint64_t inObject) const {
  if (!isUnnamedType(element)) {
    const auto found = types_.lower_bound({std::string(element), ""});
    return found != types_.end() && found->first.first == element ? std::optional(found->second)
                                                                  : std::nullopt;
  }
  std::optional<uint32_t> found;
  for (const uint32_t number : unnamed_) {
    const Subject& subject = list_[number];
    const bool isOne = element.size() == data.type.size();
    if (subject.type != element || subject.size == 0 ||
        (isOne && data.variableBytes.value_or(subject.size) != subject.size) ||
        !hasMember(*subject.described, data.field, inObject % subject.size))
      continue;
    if (found) return std::nullopt;
    found = number;
  }
  return found;
}

bool Subjects::isOpaque(uint32_t number, int depth) const {
  const TypeHeat& type = *list_[number].described;
  return isOfLanguage(type) && std::ranges::all_of(type.own, [&](const layouts::LayoutMember& member) {
           const std::optional<uint32_t> inner = typeOf(member, type.binary);
           return !inner || *inner == number || depth >= kDeepest || isOpaque(*inner, depth + 1);
         });
}

/// The outermost object that an access names.
std::optional<Subjects::Region> Subjects::regionOf(const Line& line, const Access& access) {
  const DataName& data = access.data;
  const uint64_t address = line.address + access.offset;
  std::optional<uint64_t> base = data.base;
  if (!base && data.how == How::global) base = address - data.offset;
  // An element without members begins where it is accessed.
  const bool pointed = isPointedArray(data) && elementName(data.type).size() == data.type.size();
  if (!base && pointed) base = address;
  if (!base || *base > address) return std::nullopt;
  uint64_t size = 0;  // bytes of one object; 0: not known
  if (!data.type.empty()) {
    const std::string_view element = elementName(data.type);
    const bool isArray = element.size() != data.type.size();
    const std::optional<uint32_t> found = typeOf(data, element, address - *base);
    Subject* const known = found ? &list_[*found] : nullptr;
    if (known != nullptr) {
      size = known->size;
      if (size == 0) return std::nullopt;
    }
    if (known != nullptr && !(known->opaque && (isArray || data.how == How::global))) {
      if (isArray) known->elements = std::max(known->elements, elementsOf(data.type));
      const uint64_t start = *base + (address - *base) / size * size;
      return Region{start, start + size, *base, *found};
    }
    if ((isArray || (pointed && known == nullptr)) && access.width > 0) {
      // Each element begins at a multiple of its size: of one without members, what the samples show of it is
      // its width.
      const uint64_t inArray = address - *base;
      if (known == nullptr)
        size = data.index && *data.index > 0 && data.fieldOffset && *data.fieldOffset > 0
                   ? *data.fieldOffset / *data.index
                   : access.width;
      Subject subject{.kind = Subject::Kind::elements,
                      .type = std::string(element),
                      .object = objectName(data),
                      .definition = data.definition,
                      .size = size,
                      .count = isArray ? elementsOf(data.type) : 0};
      subject.allocation = data.allocation;
      subject.unaligned = isOnHeap(data);
      const uint64_t start = *base + inArray / size * size;
      return Region{start, start + size, *base, subjectOf(std::move(subject))};
    }
  }
  if (data.how == How::global) {
    if (size == 0) size = data.offset + std::max(access.width, 1u);
    Subject subject{.kind = Subject::Kind::variable,
                    .type = data.type,
                    .object = data.object,
                    .definition = data.definition,
                    .size = size};
    const uint32_t number = subjectOf(std::move(subject));
    list_[number].size = std::max(list_[number].size, size);
    return Region{*base, *base + size, *base, number};
  }
  if (data.allocation && data.how == How::allocation) {
    Subject subject{.kind = Subject::Kind::block,
                    .object = objectName(data),
                    .size = data.allocation->size,
                    .allocation = data.allocation,
                    .unaligned = true};
    return Region{*base, *base + data.allocation->size, *base, subjectOf(std::move(subject))};
  }
  return std::nullopt;
}

std::optional<uint32_t> Subjects::movableIn(const Subject& holder,
                                            const layouts::LayoutMember& member) const {
  const std::optional<uint32_t> inner = typeOf(member, holder.described->binary);
  return !inner || list_[*inner].opaque ? std::nullopt : inner;
}

void Subjects::descend(uint32_t number, uint64_t base, uint64_t address, std::vector<Holder>& holders) const {
  const Subject& subject = list_[number];
  Holder& holder = holders.emplace_back(Holder{number, base, base, kNone});
  if (subject.described == nullptr || subject.opaque) return;
  const std::vector<layouts::LayoutMember>& members = subject.described->own;
  for (uint32_t i = 0; i < members.size(); ++i) {
    const layouts::LayoutMember& member = members[i];
    if (address - base < member.offset || address - base - member.offset >= member.size) continue;
    holder.member = i;
    const std::optional<uint32_t> inner = movableIn(subject, member);
    if (!inner && subject.fixed)  // the first of those that stay together
      holder.member = static_cast<uint32_t>(
          std::ranges::find_if(members, [&](const auto& each) { return !movableIn(subject, each); }) -
          members.begin());
    if (!inner || holders.size() >= kDeepest) return;
    const uint64_t size = list_[*inner].size;
    if (size == 0 || *inner == number) return;
    const uint64_t start = base + member.offset;
    return descend(*inner, start + (address - start) / size * size, address, holders);
  }
}

std::vector<Holder> Subjects::at(uint32_t line, uint64_t address) const {
  const std::vector<Region>& regions = regions_[line];
  auto region = std::upper_bound(regions.begin(), regions.end(), Region{address, address, address, kNone});
  std::vector<Holder> holders;
  if (region == regions.begin() || address >= (--region)->end) return holders;
  descend(region->subject, region->start, address, holders);
  holders.front().first = region->first;
  return holders;
}

}  // namespace cacheline::analysis
