// Readable names of symbols in Rust's v0 mangling (RFC 2603 and "v0 Symbol Format" of the rustc book).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cacheline::symbols {

/// `_R...` as Rust writes it, without the hashes of crates, the types of constants, and what is appended to a
/// symbol (".llvm.1234"); empty where `name` is not one, or stands for more than `longest` bytes.
std::string demangleRustV0(std::string_view name, size_t longest);

}  // namespace cacheline::symbols
