// Template arguments of classes whose compiler left them out of their names: clang's -gsimple-template-names.
#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <string>

namespace cacheline::types {

/// The readable name of a type DIE, with its scopes.
using NameOfType = std::function<std::string(const Dwarf_Die& type)>;

/// "<app::Point, 4>" as clang would have written it; empty where the class has no arguments, or its name says
/// them. Arguments of which DWARF has no value are "?": clang keeps the names of classes with such.
std::string templateArguments(Dwarf_Die die, const NameOfType& nameOf);

}  // namespace cacheline::types
