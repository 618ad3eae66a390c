/* The ring, the values that are kept whole, and how one tensor becomes a record. Producers are TensorFlow's threads and the Python callback; the one consumer is the
   recorder's writer thread. */
#define _GNU_SOURCE
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "locks.h"

_Atomic int tdbg_mode = TDBG_MODE_NUMERICS;
_Atomic int32_t tdbg_first_op = 0;
_Atomic int tdbg_recording = 0;
_Atomic int tdbg_step = 0;
_Atomic int tdbg_values_when_bad = 1;

/* ---- ring ---------------------------------------------------------------------------------------------------- */

enum { HEADER_BYTES = 64, WAIT_NS = 50000, LONGEST_WAITS = 40000 /* 2 s */ };
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
    if (!r->block || r->stuck || waits > LONGEST_WAITS) {
      if (r->block) r->stuck = true;
      r->dropped++;
      return false;
    }
    if (waits == 0) r->waits++;
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
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

/* ---- kept values --------------------------------------------------------------------------------------------- */

enum { COUNTED_OPS = 4096 };

static pthread_mutex_t values_lock = PTHREAD_MUTEX_INITIALIZER;
static tdbg_value *first_value, **last_value = &first_value;
static int64_t queued_bytes, queue_limit = 256 << 20, bad_bytes_left = 256 << 20, next_token = 1;
static int kept_per_op = 2;
static struct {
  int32_t op, count;
} kept[COUNTED_OPS];

void tdbg_value_limits(int64_t queue_bytes, int64_t bad_bytes, int per_op) {
  pthread_mutex_lock(&values_lock);
  queue_limit = queue_bytes;
  bad_bytes_left = bad_bytes;
  kept_per_op = per_op;
  memset(kept, 0, sizeof kept);
  pthread_mutex_unlock(&values_lock);
}

bool tdbg_value_allowed(int32_t op) {
  pthread_mutex_lock(&values_lock);
  int at = (int)((uint32_t)op % COUNTED_OPS);
  if (kept[at].op != op + 1) kept[at].op = op + 1, kept[at].count = 0;
  bool allowed = bad_bytes_left > 0 && kept[at].count < kept_per_op;
  if (allowed) kept[at].count++;
  pthread_mutex_unlock(&values_lock);
  return allowed;
}

int64_t tdbg_value_keep(const void *data, int64_t bytes, int dtype, const tdbg_shape *shape, bool must_wait) {
  for (int waits = 0;; waits++) {
    pthread_mutex_lock(&values_lock);
    bool room = queued_bytes == 0 || queued_bytes + bytes <= queue_limit;
    if (!must_wait && bytes > bad_bytes_left) room = false;
    if (room) {
      queued_bytes += bytes;
      if (!must_wait) bad_bytes_left -= bytes;
    }
    pthread_mutex_unlock(&values_lock);
    if (room) break;
    ring *r = current;
    if (!must_wait || !r || r->stuck || waits > LONGEST_WAITS) {
      if (r) r->values_dropped++;
      return 0;
    }
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
  }
  tdbg_value *value = malloc(sizeof *value + (size_t)bytes);
  if (value) {
    memcpy(value->data, data, (size_t)bytes);
    value->next = NULL;
    value->bytes = bytes;
    value->dtype = dtype;
    value->shape = shape;
  }
  pthread_mutex_lock(&values_lock);
  int64_t token = 0;
  if (value) {
    token = value->token = next_token++;
    *last_value = value;
    last_value = &value->next;
  } else {
    queued_bytes -= bytes;
    ring *r = current;
    if (r) r->values_dropped++;
  }
  pthread_mutex_unlock(&values_lock);
  return token;
}

tdbg_value *tdbg_value_take(void) {
  pthread_mutex_lock(&values_lock);
  tdbg_value *value = first_value;
  if (value) {
    first_value = value->next;
    if (!first_value) last_value = &first_value;
    queued_bytes -= value->bytes;
  }
  pthread_mutex_unlock(&values_lock);
  return value;
}

/* ---- one tensor ---------------------------------------------------------------------------------------------- */

static void look_at_numbers(tdbg_observation *seen) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  int size = tdbg_dtype_size(seen->dtype);
  int64_t elements = size ? seen->bytes / size : seen->shape->elements; /* never more than there are bytes for */
  if (mode == TDBG_MODE_NUMERICS || mode == TDBG_MODE_FULL) {
    if (tdbg_summarize(seen->data, elements, seen->dtype, &seen->numbers) == 0) {
      seen->flags |= TDBG_NUMBERS;
      if (seen->numbers.nan || seen->numbers.pos_inf || seen->numbers.neg_inf) seen->flags |= TDBG_BAD;
      return;
    }
  }
  memset(&seen->numbers, 0, sizeof seen->numbers);
  seen->numbers.elements = elements;
  if (mode == TDBG_MODE_HEALTH && tdbg_has_bad(seen->data, elements, seen->dtype) == 1) seen->flags |= TDBG_BAD;
}

void tdbg_measure(tdbg_observation *seen) {
  look_at_numbers(seen);
  if (seen->flags & TDBG_BAD) bad_events++;
}

int64_t tdbg_emit(const tdbg_observation *seen, bool may_wait) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  if (mode == TDBG_MODE_NONE) return -1;
  /* The bytes of a string are not its text. */
  bool keep = (mode == TDBG_MODE_FULL || seen->keep) && tdbg_dtype_size(seen->dtype);
  if (keep && !may_wait) return TDBG_WOULD_WAIT;
  tdbg_record record;
  record.execution = seen->execution;
  record.tensor = seen->tensor;
  record.op = seen->op;
  record.graph = seen->graph;
  record.iteration = seen->iteration;
  record.shape = seen->shape->id;
  record.slot = seen->slot;
  record.dtype = (uint8_t)seen->dtype;
  record.kind = TDBG_KIND_TENSOR;
  record.flags = seen->flags;
  record.count = 0;
  record.numbers = seen->numbers;
  record.value = 0;
  if (keep)
    record.value = tdbg_value_keep(seen->data, seen->bytes, seen->dtype, seen->shape, mode == TDBG_MODE_FULL);
  return tdbg_push(&record, may_wait);
}

/* A NaN out of infinities (a softmax whose logits are all -inf) begins here as well, though its inputs are not good. */
static bool made_nan(const tdbg_observation *output, tdbg_observation *inputs, int count) {
  if (!output->numbers.nan) return false;
  for (int i = 0; i < count; i++) {
    tdbg_measure(&inputs[i]);
    if (inputs[i].numbers.nan) return false;
  }
  return true;
}

void tdbg_emit_bad(tdbg_observation *output, tdbg_observation *inputs, int count, bool all) {
  bool origin = all;
  for (int i = 0; i < count; i++) {
    tdbg_observation given = inputs[i];
    inputs[i] = *output;
    inputs[i].data = given.data;
    inputs[i].bytes = given.bytes;
    inputs[i].dtype = given.dtype;
    inputs[i].shape = given.shape;
    inputs[i].slot = (uint16_t)i;
    inputs[i].flags = TDBG_EVIDENCE;
    if (tdbg_has_bad(given.data, given.shape->elements, given.dtype) == 1) origin = false;
  }
  if (origin) output->flags |= TDBG_ORIGIN;
  output->keep = tdbg_values_when_bad && (origin || made_nan(output, inputs, count)) && tdbg_value_allowed(output->op);
  tdbg_emit(output, true);
  for (int i = 0; i < count && output->keep; i++) {
    inputs[i].keep = true;
    tdbg_measure(&inputs[i]);
    tdbg_emit(&inputs[i], true);
  }
}

/* ---- fork ---------------------------------------------------------------------------------------------------- */

static pthread_mutex_t *const locks[] = {&tdbg_breaks_lock,     &tdbg_executions_lock, &tdbg_held_lock,
                                         &tdbg_remembered_lock, &tdbg_shapes_lock,     &values_lock};
enum { LOCKS = sizeof locks / sizeof *locks };

static void lock_all(void) {
  for (int i = 0; i < LOCKS; i++) pthread_mutex_lock(locks[i]);
}

static void unlock_all(void) {
  for (int i = LOCKS - 1; i >= 0; i--) pthread_mutex_unlock(locks[i]);
}

/* No other thread may be inside a list or table at the moment of a fork: the child would keep it half changed. */
void tdbg_guard_forks(void) {
  static bool done;
  if (!done) pthread_atfork(lock_all, unlock_all, unlock_all);
  done = true;
}

void tdbg_after_fork(void) {
  tdbg_recording = 0;
  tdbg_executions_forget();
  this_thread = 0;
  for (tdbg_value *value; (value = tdbg_value_take());) free(value);
  ring *r = current;
  if (r && r->mapping)
    current = NULL; /* the file is the parent's */
  else if (r)
    r->head = r->tail;
}
