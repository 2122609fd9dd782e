// Opens the binary, asks, and says what is missing.
#include "layouts/queries.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/json_writer.h"
#include "layouts/binary_types.h"
#include "symbols/dwarf_index.h"
#include "symbols/split_files.h"
#include "types/type_reader.h"
#include "types/written_names.h"

namespace cacheline::layouts {

using types::TypeId;
using types::TypeTable;

namespace {

class OpenBinary {
 public:
  explicit OpenBinary(const std::string& path) : path_(path), module_(open(path)) {
    if (module_->dwarf() == nullptr)
      throw Error(ErrorKind::unreadable, module_->problem(),
                  module_->nextStep().empty() ? "Compile with -g, or install the debug symbols of this build."
                                              : module_->nextStep());
    if (const auto& missing = module_->dwarf()->missingSupplement(); !missing.name.empty())
      throw Error(ErrorKind::unreadable,
                  "The types of " + path + " continue in " + missing.name + ", which " + missing.why + ".",
                  missing.next);
    types_ = std::make_unique<BinaryTypes>(*module_);
  }

  BinaryTypes& types() { return *types_; }

  /// Throws where a part of the debug information was not found.
  void requireAll() {
    if (const auto problem = missing()) throw Error(ErrorKind::unreadable, problem->what, problem->next);
  }

  /// With what is missing of the debug information, where a member has a type that is not known.
  std::string layoutJsonOf(TypeId type, const LayoutOptions& options,
                           std::vector<std::string> differsIn = {}) {
    Layout layout = layoutOf(types_->table(), type, options);
    const auto isOpen = [](const LayoutMember& member) {
      return member.incomplete || member.type.find(types::kUnreadName) != std::string::npos;
    };
    if (std::any_of(layout.members.begin(), layout.members.end(), isOpen)) layout.missing = missing();
    layout.differsIn = std::move(differsIn);
    return layoutJson(layout);
  }

  /// Null where nothing is missing.
  std::optional<symbols::SplitProblem> missing() const {
    const auto files = types_->missing();
    return files.empty() ? std::nullopt : std::optional(symbols::splitProblem(path_, files));
  }

 private:
  static std::shared_ptr<symbols::Module> open(const std::string& path) {
    try {
      symbols::SymbolSearch search;
      return symbols::Module::of(path, {symbols::ElfImage::open(path), false, {}}, search);
    } catch (const Error& error) {
      throw Error(ErrorKind::unreadable, std::string(error.what()) + ".",
                  "Name an ELF executable, a shared library, an object file or a debug file.");
    }
  }

  std::string path_;
  std::shared_ptr<symbols::Module> module_;
  std::unique_ptr<BinaryTypes> types_;
};

class JsonAnswer : JsonWriter {
 public:
  /// `name`: of the list.
  explicit JsonAnswer(const char* name) {
    open();
    beginList(name);
  }
  using JsonWriter::close;
  using JsonWriter::element;
  using JsonWriter::field;
  using JsonWriter::open;
  using JsonWriter::raw;
  /// With what was not found. To be called last: where an index was kept, what is gone since is known when it
  /// is read.
  std::string finish(const OpenBinary& binary) {
    endList();
    beginList("missing");
    if (const auto problem = binary.missing()) {
      open();
      field("message", problem->what);
      field("nextStep", problem->next);
      close();
    }
    endList();
    close();
    return take();
  }
};

/// The structure that a variable's hover shows: what it points to, or the element of an array.
TypeId structureOf(const TypeTable& table, TypeId type) {
  TypeId at = table.strip(type);
  if (table[at].kind == types::Kind::array) at = table.strip(table[at].target);
  if (const TypeId pointee = table.pointee(at); pointee != types::kNoType) at = pointee;
  return at;
}

Error incomplete(const std::string& name, const std::string& binary) {
  return {ErrorKind::unreadable,
          name + " is incomplete in " + binary + ": it is declared there, but not defined.",
          "Compile the source that defines it with -g (clang: -fstandalone-debug), and link it in."};
}

/// What typedefs with this name stand for. Throws where that, or an enumeration or basic type with the name,
/// has no members.
std::vector<TypeId> structuresOf(OpenBinary& open, const std::string& name, const std::string& binary) {
  const TypeTable& table = open.types().table();
  std::vector<TypeId> structures;
  const std::vector<TypeId> all = open.types().plainNamed(name);
  for (const TypeId type : all) {
    const TypeId stripped = table.strip(type);
    if (types::isAggregate(table.kind(stripped)) && !table[stripped].declaration)
      structures.push_back(stripped);
  }
  if (!structures.empty() || all.empty()) return structures;
  const TypeId stripped = table.strip(all.front());
  if (types::isAggregate(table.kind(stripped))) {
    open.requireAll();
    throw incomplete(name, binary);
  }
  const std::string kind = types::kindName(table.kind(stripped)), target = table.nameOf(stripped);
  const bool isItsName =
      table.kind(all.front()) == types::Kind::typedefOf && table.nameOf(all.front()) == target;
  const std::string article = kind.find_first_of("aeu") == 0 ? "an " : "a ";
  throw Error(ErrorKind::unreadable,
              name + " is " + (target == name || isItsName ? article + kind : "the " + kind + " " + target) +
                  " in " + binary + ", not a structure: it has no members.",
              "Name a structure, class or union; cacheline layout --list --in " + binary + " lists them.");
}

/// The name with what the typedefs among its template arguments stand for.
std::string spelledOut(BinaryTypes& types, const std::string& name) {
  return types::withArguments(name, [&](std::string_view argument) {
    const std::string written(argument);
    const std::vector<TypeId> meant = types.plainNamed(written);
    return meant.empty() ? written : types.table().nameOf(types.table().strip(meant.front()));
  });
}

}  // namespace

std::string layoutsJson(const std::string& binary, const std::string& name, const LayoutOptions& options) {
  OpenBinary open(binary);
  std::vector<TypeId> found = open.types().named(name);
  if (found.empty()) found = structuresOf(open, name, binary);
  if (found.empty()) found = open.types().named(spelledOut(open.types(), name));
  if (found.empty()) {
    open.requireAll();
    if (open.types().isDeclared(name)) throw incomplete(name, binary);
  }
  // duplicates that look alike differ in structures inside: these are opened, and named.
  LayoutSignatures& signatures = open.types().signatures();
  std::vector<std::vector<std::string>> differsIn(found.size());
  LayoutOptions shown = options;
  shown.openUnnamed = true;
  const auto areDuplicates = [&](TypeId one, TypeId other) {
    const TypeTable& table = open.types().table();
    return table.nameOf(one) == table.nameOf(other) && signatures.of(one) != signatures.of(other) &&
           signatures.lookAlike(one, other);
  };
  for (size_t i = 0; i < found.size(); i++) {
    const auto duplicate = std::find_if(found.begin(), found.end(), [&](TypeId other) {
      return other != found[i] && areDuplicates(found[i], other);
    });
    if (duplicate == found.end()) continue;
    shown.expand = true;
    differsIn[i] = signatures.differing(found[i], *duplicate);
  }
  JsonAnswer answer("layouts");
  for (size_t i = 0; i < found.size(); i++)
    answer.element(open.layoutJsonOf(found[i], shown, std::move(differsIn[i])));
  return answer.finish(open);
}

std::string typesJson(const std::string& binary) {
  OpenBinary open(binary);
  const std::vector<TypeSummary> all = open.types().list();
  if (all.empty()) open.requireAll();
  const uint64_t lineSize = LayoutOptions{}.lineSize;
  JsonAnswer answer("types");
  for (const TypeSummary& type : all) {
    answer.open();
    answer.field("name", type.name);
    answer.field("kind", type.kind);
    answer.field("size", type.size);
    answer.field("lines", type.size / lineSize + (type.size % lineSize != 0 ? 1 : 0));
    answer.field("file", type.file);
    answer.field("line", type.line);
    answer.close();
  }
  return answer.finish(open);
}

std::string declarationsJson(const std::string& binary, const std::string& file,
                             const LayoutOptions& options) {
  OpenBinary open(binary);
  const std::vector<Declared> all = open.types().declaredIn(file);
  if (all.empty()) open.requireAll();
  const TypeTable& table = open.types().table();
  std::unordered_map<TypeId, std::string> layouts;
  JsonAnswer answer("declarations");
  for (const Declared& declared : all) {
    // A typedef of an anonymous structure is the type's only name.
    const TypeId type = declared.variable.empty() ? declared.type : structureOf(table, declared.type);
    const auto [known, isNew] = layouts.try_emplace(type);
    if (isNew) known->second = open.layoutJsonOf(type, options);
    answer.open();
    answer.field("variable", declared.variable);
    answer.field("file", declared.file);
    answer.field("line", declared.line);
    answer.raw("layout", known->second);
    answer.close();
  }
  return answer.finish(open);
}

}  // namespace cacheline::layouts
