// A compiled program and its types, for the tests of native/types.
#pragma once

#include <memory>
#include <string>

#include "fixture.h"
#include "layouts/binary_types.h"
#include "types/field_path.h"

namespace cacheline::types::test {

using symbols::test::compile;
using symbols::test::haveTool;
using symbols::test::TempDir;

class Program {
 public:
  explicit Program(const std::string& binary);
  /// Compiles `source` ("c", "cpp") with `-g` and the flags as a shared object: it needs no main().
  Program(const TempDir& dir, const std::string& extension, const std::string& source,
          const std::string& flags = "", const std::string& compiler = "");

  layouts::BinaryTypes& types() { return *types_; }
  TypeTable& table() { return types_->table(); }
  symbols::Module& module() { return *module_; }
  /// Type of the variable with this symbol name (mangled); the test fails where it is not found.
  TypeId variable(const std::string& symbol);
  /// Its type's definition, stripped.
  const Type& typeOf(const std::string& symbol);
  /// "path type, path type" of the fields at a place of a variable.
  std::string fields(const std::string& symbol, uint64_t offset, uint32_t width);

 private:
  std::shared_ptr<symbols::Module> module_;
  std::unique_ptr<layouts::BinaryTypes> types_;
};

/// "name@offset:size" of each member, a bit-field as "name@offset.bit:bits".
std::string membersText(const Type& type);

}  // namespace cacheline::types::test
