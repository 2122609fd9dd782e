/* Calls that change what is mapped where something was before: what is recorded of it is then old. */
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "record/agent/sampler.h"

/* A library that is loaded shows itself by its code; one that goes makes room for another at its place. */
AGENT_EXPORT int dlclose(void* library) {
  const int result = REAL(dlclose)(library);
  maps_stale(1);
  return result;
}

AGENT_EXPORT void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset) {
  void* place = REAL(mmap)(address, size, protection, flags, fd, offset);
  maps_stale(0);
  return place;
}

AGENT_EXPORT void* mmap64(void* address, size_t size, int protection, int flags, int fd, off64_t offset) {
  void* place = REAL(mmap64)(address, size, protection, flags, fd, offset);
  maps_stale(0);
  return place;
}

AGENT_EXPORT void* mremap(void* old, size_t old_size, size_t size, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void*) : NULL;
  va_end(list);
  void* place = REAL(mremap)(old, old_size, size, flags, wanted);
  maps_stale(0);
  return place;
}

AGENT_EXPORT void* shmat(int id, const void* address, int flags) {
  void* place = REAL(shmat)(id, address, flags);
  maps_stale(0);
  return place;
}
