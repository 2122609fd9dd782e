// The index of heap blocks.
#include "heap/allocations.h"
