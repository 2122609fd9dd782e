// Objects, fields and offsets as text.
#include "c2c/data_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "c2c/lock_names.h"
#include "text/terminal_text.h"

namespace cacheline::c2c {

namespace {

using analysis::DataName;

constexpr size_t kMaxObjects = 3;
constexpr size_t kMaxFields = 3;  ///< of one object that are listed by name; more are an extent
/// Offsets beyond it are of the kernel's addresses, and JSON's numbers do not hold them: they are not shown.
constexpr int64_t kLargestOffset = (int64_t{1} << 53) - 1;

bool isNamedByType(const DataName& data) {
  return !data.type.empty() && isUnnamed(data);
}
bool isBlock(const DataName& data) {
  return data.type.empty() && data.allocation && isUnnamed(data);
}

int64_t clampedOffset(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int64_t>::max()));
}

/// Where in an object without a symbol an access is: from the block's or the object's start, where that is
/// known.
int64_t offsetIn(const DataName& data, uint64_t address) {
  if (!isNamedByType(data) && !isBlock(data)) return clampedOffset(data.offset);
  if (!data.base) return clampedOffset(data.fieldOffset.value_or(0));
  return address >= *data.base ? clampedOffset(address - *data.base) : -clampedOffset(*data.base - address);
}

/// What to write before the field: "counters", "Worker".
std::string headOf(const DataName& data) {
  if (isPointedArray(data)) return data.object.substr(0, data.object.size() - 2);
  if (!isNamedByType(data)) return analysis::objectName(data);
  const std::string_view type = data.type;
  if (!type.ends_with(']')) return data.type;
  const size_t bracket = type.find_last_not_of("0123456789", type.size() - 2);
  return std::string(bracket != std::string_view::npos && type[bracket] == '[' ? type.substr(0, bracket)
                                                                               : type);
}

/// "lock" of `lock._M_mutex.__data.__owner | …`, the name of the member that is a lock of pthreads, and what
/// it is; nullopt of other members.
struct LockField {
  std::string_view field, lock;
};
std::optional<LockField> lockOf(std::string_view field) {
  constexpr std::string_view kInside = "__data.";
  size_t at = field.find("__data.__");
  while (at != 0 && at != std::string_view::npos && field[at - 1] != '.')
    at = field.find("__data.__", at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view member = field.substr(at + kInside.size());
  const auto* known = std::ranges::find_if(
      kLockMembers, [&](const LockMember& each) { return member.starts_with(each.start); });
  if (known == std::end(kLockMembers)) return std::nullopt;
  std::string_view before = field.substr(0, at);
  const auto dropHolder = [&] {
    for (const std::string_view enclosing : kLockHolders) {
      if (!before.ends_with(std::string(enclosing) + '.')) continue;
      const size_t left = before.size() - enclosing.size() - 1;
      if (left > 0 && before[left - 1] != '.') continue;
      before = before.substr(0, left);
      return true;
    }
    return false;
  };
  while (dropHolder()) continue;
  if (before.ends_with('.')) before.remove_suffix(1);
  return LockField{before, known->lock};
}

/// ".today.cents", "[3].count", ".rows[?].hits", ".lock (mutex)", nothing for the whole object; nullopt: not
/// known.
std::optional<std::string> fieldOf(const DataName& data) {
  const bool pointed = isPointedArray(data);
  if (!pointed && (data.type.empty() || (data.field.empty() && !data.fieldOffset))) return std::nullopt;
  const auto [field, lock] = lockOf(data.field).value_or(LockField{data.field, {}});
  const bool ofElement = pointed || data.type.ends_with(']') || field.find('[') == std::string_view::npos;
  std::string text;
  if (pointed && !data.index) text = analysis::kPointedArray;
  if (data.index && ofElement) text.append("[").append(std::to_string(*data.index)) += ']';
  if (!field.empty() && !field.starts_with('[')) text += '.';
  text += field;
  if (!lock.empty()) text.append(" (").append(lock) += ')';
  return text;
}

void appendName(std::string& out, std::string_view name) {
  text::appendPrintable(out, name.empty() ? "unknown" : name);
}

/// "counters+8..56"; of a block "bytes 8 to 56 of 1024 bytes allocated in make", where "+8" would read like a
/// place in the code.
void appendPlace(std::string& out, std::string_view name, int64_t first, int64_t last, bool block) {
  const bool known = last <= kLargestOffset;
  if (block && known) {
    out.append(first == last ? "byte " : "bytes ").append(std::to_string(first));
    if (last != first) out.append(" to ").append(std::to_string(last));
    out += " of ";
  }
  appendName(out, name);
  if (block || !known) return;
  out.append("+").append(std::to_string(first));
  if (last != first) out.append("..").append(std::to_string(last));
}

/// What the accesses of a line use of one object.
struct UsedData {
  std::string head;
  bool block = false;                              ///< a heap block of which nothing else is known
  int64_t first = 0, last = 0;                     ///< offsets accessed, bytes from the object's start
  std::optional<std::vector<std::string>> fields;  ///< each once; empty: one of them is not known
  uint64_t loads = 0, records = 0;

  void addField(std::optional<std::string> field) {
    if (!field)
      fields.reset();
    else if (fields && std::find(fields->begin(), fields->end(), *field) == fields->end())
      fields->push_back(*std::move(field));
  }
};

std::vector<UsedData> usesOf(const analysis::Line& line, const Displayed& displayed) {
  std::vector<UsedData> uses;
  HashMap<std::string, size_t> byObject;
  for (const analysis::Access& access : line.accesses) {
    const int64_t offset = offsetIn(access.data, line.address + access.offset);
    const auto [found, isNew] = byObject.try_emplace(analysis::objectName(access.data), uses.size());
    if (isNew)
      uses.push_back(
          {headOf(access.data), isBlock(access.data), offset, offset, std::vector<std::string>(), 0, 0});
    UsedData& use = uses[found->second];
    use.first = std::min(use.first, offset);
    use.last = std::max(use.last, offset);
    use.addField(fieldOf(access.data));
    use.loads += displayed.count(displayed.of(access.memory->counts));
    use.records += access.records;
  }
  std::stable_sort(uses.begin(), uses.end(), [](const UsedData& a, const UsedData& b) {
    if (a.loads != b.loads) return a.loads > b.loads;
    if (a.records != b.records) return a.records > b.records;
    return a.first < b.first;
  });
  return uses;
}

/// "[0..3].count", ".slots[0..3].hits" for the same member of several elements.
std::vector<std::string> overElements(const std::vector<std::string>& fields) {
  struct Member {
    std::string_view before, behind;                       ///< the index
    std::optional<std::pair<uint64_t, uint64_t>> indexes;  ///< lowest and highest
  };
  std::vector<Member> members;
  for (const std::string& field : fields) {
    Member one{field, {}, std::nullopt};
    const size_t begin = field.find('['), end = field.find(']', begin);
    if (begin != std::string::npos && end != std::string::npos) {
      uint64_t number = 0;
      const auto [rest, error] = std::from_chars(field.data() + begin + 1, field.data() + end, number);
      if (error == std::errc() && rest == field.data() + end) {
        one.indexes = {number, number};
        one.behind = std::string_view(field).substr(end + 1);
        one.before = one.before.substr(0, begin);
      }
    }
    const auto member = std::find_if(members.begin(), members.end(), [&](const Member& each) {
      return each.before == one.before && each.behind == one.behind && each.indexes && one.indexes;
    });
    if (member == members.end()) {
      members.push_back(one);
      continue;
    }
    member->indexes->first = std::min(member->indexes->first, one.indexes->first);
    member->indexes->second = std::max(member->indexes->second, one.indexes->second);
  }
  std::vector<std::string> list;
  for (const Member& member : members) {
    std::string text(member.before);
    if (member.indexes) {
      const auto& [first, last] = *member.indexes;
      text.append("[").append(std::to_string(first));
      if (last != first) text.append("..").append(std::to_string(last));
      text += ']';
    }
    list.push_back(text.append(member.behind));
  }
  return list;
}

/// "queue.produced, queue.limit", or "buckets+8..56" for many fields or unknown ones.
void appendUse(std::string& out, const UsedData& use) {
  std::vector<std::string> fields = use.fields.value_or(std::vector<std::string>());
  if (fields.size() > kMaxFields) fields = overElements(fields);
  if (fields.empty() || fields.size() > kMaxFields) {
    appendPlace(out, use.head, use.first, use.last, use.block);
    return;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ", ";
    appendName(out, use.head);
    text::appendPrintable(out, fields[i]);
  }
}

}  // namespace

void appendDataText(std::string& out, const DataName& data, uint64_t address) {
  const std::string head = headOf(data);
  if (const auto field = fieldOf(data)) {
    appendName(out, head);
    text::appendPrintable(out, *field);
    return;
  }
  const int64_t offset = offsetIn(data, address);
  appendPlace(out, head, offset, offset, isBlock(data));
}

std::string lineDataText(const analysis::Line& line, const Displayed& displayed) {
  const std::vector<UsedData> uses = usesOf(line, displayed);
  std::string text;
  for (size_t i = 0; i < std::min(uses.size(), kMaxObjects); ++i) {
    if (i > 0) text += ", ";
    appendUse(text, uses[i]);
  }
  if (uses.size() > kMaxObjects)
    text.append(", ").append(std::to_string(uses.size() - kMaxObjects)).append(" more");
  return text;
}

}  // namespace cacheline::c2c
