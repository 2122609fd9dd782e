/* Perf records other than samples (linux/perf_event.h, PERF_RECORD_*), each with its sample_id trailer. */
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#define MAX_PATH 4000u /* a record's size has 16 bits, and a ring some pages */

static uint32_t padded(size_t size) {
  return (uint32_t)((size + 7) & ~(size_t)7);
}

uint32_t this_cpu(void) {
  const int cpu = sched_getcpu();
  return cpu < 0 ? 0 : (uint32_t)cpu;
}

/* The record's head; its body begins at the result. NULL where there is no room. */
static void* begin(uint32_t type, uint32_t misc, uint32_t size) {
  struct perf_event_header* header = slot_reserve(size);
  if (header == NULL) return NULL;
  *header = (struct perf_event_header){.type = type, .misc = (uint16_t)misc, .size = (uint16_t)size};
  return header + 1;
}

static void finish(void* body, uint32_t size, uint64_t time) {
  char* record = (char*)body - sizeof(struct perf_event_header);
  const struct sampler_trailer trailer = {.pid = process.pid,
                                          .tid = thread.tid,
                                          .time = time,
                                          .cpu = this_cpu(),
                                          .reserved = 0,
                                          .identifier = SAMPLER_EVENT_ID};
  memcpy(record + size - sizeof trailer, &trailer, sizeof trailer);
  slot_commit(size);
}

void put_task(uint32_t type, uint32_t parent, uint32_t parent_thread, uint64_t time) {
  const struct {
    uint32_t pid, parent, tid, parent_thread;
    uint64_t time;
  } task = {process.pid, parent, thread.tid, parent_thread, time};
  const uint32_t size = sizeof(struct perf_event_header) + sizeof task + sizeof(struct sampler_trailer);
  void* body = begin(type, 0, size);
  if (body == NULL) return;
  memcpy(body, &task, sizeof task);
  finish(body, size, time);
}

void put_name(int exec, uint64_t time) {
  struct {
    uint32_t pid, tid;
    char name[16];
  } comm = {process.pid, thread.tid, {0}};
  if (direct(SYS_prctl, PR_GET_NAME, comm.name) != 0) return;
  if (!exec && memcmp(comm.name, thread.name, sizeof comm.name) == 0) return;
  const uint32_t size = sizeof(struct perf_event_header) + sizeof comm + sizeof(struct sampler_trailer);
  void* body = begin(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, size);
  if (body == NULL) return;
  memcpy(thread.name, comm.name, sizeof comm.name);
  memcpy(body, &comm, sizeof comm);
  finish(body, size, time);
}

int put_mapping(const struct mapping* mapping, uint64_t time) {
  struct {
    uint32_t pid, tid;
    uint64_t start, length, offset;
    uint32_t major, minor;
    uint64_t inode, generation;
    uint32_t protection, flags;
  } map = {process.pid,
           thread.tid,
           mapping->start,
           mapping->end - mapping->start,
           mapping->offset,
           mapping->major,
           mapping->minor,
           mapping->inode,
           0,
           mapping->protection,
           mapping->flags};
  const size_t length = strnlen(mapping->name, MAX_PATH);
  const uint32_t name = padded(length + 1), executable = mapping->protection & 4;
  const uint32_t size = sizeof(struct perf_event_header) + sizeof map + name + sizeof(struct sampler_trailer);
  char* body =
      begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (executable ? 0 : PERF_RECORD_MISC_MMAP_DATA), size);
  if (body == NULL) return 0;
  memcpy(body, &map, sizeof map);
  memset(body + sizeof map + name - 8, 0, 8);
  memcpy(body + sizeof map, mapping->name, length);
  finish(body, size, time);
  return 1;
}
