/* Whether the process has code of Go's. Goroutines run on stacks of 2 KiB and more, on which a signal's frame
   has no place; Go has its own handlers run elsewhere, but ours would run there. So nothing is sampled. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>

#include "record/agent/sampler.h"

#define GO_BUILD_ID 4u /* the type of the note "Go" */
#define MOST_SECTIONS 96
#define MOST_NAMES 4096

static int has_go_note(const char* at, const char* end) {
  while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr)* note = (const void*)at;
    const uint64_t name = ((uint64_t)note->n_namesz + 3) & ~3ull,
                   text = ((uint64_t)note->n_descsz + 3) & ~3ull;
    const uint64_t size = sizeof *note + name + text;
    if (size > (uint64_t)(end - at)) return 0;
    if (note->n_type == GO_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "Go\0", 4) == 0) return 1;
    at += size;
  }
  return 0;
}

/* Notes may lie where nothing is loaded. */
static int is_loaded(const struct dl_phdr_info* object, const ElfW(Phdr) * notes) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    if (header->p_type == PT_LOAD && notes->p_vaddr >= header->p_vaddr &&
        notes->p_vaddr + notes->p_memsz <= header->p_vaddr + header->p_memsz)
      return 1;
  }
  return 0;
}

static unsigned long long objects_added(const struct dl_phdr_info* object, size_t size) {
  return size >= offsetof(struct dl_phdr_info, dlpi_subs) ? object->dlpi_adds : 0;
}

static _Atomic unsigned long long looked_at; /* objects_added then: nothing was loaded since */

struct search {
  int found;
  unsigned long long added;
};

static int look(struct dl_phdr_info* object, size_t size, void* argument) {
  struct search* search = argument;
  const unsigned long long added = objects_added(object, size);
  if (added != 0 && added == atomic_load_explicit(&looked_at, memory_order_relaxed)) return 1;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr)* header = &object->dlpi_phdr[i];
    const char* notes = (const char*)(object->dlpi_addr + header->p_vaddr);
    if (header->p_type == PT_NOTE && is_loaded(object, header) &&
        has_go_note(notes, notes + header->p_memsz)) {
      search->found = 1;
      return 1;
    }
  }
  search->added = added;
  return 0;
}

int go_is_loaded(void) {
  struct search search = {0, 0};
  dl_iterate_phdr(look, &search);
  if (!search.found && search.added != 0)
    atomic_store_explicit(&looked_at, search.added, memory_order_relaxed);
  return search.found;
}

static int read_at(int fd, void* to, size_t size, uint64_t offset) {
  return (size_t)direct(SYS_pread64, fd, to, size, offset) == size;
}

static int is_go_section(const char* name) {
  return strcmp(name, ".go.buildinfo") == 0 || strcmp(name, ".gopclntab") == 0;
}

/* Files whose build ID was left out (-ldflags=-buildid=) have no note. */
static int has_go_section(int fd) {
  static ElfW(Shdr) sections[MOST_SECTIONS];
  static char names[MOST_NAMES];
  ElfW(Ehdr) header;
  if (!read_at(fd, &header, sizeof header, 0) || header.e_shentsize != sizeof *sections) return 0;
  if (header.e_shnum > MOST_SECTIONS || header.e_shstrndx >= header.e_shnum) return 0;
  if (!read_at(fd, sections, header.e_shnum * sizeof *sections, header.e_shoff)) return 0;
  const ElfW(Shdr)* strings = &sections[header.e_shstrndx];
  const size_t size = strings->sh_size < MOST_NAMES ? strings->sh_size : MOST_NAMES - 1;
  if (!read_at(fd, names, size, strings->sh_offset)) return 0;
  for (uint32_t i = 0; i < header.e_shnum; i++)
    if (sections[i].sh_name < size && is_go_section(names + sections[i].sh_name)) return 1;
  return 0;
}

int go_is_program(void) {
  const int fd = (int)direct(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  const int found = has_go_section(fd);
  direct(SYS_close, fd);
  return found;
}
