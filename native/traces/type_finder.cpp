// Types by name, and allocations by what the code around them says.
#include "traces/type_finder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "analysis/code_names.h"
#include "analysis/watch_place.h"
#include "base/error.h"
#include "types/field_path.h"
#include "types/named_members.h"

namespace cacheline::traces {
namespace {

constexpr size_t kMostCallers = 8;         // that are asked what a block is for
constexpr uint64_t kLargestHolder = 4096;  // bytes, of structures in which the type is looked for
constexpr uint64_t kStep = 8;              // bytes between the places where it is looked for

analysis::Backing fileBacking(const std::string& path) {
  analysis::Backing backing;
  backing.name = path;
  return backing;
}

/// A class's own operator new: it may ask for more than its objects need, and cut them out.
bool isPool(const analysis::CodeName& name) {
  const auto isOwn = [](const std::string& function) {
    return function.find("::operator new") != std::string::npos;
  };
  return isOwn(name.symbol) ||
         std::ranges::any_of(name.inlined, [&](const auto& frame) { return isOwn(frame.function); });
}

struct MemberPlace {
  uint64_t offset = 0, size = 0;
};

/// Of `head.next` in a structure; nullopt: there is none.
std::optional<MemberPlace> memberOf(const types::TypeTable& table, types::TypeId type,
                                    std::string_view path) {
  MemberPlace place;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    bool found = false;
    for (const types::NamedMember& member : types::namedMembers(table, table.strip(type))) {
      if (member.name != name) continue;
      place = {place.offset + member.offset, member.member.size};
      type = member.member.type;
      found = true;
      break;
    }
    if (!found) return std::nullopt;
  }
  return place;
}

std::vector<TypeWord> wordsOf(const types::TypeTable& table, types::TypeId type, MemberPlace place) {
  std::vector<TypeWord> words;
  for (const analysis::WatchPiece& piece : analysis::cutIntoWords(place.offset, place.size, "")) {
    const bool used = !types::fieldsAt(table, type, piece.address, piece.length).empty();
    if (used) words.push_back({piece.address, piece.length});  // else it is padding
  }
  return words;
}

}  // namespace

TypeFinder::TypeFinder(std::string expression) : expression_(std::move(expression)) {}

const FoundType& TypeFinder::find(const std::vector<std::string>& binaries) {
  std::vector<uint32_t> described;
  for (const std::string& path : binaries) {
    std::error_code unreadable;  // then it is no file of the kind that is looked for
    const uint32_t binary = binaries_.of(fileBacking(std::filesystem::weakly_canonical(path, unreadable)));
    if (binary != analysis::kNone && typed_.described(binary)) described.push_back(binary);
  }
  // Go's names of types have dots in them: the longest name that is one.
  for (size_t end = expression_.size(); end != std::string::npos && end > 0;
       end = expression_.rfind('.', end - 1)) {
    const std::string name = expression_.substr(0, end);
    const std::string member = end < expression_.size() ? expression_.substr(end + 1) : std::string();
    for (const uint32_t binary : described)
      if (findIn(binary, name, member)) return found_;
  }
  const std::string program = binaries.empty() ? "the program" : binaries.front();
  std::error_code unreadable;
  if (described.empty() ||
      binaries_.path(described.front()) != std::filesystem::weakly_canonical(program, unreadable))
    throw Error(ErrorKind::unreadable, program + " has no debug information: its types are unknown",
                "Compile with -g, or install the debug symbols of this build");
  throw Error(ErrorKind::usage, "no structure, class or union of the program is named " + expression_,
              "cacheline layout --list --in PROGRAM lists the types");
}

bool TypeFinder::findIn(uint32_t binary, const std::string& name, const std::string& member) {
  const std::vector<types::TypeId> named = typed_.types(binary).named(name);
  if (named.empty()) return false;
  if (named.size() > 1)
    throw Error(ErrorKind::usage,
                std::to_string(named.size()) + " types with different layouts are named " + name,
                "Write the name with its scopes and template arguments");
  const types::TypeTable& table = typed_.table(binary);
  const types::TypeId type = table.strip(named.front());
  const uint64_t size = table.sizeOf(type).value_or(0);
  if (size == 0)
    throw Error(ErrorKind::usage, name + " has no bytes that could be watched", "Name a type with members");
  MemberPlace place{0, size};
  if (!member.empty()) {
    const auto found = memberOf(table, type, member);
    if (!found)
      throw Error(ErrorKind::usage, name + " has no member " + member,
                  "cacheline layout " + name + " --in PROGRAM shows its members");
    if (found->size == 0)
      throw Error(ErrorKind::usage, name + "." + member + " has no bytes that could be watched",
                  "Name another member");
    place = *found;
  }
  if (place.size > kMostTraced)
    throw Error(ErrorKind::usage,
                expression_ + " has " + std::to_string(place.size) + " bytes, and at most " +
                    std::to_string(kMostTraced) + " can be traced",
                "Name a member: " + name + ".member");
  found_ = {table.nameOf(type), member, size, wordsOf(table, type, place)};
  if (found_.words.empty())
    throw Error(ErrorKind::usage, expression_ + " has no members that could be watched", "Name another type");
  return true;
}

std::optional<TypeFinder::Place> TypeFinder::placeOf(const std::vector<MappedPart>& parts, uint64_t address) {
  for (const MappedPart& part : parts) {
    if (address < part.start || address >= part.end || !part.path.starts_with('/')) continue;
    Place place;
    place.binary = binaries_.of(fileBacking(part.path));
    if (place.binary == analysis::kNone || !typed_.described(place.binary) ||
        !binaries_.elfAddress(place.binary, address - part.start + part.fileOffset, place.elfAddress))
      return std::nullopt;
    return place;
  }
  return std::nullopt;
}

bool TypeFinder::isWanted(uint32_t binary, types::TypeId type) {
  const types::TypeTable& table = typed_.table(binary);
  return table.sizeOf(type) == found_.size && table.nameOf(table.strip(type)) == found_.name;
}

/// Where in `type` the wanted one is, at whatever depth.
std::optional<uint64_t> TypeFinder::offsetIn(uint32_t binary, types::TypeId type) {
  if (isWanted(binary, type)) return 0;
  const types::TypeTable& table = typed_.table(binary);
  const uint64_t size = table.sizeOf(type).value_or(0);
  if (size < found_.size || size > kLargestHolder) return std::nullopt;
  for (const types::TypeId wanted : typed_.types(binary).named(found_.name))
    for (uint64_t offset = 0; offset + found_.size <= size; offset += kStep)
      if (types::contains(table, table.strip(type), offset, table.strip(wanted))) return offset;
  return std::nullopt;
}

/// By the innermost function that has more to say of it than that it is bytes.
std::optional<uint64_t> TypeFinder::placeIn(const std::vector<MappedPart>& parts,
                                            std::span<const uint64_t> frames, uint64_t size) {
  for (const uint64_t frame : frames.first(std::min(frames.size(), kMostCallers))) {
    const auto call = placeOf(parts, frame - 1);
    if (!call) continue;
    if (isPool(analysis::nameOf(typed_.module(call->binary), call->elfAddress))) return std::nullopt;
    const auto allocated = typed_.live(call->binary).allocatedBy(call->elfAddress + 1, size);
    const bool bytes = typed_.table(call->binary).sizeOf(allocated.type) == 1;
    if (!bytes && allocated.type != types::kNoType) {
      const auto offset = offsetIn(call->binary, allocated.type);
      return offset ? std::optional(allocated.head + *offset) : std::nullopt;
    }
    if (allocated.kept) return std::nullopt;  // what the caller gets is something else
  }
  return std::nullopt;
}

std::vector<FoundVariable> TypeFinder::variables(const std::vector<MappedPart>& parts) {
  std::vector<FoundVariable> list;
  std::set<std::string> seen;
  for (const MappedPart& part : parts) {
    if (!part.path.starts_with('/') || !seen.insert(part.path).second) continue;
    const uint32_t binary = binaries_.of(fileBacking(part.path));
    if (binary == analysis::kNone || !typed_.described(binary)) continue;
    const symbols::ElfImage& image = *binaries_.image(binary);
    const auto bias = image.loadBias(part.start, part.end, part.fileOffset);
    if (!bias) continue;
    const types::TypeTable& table = typed_.table(binary);
    for (const symbols::Symbol& symbol : image.dataSymbols()) {
      if (symbol.size < found_.size) continue;
      const auto variable = typed_.types(binary).variableAt(symbol.address);
      if (!variable || variable->address != symbol.address) continue;
      types::TypeId type = table.strip(variable->type);
      if (table.kind(type) == types::Kind::array) type = table.strip(table[type].target);
      if (const auto offset = offsetIn(binary, type))
        list.push_back({variable->address + *bias + *offset, variable->name});
    }
  }
  return list;
}

}  // namespace cacheline::traces
