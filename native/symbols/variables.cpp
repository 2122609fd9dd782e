// Variables are at file and namespace level (definitions of static members too) and inside functions and
// blocks.
#include "symbols/variables.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "symbols/child_lists.h"
#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/thread_locals.h"

namespace cacheline::symbols {
namespace {

/// The address that operation names, in the file or in its thread-local block: with a number or an index.
std::optional<uint64_t> addressOf(Dwarf_Attribute& location, const Dwarf_Op& operation) {
  Dwarf_Attribute indexed;
  Dwarf_Word number = 0;
  switch (operation.atom) {
    case DW_OP_addr:
    case DW_OP_const4u:
    case DW_OP_const8u:
      return operation.number;
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
    case DW_OP_constx:
    case DW_OP_GNU_const_index:
      // libdw gives the former as an address, the latter as a constant.
      if (dwarf_getlocation_attr(&location, &operation, &indexed) != 0 ||
          (dwarf_formaddr(&indexed, &number) != 0 && dwarf_formudata(&indexed, &number) != 0))
        return std::nullopt;
      return number;
    default:
      return std::nullopt;
  }
}

struct Location {
  uint64_t address = 0;
  bool threadLocal = false;  ///< an offset in the file's block
};

/// What a location expression names, where it is a constant of the program: an address and perhaps an offset,
/// or a place in thread-local storage. Anything more (an implicit pointer) is not memory there.
std::optional<Location> staticLocation(Dwarf_Attribute& location, const ElfFormat& format) {
  // The usual form is looked at in place: asking libdw for the expression would decode and keep each of them.
  Dwarf_Block block;
  if (dwarf_formblock(&location, &block) != 0 || block.length == 0) return std::nullopt;
  // libdw refuses it, too, where Go writes it as a plain block.
  const size_t width = format.wide ? sizeof(uint64_t) : sizeof(uint32_t);
  if (block.data[0] == DW_OP_addr && block.length == 1 + width)
    return Location{
        format.wide ? format.word<uint64_t>(block.data + 1) : format.word<uint32_t>(block.data + 1), false};
  const auto isAddress = [](uint8_t operation) {
    return operation == DW_OP_addr || operation == DW_OP_addrx || operation == DW_OP_GNU_addr_index;
  };
  const auto findsThreads = [](uint8_t operation) {
    return operation == DW_OP_form_tls_address || operation == DW_OP_GNU_push_tls_address;
  };
  if (!isAddress(block.data[0]) && !findsThreads(block.data[block.length - 1])) return std::nullopt;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_getlocation(&location, &ops, &count) != 0 || count == 0 || count > 2) return std::nullopt;
  const auto address = addressOf(location, ops[0]);
  if (!address) return std::nullopt;
  if (count == 2 && findsThreads(ops[1].atom)) return Location{*address, true};
  if (!isAddress(ops[0].atom) || (count == 2 && ops[1].atom != DW_OP_plus_uconst)) return std::nullopt;
  return Location{count == 2 ? *address + ops[1].number : *address, false};
}

bool canHoldVariables(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_common_block:
    case DW_TAG_structure_type:  // Rust puts methods, with their statics, into the type
    case DW_TAG_class_type:      // declarations of static members
      return true;
    default:
      return false;
  }
}

/// Number of elements of an array type, over all its dimensions.
std::optional<uint64_t> elementCount(Dwarf_Die array) {
  constexpr int kMostDimensions = 64;
  uint64_t count = 1;
  int dimensions = 0;
  Dwarf_Die range{}, next{};
  int status = dwarf_child(&array, &range);
  // What has children is no dimension: each array asked would go over all of them.
  for (int i = 0; status == 0 && dwarf_haschildren(&range) == 0; i++) {
    if (i == kMostDimensions) return std::nullopt;
    if (dwarf_tag(&range) == DW_TAG_subrange_type) {
      const auto length = dimensionLength(range);
      if (!length || __builtin_mul_overflow(count, *length, &count)) return std::nullopt;
      dimensions++;
    }
    status = dwarf_siblingof(&range, &next);
    range = next;
  }
  return dimensions != 0 ? std::optional(count) : std::nullopt;
}

std::string declaredName(const Dwarf_Die& die) {
  const char* name = alongChain(die, [](Dwarf_Die& at) { return stringAttribute(at, DW_AT_name); });
  return name != nullptr ? name : "";
}

IntervalMap mapOf(const std::vector<StaticVariable>& variables) {
  std::vector<Interval> intervals;
  intervals.reserve(variables.size());
  for (uint32_t id = 0; id < variables.size(); id++) {
    const StaticVariable& variable = variables[id];
    // Of unknown size: its first byte is known to be its own.
    const uint64_t size = variable.size != 0 ? variable.size : 1;
    const uint64_t high = variable.address + std::min(size, UINT64_MAX - variable.address);
    intervals.push_back({variable.address, high, size, id});
  }
  return IntervalMap(std::move(intervals));
}

/// Size in bytes of a type, through typedefs, qualifiers and arrays; nullopt where DWARF does not say or
/// cannot be right.
std::optional<uint64_t> typeSize(Dwarf_Die type) {
  uint64_t elements = 1;
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    uint64_t total = 0;
    if (const auto size = unsignedAttribute(type, DW_AT_byte_size)) {
      if (__builtin_mul_overflow(*size, elements, &total)) return std::nullopt;
      return total;
    }
    const int tag = dwarf_tag(&type);
    if (tag == DW_TAG_array_type) {
      const auto count = elementCount(type);
      if (!count || __builtin_mul_overflow(elements, *count, &elements)) return std::nullopt;
    } else if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
               tag == DW_TAG_rvalue_reference_type) {
      const uint64_t bytes = addressSizeOf(type);
      if (bytes == 0 || __builtin_mul_overflow(bytes, elements, &total)) return std::nullopt;
      return total;
    }
    auto next = referenceAttribute(type, DW_AT_signature);  // its definition is a type unit
    if (!next) next = referenceAttribute(type, DW_AT_type);
    if (!next) return std::nullopt;
    type = *next;
  }
  return std::nullopt;
}

Dwarf_Die stripped(Dwarf_Die type) {
  for (int hop = 0; hop < kLongestReferenceChain; hop++) {
    const int tag = dwarf_tag(&type);
    auto next = referenceAttribute(type, DW_AT_signature);
    if (!next && (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type))
      next = referenceAttribute(type, DW_AT_type);
    if (!next) break;
    type = *next;
  }
  return type;
}

std::optional<Dwarf_Die> typeOf(const Dwarf_Die& variable) {
  return alongChain(variable, [](Dwarf_Die& at) { return referenceAttribute(at, DW_AT_type); });
}

std::optional<uint64_t> sizeOf(const std::optional<Dwarf_Die>& type) {
  return type ? typeSize(*type) : std::nullopt;
}

class VariableSizes {
 public:
  explicit VariableSizes(const ElfImage& image) : image_(image) {}

  /// Of a variable at a fixed place. Its symbol's, where its unit only declares its class, and where it has
  /// more than its type.
  std::optional<uint64_t> at(const std::optional<Dwarf_Die>& type, uint64_t address) {
    const std::optional<uint64_t> size = sizeOf(type);
    const Symbol* symbol = image_.dataAt(address);
    if (symbol == nullptr || symbol->address != address || symbol->size <= size.value_or(0)) return size;
    return !size || endsInFlexibleArray(stripped(*type)) ? symbol->size : size;
  }

 private:
  /// A structure whose last member is an array of no stated length: an initialised object is larger than its
  /// type.
  bool endsInFlexibleArray(const Dwarf_Die& structure) {
    const auto [known, isNew] = flexibleArrays_.try_emplace(structure.addr, false);
    if (!isNew) return known->second;
    std::optional<Dwarf_Die> last;
    members_.walk(
        structure, [](int tag) { return tag == DW_TAG_member; },
        [&](Dwarf_Die& member) {
          last = referenceAttribute(member, DW_AT_type);
          return false;
        });
    if (!last) return false;
    Dwarf_Die array = stripped(*last);
    return known->second = dwarf_tag(&array) == DW_TAG_array_type && elementCount(array).value_or(0) == 0;
  }

  static constexpr uint64_t kMostBytes = 1 << 27;  ///< of members' DIEs: one question in many needs them
  const ElfImage& image_;
  ChildLists members_{kMostBytes};
  std::unordered_map<const void*, bool> flexibleArrays_;  ///< by the structure's place in memory
};

}  // namespace

VariableIndex::VariableIndex(const Units& units, const IntervalMap& data, const ElfFormat& format,
                             const ElfImage& image, Names& names) {
  std::vector<Dwarf_Die> declarations;
  VariableSizes sizes(image);
  for (const Dwarf_Die& root : units.roots()) {
    DieScan(root).walk(
        [](int tag) { return tag == DW_TAG_variable || canHoldVariables(tag); },
        [&](DieScan::Here& found) {
          if (found.tag != DW_TAG_variable) return true;
          Dwarf_Die& die = found.die;
          Dwarf_Attribute location;
          if (dwarf_attr(&die, DW_AT_location, &location) == nullptr) {
            if (dwarf_hasattr(&die, DW_AT_external) == 1 && dwarf_hasattr(&die, DW_AT_declaration) == 1)
              declarations.push_back(die);
            return false;
          }
          const auto place = staticLocation(location, format);
          if (!place || (!place->threadLocal && !data.find(place->address))) return false;
          const auto type = typeOf(die);
          const auto size = place->threadLocal ? sizeOf(type) : sizes.at(type, place->address);
          auto& variables = place->threadLocal ? threadLocals_ : variables_;
          variables.push_back({place->address, size.value_or(0), die});
          return false;
        },
        [](Dwarf_Off) {});
  }
  map_ = mapOf(variables_);
  addDeclared(declarations, image, names);
  // Those that the linker dropped are at 0, too: which one is there cannot be told.
  const auto isFirst = [](const StaticVariable& variable) { return variable.address == 0; };
  const auto first = std::find_if(threadLocals_.begin(), threadLocals_.end(), isFirst);
  if (std::any_of(first, threadLocals_.end(), [&](const StaticVariable& other) {
        return isFirst(other) && declaredName(other.die) != declaredName(first->die);
      }))
    std::erase_if(threadLocals_, isFirst);
  threadLocalMap_ = mapOf(threadLocals_);
}

void VariableIndex::addDeclared(const std::vector<Dwarf_Die>& declarations, const ElfImage& image,
                                Names& names) {
  struct Undescribed {
    uint64_t address, size;
    bool threadLocal;
  };
  std::unordered_map<std::string_view, Undescribed> undescribed;
  for (const Symbol& symbol : image.dataSymbols())
    if (!symbol.local && symbol.size != 0 && !map_.find(symbol.address))  // a versioned one: x@GLIBC_2.2.5
      undescribed.emplace(symbol.name.substr(0, symbol.name.find('@')),
                          Undescribed{symbol.address, symbol.size, false});
  for (const auto& [name, offset] : image.threadLocals().ofOthers())
    undescribed.emplace(name, Undescribed{offset, 0, true});
  const size_t defined = variables_.size();
  for (Dwarf_Die die : declarations) {
    const char* linkage = stringAttribute(die, DW_AT_linkage_name);
    const char* name = linkage != nullptr ? linkage : stringAttribute(die, DW_AT_name);
    const auto found = name != nullptr ? undescribed.find(name) : undescribed.end();
    if (found == undescribed.end()) continue;
    // A static member's declaration may have no linkage name: it is not the variable that has its plain name.
    if (linkage == nullptr && names.of(die) != name) continue;
    const auto& [address, size, threadLocal] = found->second;
    if (threadLocal)
      threadLocals_.push_back({address, sizeOf(typeOf(die)).value_or(0), die});
    else
      variables_.push_back({address, size, die});
    undescribed.erase(found);
  }
  if (variables_.size() != defined) map_ = mapOf(variables_);
}

const StaticVariable* VariableIndex::at(uint64_t address) const {
  const auto id = map_.find(address);
  return id ? &variables_[*id] : nullptr;
}

const StaticVariable* VariableIndex::threadLocalAt(uint64_t offset) const {
  const auto id = threadLocalMap_.find(offset);
  return id ? &threadLocals_[*id] : nullptr;
}

const StaticVariable* VariableIndex::threadLocalNamed(const std::string& name, Names& names) {
  if (!threadLocalNames_) {
    threadLocalNames_.emplace();
    for (const StaticVariable& variable : threadLocals_)
      // Every unit describes what a header defines.
      if (const auto [known, isNew] = threadLocalNames_->try_emplace(names.of(variable.die), &variable);
          !isNew && known->second != nullptr && known->second->address != variable.address)
        known->second = nullptr;
  }
  const auto found = threadLocalNames_->find(name);
  return found != threadLocalNames_->end() ? found->second : nullptr;
}

}  // namespace cacheline::symbols
