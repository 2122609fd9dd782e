// Names of allocators.
#include "heap/allocator_frames.h"

#include <algorithm>
#include <array>

namespace cacheline::heap {
namespace {

/// Whole names.
constexpr std::array<std::string_view, 36> kFunctions{"malloc",
                                                      "calloc",
                                                      "realloc",
                                                      "reallocarray",
                                                      "aligned_alloc",
                                                      "posix_memalign",
                                                      "memalign",
                                                      "valloc",
                                                      "pvalloc",
                                                      "strdup",
                                                      "strndup",
                                                      "__strdup",
                                                      "__strndup",
                                                      "mmap",
                                                      "mmap64",
                                                      "mremap",
                                                      "operator new",
                                                      "operator new[]",
                                                      "__libc_malloc",
                                                      "__libc_calloc",
                                                      "__libc_realloc",
                                                      "_Znwm",
                                                      "_Znam",
                                                      "_ZnwmSt11align_val_t",
                                                      "_ZnamSt11align_val_t",
                                                      "__rust_alloc",
                                                      "__rust_realloc",
                                                      "__rust_alloc_zeroed",
                                                      "__rdl_alloc",
                                                      "__rdl_realloc",
                                                      "__rdl_alloc_zeroed",
                                                      "exchange_malloc",
                                                      "runtime.mallocgc",
                                                      "runtime.newobject",
                                                      "runtime.makeslice",
                                                      "runtime.growslice"};

/// Beginnings of qualified names; what follows is a type, a method or template arguments.
constexpr std::array<std::string_view, 30> kPrefixes{"__gnu_cxx::new_allocator",
                                                     "__gnu_cxx::__aligned_membuf",
                                                     "__gnu_cxx::__alloc_traits",
                                                     "std::__new_allocator",
                                                     "std::allocator",
                                                     "std::__allocate_guarded",
                                                     "std::__allocated_ptr",
                                                     "std::_Vector_base",
                                                     "std::_Deque_base",
                                                     "std::pmr::",
                                                     "std::__detail::_Hashtable_alloc",
                                                     "std::__cxx11::basic_string",
                                                     "std::basic_string",
                                                     "std::vector",
                                                     "std::deque",
                                                     "std::make_unique",
                                                     "std::make_shared",
                                                     "std::allocate_shared",
                                                     "std::__shared_ptr",
                                                     "std::shared_ptr",
                                                     "std::__shared_count",
                                                     "std::_Sp_",
                                                     "std::_Rb_tree",
                                                     "std::_Hashtable",
                                                     "std::__1::",
                                                     "alloc::alloc",
                                                     "alloc::raw_vec",
                                                     "alloc::vec",
                                                     "alloc::boxed",

                                                     "runtime.malloc"};

/// The name without parameters, without what is in angle brackets behind it, and without a return type.
std::string_view bareName(std::string_view function) {
  // "void* operator new<...>" and "operator()(...)" keep their spaces and parentheses.
  if (const size_t at = function.find("operator new"); at != std::string_view::npos)
    return function.substr(at, function.substr(at).starts_with("operator new[]") ? 14 : 12);
  size_t depth = 0, start = 0;
  for (size_t i = 0; i < function.size(); i++) {
    const char c = function[i];
    if (c == '<' && i > 0) depth++;
    if (c == '>' && depth > 0) depth--;
    if (depth > 0) continue;
    if (c == '(' && i > start) return function.substr(start, i - start);
    if (c == ' ') start = i + 1;
  }
  return function.substr(start);
}

}  // namespace

bool isAllocatorFrame(std::string_view function, std::string_view object) {
  if (object.find("libcacheline_heap.so") != std::string_view::npos) return true;
  if (function.starts_with("<alloc::")) return true;  // "<alloc::T as Trait>::method" of Rust
  const std::string_view name = bareName(function);
  if (std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end()) return true;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace cacheline::heap
