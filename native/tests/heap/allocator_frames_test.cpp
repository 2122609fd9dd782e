// Which functions count as allocators, and which as code of a standard library.
#include "heap/allocator_frames.h"

#include <gtest/gtest.h>

namespace cacheline::heap::test {
namespace {

constexpr FrameKind allocator = FrameKind::allocator, library = FrameKind::library,
                    ofProgram = FrameKind::program;

const char* const kHeader = "/usr/include/c++/12/bits/stl_map.h";
const char* const kRust = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/string.rs";

TEST(AllocatorFrames, FunctionsOfLibcAndTheirCxxForms) {
  for (const char* name : {"malloc", "calloc", "realloc", "posix_memalign", "operator new",
                           "operator new(unsigned long)", "operator new[](unsigned long, std::align_val_t)",
                           "Worker::operator new(unsigned long)", "_Znwm", "strdup", "mmap", "__rdl_alloc"})
    EXPECT_EQ(frameKind(name, "", "program"), allocator) << name;
}

TEST(AllocatorFrames, EverythingInSharedObjectsOfTheRuntime) {
  for (const char* object : {"libc.so.6", "/lib/x86_64-linux-gnu/libstdc++.so.6", "ld-linux-x86-64.so.2",
                             "libc++.so.1", "/usr/lib/libcacheline_heap.so"})
    EXPECT_EQ(frameKind("anything", "", object), allocator) << object;
  EXPECT_EQ(frameKind("anything", "", "libcurl.so.4"), ofProgram);
}

TEST(AllocatorFrames, CodeOfTheCxxLibrary) {
  for (const char* name :
       {"std::__new_allocator<Worker>::allocate(unsigned long, void const*)",
        "__gnu_cxx::new_allocator<Worker>::allocate", "std::allocator_traits<std::allocator<int> >::allocate",
        "void std::vector<int>::emplace_back<int>(int&&)", "std::make_unique<Thing>",
        "std::map<int, Obj>::operator[](int const&)", "std::__detail::_Map_base<int, Obj>::operator[](int&&)",
        "std::__cxx11::_List_base<Obj, std::allocator<Obj> >::_M_get_node()", "std::any::any<Obj>(Obj&&)",
        "std::function<void (int)>::operator()(int) const", "std::pmr::memory_resource::allocate",
        "std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
        "std::__1::allocator<int>::allocate[abi:v160006]",
        "std::basic_ostream<char>& std::operator<< <std::char_traits<char> >(std::basic_ostream<char>&, "
        "char)",
        "decltype (f(a)) std::invoke<F>(F&&)", "std::function<user::A (user::B)>::operator bool() const"})
    for (const char* file : {"", kHeader, "/usr/lib/gcc/x86_64-pc-linux-gnu/13/include/g++-v13/map",
                             "/src/third_party/libc++/src/include/__tree"})
      EXPECT_EQ(frameKind(name, file, "program"), library) << name << ' ' << file;
}

TEST(AllocatorFrames, TemplatesOfStdThatTheProgramSpecialised) {
  EXPECT_EQ(frameKind("std::hash<Key>::operator()(Key const&) const", "/home/me/src/key.h", "program"),
            ofProgram);
  EXPECT_EQ(frameKind("std::hash<Key>::operator()(Key const&) const", "c++.cpp", "program"), ofProgram);
  EXPECT_EQ(frameKind("std::hash<int>::operator()(int) const", kHeader, "program"), library);
}

TEST(AllocatorFrames, CodeOfRustAndGo) {
  for (const char* name :
       {"alloc::alloc::alloc", "alloc::raw_vec::RawVec<T,A>::grow_one", "alloc::boxed::Box<T>::new",
        "alloc::slice::<impl [T]>::to_vec", "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
        "<alloc::raw_vec::RawVecInner>::try_allocate_in", "core::iter::traits::iterator::Iterator::collect",
        "<alloc::vec::Vec<user::T> as alloc::vec::spec_from_iter::SpecFromIter<user::T, I>>::from_iter",
        "<[u8]>::to_vec", "<u64 as <[_]>::to_vec_in::ConvertVec>::to_vec",
        "<&T as alloc::string::ToString>::to_string", "hashbrown::raw::RawTable<T,A>::reserve",
        "std::thread::spawn", "__rust_alloc", "__rustc::__rust_alloc", "runtime.mallocgc",
        "runtime.newobject"})
    for (const char* file : {"", kRust}) EXPECT_EQ(frameKind(name, file, "program"), library) << name;
  // The trait is the library's and the type the program's: either may implement it.
  const char* const clone = "<user::T as core::clone::Clone>::clone";
  EXPECT_EQ(frameKind(clone, "src/main.rs", "program"), ofProgram);
  const char* const blanket = "<user::T as alloc::string::ToString>::to_string";
  EXPECT_EQ(frameKind(blanket, kRust, "program"), library);
  EXPECT_EQ(frameKind("<alloc::vec::Vec<u8> as user::Grow>::grow", "src/main.rs", "program"), ofProgram);
  EXPECT_EQ(frameKind("<user::T>::new", kRust, "program"), ofProgram) << "a macro of the library, vec![]";
}

TEST(AllocatorFrames, FunctionsOfTheProgram) {
  for (const char* name :
       {"main", "make_workers(int)", "pool::malloc_worker", "xmalloc", "Allocator::allocate", "main::work",
        "main.work", "operator delete(void*)", "Worker::operator()(std::vector<int>&) const", "mallocator",
        "", "main::{lambda()#1}::operator()() const", "(anonymous namespace)::make(std::map<int, int>&)",
        "std::vector<int> user::make<std::map<int, int> >(int)", "user::A::operator std::vector<int>() const",
        "main::main::{{closure}}", "standard::make()", "core::Engine::start()", "alloc::pool(int)"})
    EXPECT_EQ(frameKind(name, "", "program"), ofProgram) << name;
  EXPECT_EQ(frameKind("core::start", "engine.cpp", "program"), ofProgram);
}

}  // namespace
}  // namespace cacheline::heap::test
