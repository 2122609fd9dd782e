// Helpers shared by the tests of native/types.
#include "types_fixture.h"

namespace cacheline::types::test {

Program::Program(const std::string& binary)
    : module_(symbols::Module::open(binary, "")), types_(std::make_unique<layouts::BinaryTypes>(*module_)) {}

Program::Program(const TempDir& dir, const std::string& extension, const std::string& source,
                 const std::string& flags, const std::string& compiler)
    : Program(compile(dir, "program", extension, source, "-g -shared -fPIC " + flags, compiler)) {}

TypeId Program::variable(const std::string& symbol) {
  const auto address = module_->image()->addressOfSymbol(symbol);
  EXPECT_TRUE(address) << symbol;
  const auto found = types_->variableAt(address.value_or(0));
  EXPECT_TRUE(found) << symbol;
  return found ? found->type : kNoType;
}

const Type& Program::typeOf(const std::string& symbol) {
  return table()[table().strip(variable(symbol))];
}

std::string Program::fields(const std::string& symbol, uint64_t offset, uint32_t width) {
  std::string text;
  for (const FieldPath& field : fieldsAt(table(), variable(symbol), offset, width))
    text += (text.empty() ? "" : ", ") + field.path + " " + table().nameOf(field.type);
  return text;
}

std::string membersText(const Type& type) {
  std::string text;
  for (const Member& member : type.members) {
    if (!text.empty()) text += " ";
    if (!member.variant.empty()) text += member.variant + ".";
    text += member.name + "@" + (member.located ? std::to_string(member.offset) : "?");
    text += member.bitSize != 0
                ? "." + std::to_string(member.bitOffset) + ":" + std::to_string(member.bitSize)
                : ":" + std::to_string(member.size);
  }
  return text;
}

}  // namespace cacheline::types::test
