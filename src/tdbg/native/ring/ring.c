/* The ring. Producers are the framework's threads and the Python callbacks; the one consumer is the recorder's writer
   thread. */
#define _GNU_SOURCE
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/executions.h"
#include "ring/switches.h"

enum { HEADER_BYTES = 64 };
static const uint64_t BUSY = UINT64_MAX; /* in `ready`: somebody writes this slot */

typedef struct {
  tdbg_record *slots;
  uint64_t capacity;
  void *mapping; /* of a ring in a file */
  size_t mapping_bytes;
  bool block;
  _Atomic uint64_t tail, head, dropped, values_dropped, waits;
  _Atomic bool stuck; /* the writer did not come for 2 s: drop at once until it moves again */
} ring;

/* Producers read this once per record, so that a record never meets half of an old ring and half of a new one. */
static _Atomic(ring *) current;

static _Atomic uint64_t bad_events; /* tensors with NaN or infinity since the ring was opened */

uint64_t tdbg_bad_events(void) { return bad_events; }

void tdbg_count_bad_event(void) { bad_events++; }

static ring *ring_in_memory(uint64_t capacity) {
  ring *made = calloc(1, sizeof *made);
  if (made) made->slots = calloc(capacity, sizeof(tdbg_record));
  return made && made->slots ? made : (free(made), NULL);
}

static ring *ring_in_file(uint64_t capacity, const char *file) {
  size_t bytes = HEADER_BYTES + capacity * sizeof(tdbg_record);
  ring *made = calloc(1, sizeof *made);
  int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (!made || fd < 0) return free(made), NULL;
  /* Allocate now: a full disk must be an error here, not a SIGBUS in the middle of training. */
  int failed = posix_fallocate(fd, 0, (off_t)bytes);
  void *mapping = failed ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (!failed && mapping == MAP_FAILED) failed = errno;
  close(fd);
  if (failed) return free(made), errno = failed, NULL;
  uint64_t header[4] = {0x474e495247424454ull /* "TDBGRING" */, 1, sizeof(tdbg_record), capacity};
  memcpy(mapping, header, sizeof header);
  made->mapping = mapping;
  made->mapping_bytes = bytes;
  made->slots = (tdbg_record *)((char *)mapping + HEADER_BYTES);
  return made;
}

int tdbg_ring_open(uint64_t capacity, const char *file, bool block) {
  /* An observer of another thread may still be writing its last record into the ring that is replaced now, so that one
     is kept; the one before it, replaced a whole recording ago, is freed. */
  static ring *retired;
  ring *made = file ? ring_in_file(capacity, file) : ring_in_memory(capacity);
  if (!made) return -1;
  made->capacity = capacity;
  made->block = block;
  tdbg_executions_forget(); /* graphs are numbered anew */
  ring *old = atomic_exchange(&current, made);
  bad_events = 0;
  if (retired) {
    if (retired->mapping)
      munmap(retired->mapping, retired->mapping_bytes);
    else
      free(retired->slots);
    free(retired);
  }
  retired = old;
  return 0;
}

static _Thread_local int32_t this_thread;

static int32_t thread_id(void) {
  if (!this_thread) this_thread = (int32_t)syscall(SYS_gettid);
  return this_thread;
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The next sequence number if there is room. */
static bool reserve_now(ring *r, uint64_t *seq) {
  *seq = atomic_load_explicit(&r->tail, memory_order_relaxed);
  while (*seq - atomic_load_explicit(&r->head, memory_order_acquire) < r->capacity)
    if (atomic_compare_exchange_weak(&r->tail, seq, *seq + 1)) return true;
  return false;
}

/* Waits for room if the policy says so; false when the record must be dropped. */
static bool reserve(ring *r, uint64_t *seq) {
  for (int waits = 0; !reserve_now(r, seq); waits++) {
    if (!r->block || r->stuck || waits > TDBG_LONGEST_WAITS) {
      if (r->block) r->stuck = true;
      r->dropped++;
      return false;
    }
    if (waits == 0) r->waits++;
    nanosleep(&(struct timespec){0, TDBG_WAIT_NS}, NULL);
  }
  if (r->stuck) r->stuck = false;
  return true;
}

/* Takes a slot of a ring that overwrites; a thread that was overtaken by a whole round leaves it to the newer one. */
static bool take_slot(ring *r, tdbg_record *slot, uint64_t seq) {
  uint64_t before = atomic_load(&slot->ready);
  if (before != BUSY && before <= seq && atomic_compare_exchange_strong(&slot->ready, &before, BUSY)) return true;
  r->dropped++;
  return false;
}

static int64_t write_record(ring *r, uint64_t seq, tdbg_record *record) {
  tdbg_record *slot = &r->slots[seq % r->capacity];
  if (r->mapping && !take_slot(r, slot, seq)) return -1;
  memcpy((char *)slot + sizeof slot->ready, (char *)record + sizeof record->ready, sizeof *record - sizeof slot->ready);
  atomic_store_explicit(&slot->ready, seq + 1, memory_order_release);
  return (int64_t)seq;
}

int64_t tdbg_push(tdbg_record *record, bool may_wait) {
  ring *r = atomic_load_explicit(&current, memory_order_acquire);
  if (!r) return -1;
  record->time = now();
  record->thread = thread_id();
  record->step = atomic_load_explicit(&tdbg_step, memory_order_relaxed);
  uint64_t seq;
  if (r->mapping)
    seq = atomic_fetch_add(&r->tail, 1);
  else if (!may_wait && !reserve_now(r, &seq))
    return TDBG_WOULD_WAIT;
  else if (may_wait && !reserve(r, &seq))
    return -1;
  return write_record(r, seq, record);
}

uint64_t tdbg_ring_drain(tdbg_record *out, uint64_t most) {
  ring *r = current;
  if (!r) return 0;
  if (r->mapping && r->tail > r->capacity && r->head < r->tail - r->capacity) r->head = r->tail - r->capacity;
  uint64_t head = r->head, taken = 0;
  while (taken < most) {
    tdbg_record *slot = &r->slots[(head + taken) % r->capacity];
    if (atomic_load_explicit(&slot->ready, memory_order_acquire) != head + taken + 1) break;
    memcpy(&out[taken], slot, sizeof *slot);
    taken++;
  }
  atomic_store_explicit(&r->head, head + taken, memory_order_release);
  return taken;
}

uint64_t tdbg_ring_pending(void) {
  ring *r = current;
  return r ? r->tail - r->head : 0;
}

tdbg_counters tdbg_ring_counters(void) {
  ring *r = current;
  return r ? (tdbg_counters){r->tail, r->dropped, r->values_dropped, r->waits} : (tdbg_counters){0};
}

bool tdbg_ring_is_stuck(void) {
  ring *r = current;
  return !r || r->stuck;
}

void tdbg_count_dropped_value(void) {
  ring *r = current;
  if (r) r->values_dropped++;
}

void tdbg_ring_after_fork(void) {
  this_thread = 0;
  ring *r = current;
  if (r && r->mapping)
    current = NULL; /* the file is the parent's */
  else if (r)
    r->head = r->tail;
}
