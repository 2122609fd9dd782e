/* The functions that ours stand in front of. dlsym is not async-signal-safe, and programs call many of ours
   in their signal handlers: so all are found when the agent is loaded, or in the first call that the
   initializer of another library makes before. */
#include <dlfcn.h>

#include "record/agent/sampler.h"

extern struct real_function __start_real_functions[] __attribute__((visibility("hidden")));
extern struct real_function __stop_real_functions[] __attribute__((visibility("hidden")));

void* real_functions_find(struct real_function* function) {
  for (struct real_function* each = __start_real_functions; each != __stop_real_functions; each++)
    if (each->found == NULL)
      atomic_store_explicit(&each->found, dlsym(RTLD_NEXT, each->name), memory_order_relaxed);
  dlerror(); /* what this libc does not have is no error of the program */
  return function->found;
}

__attribute__((constructor(101))) static void start(void) {
  real_functions_find(__start_real_functions);
  process_ready();
}
