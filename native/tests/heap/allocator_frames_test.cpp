// Which functions count as allocators.
#include "heap/allocator_frames.h"

#include <gtest/gtest.h>

namespace cacheline::heap::test {
namespace {

TEST(AllocatorFrames, FunctionsOfLibcAndTheirCxxForms) {
  for (const char* name :
       {"malloc", "calloc", "realloc", "posix_memalign", "operator new", "operator new(unsigned long)",
        "operator new[](unsigned long, std::align_val_t)", "_Znwm", "strdup", "mmap"})
    EXPECT_TRUE(isAllocatorFrame(name, "")) << name;
}

TEST(AllocatorFrames, TheWayFromAContainerToMalloc) {
  for (const char* name :
       {"std::__new_allocator<Worker>::allocate(unsigned long, void const*)",
        "__gnu_cxx::new_allocator<Worker>::allocate", "std::allocator_traits<std::allocator<int> >::allocate",
        "std::vector<Worker, std::allocator<Worker> >::_M_realloc_insert<Worker>",
        "void std::vector<int>::emplace_back<int>(int&&)",
        "std::_Vector_base<int, A>::_M_allocate(unsigned long)", "std::make_unique<Thing>",
        "std::__cxx11::basic_string<char>::_M_create(unsigned long&, unsigned long)",
        "std::__1::allocator<int>::allocate[abi:v160006]"})
    EXPECT_TRUE(isAllocatorFrame(name, "program")) << name;
}

TEST(AllocatorFrames, RustAndGo) {
  for (const char* name :
       {"alloc::alloc::alloc", "alloc::alloc::Global::alloc_impl", "alloc::raw_vec::RawVec<T,A>::grow_one",
        "alloc::boxed::Box<T>::new", "<alloc::alloc::Global as core::alloc::Allocator>::allocate",
        "__rust_alloc", "__rdl_alloc", "runtime.mallocgc", "runtime.newobject",
        "runtime.mallocgcSmallNoscan"})
    EXPECT_TRUE(isAllocatorFrame(name, "")) << name;
}

TEST(AllocatorFrames, FunctionsOfTheProgramAreNone) {
  for (const char* name :
       {"main", "make_workers(int)", "pool::malloc_worker", "xmalloc", "Allocator::allocate", "main::work",
        "main.work", "std::thread::_M_run", "operator delete(void*)",
        "Worker::operator()(std::vector<int>&) const", "mallocator", ""})
    EXPECT_FALSE(isAllocatorFrame(name, "program")) << name;
}

TEST(AllocatorFrames, TheAgentItself) {
  EXPECT_TRUE(isAllocatorFrame("anything", "/usr/lib/libcacheline_heap.so"));
}

}  // namespace
}  // namespace cacheline::heap::test
