/* The ring and its stamps. Producers are TensorFlow's threads and the Python callback; the one consumer is the
   recorder's writer thread. */
#define _GNU_SOURCE
#include "events.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Atomic int tdbg_mode = TDBG_MODE_NUMERICS;
_Atomic int tdbg_recording = 0;
_Atomic int tdbg_step = 0;
_Atomic int tdbg_values_when_bad = 1;

/* ---- ring ---------------------------------------------------------------------------------------------------- */

enum { HEADER_BYTES = 64, WAIT_NS = 50000, LONGEST_WAITS = 40000 /* 2 s */ };

static struct {
  tdbg_record *slots;
  uint64_t capacity;
  void *mapping;
  size_t mapping_bytes;
  bool block, overwrite;
  _Atomic uint64_t tail, head, dropped, values_dropped, waits;
  _Atomic bool stuck; /* the writer did not come for 2 s: drop at once until it moves again */
} ring;

int tdbg_ring_open(uint64_t capacity, const char *file, bool block) {
  /* The old ring is never freed: an observer on another thread may be writing its last record into it. In-memory
     rings of the same size are used again, so switching on and off does not grow the process. */
  bool reuse = ring.slots && !ring.mapping && !file && capacity == ring.capacity;
  tdbg_record *slots = reuse ? ring.slots : NULL;
  ring.slots = NULL;
  ring.mapping = NULL;
  ring.capacity = capacity;
  ring.block = block;
  ring.overwrite = file != NULL;
  ring.tail = ring.head = ring.dropped = ring.values_dropped = ring.waits = 0;
  ring.stuck = false;
  if (!file) {
    if (slots) memset(slots, 0, capacity * sizeof *slots);
    ring.slots = slots ? slots : calloc(capacity, sizeof(tdbg_record));
    return ring.slots ? 0 : -1;
  }
  size_t bytes = HEADER_BYTES + capacity * sizeof(tdbg_record);
  int fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  /* Allocate now: a full disk must be an error here, not a SIGBUS in the middle of training. */
  int failed = posix_fallocate(fd, 0, (off_t)bytes);
  void *mapping = failed ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapping == MAP_FAILED) return -1;
  uint64_t header[4] = {0x474e495247424454ull /* "TDBGRING" */, 1, sizeof(tdbg_record), capacity};
  memcpy(mapping, header, sizeof header);
  ring.mapping = mapping;
  ring.mapping_bytes = bytes;
  ring.slots = (tdbg_record *)((char *)mapping + HEADER_BYTES);
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

bool tdbg_ring_nearly_full(void) {
  return !ring.overwrite && ring.tail - ring.head + 64 > ring.capacity;
}

/* Takes the next sequence number, waiting for room if the policy says so; -1 when the record must be dropped. */
static int64_t reserve(void) {
  if (ring.overwrite) return (int64_t)atomic_fetch_add(&ring.tail, 1);
  uint64_t seq = atomic_load_explicit(&ring.tail, memory_order_relaxed);
  for (int waits = 0;;) {
    if (seq - atomic_load_explicit(&ring.head, memory_order_acquire) < ring.capacity) {
      if (atomic_compare_exchange_weak(&ring.tail, &seq, seq + 1)) {
        if (ring.stuck) ring.stuck = false;
        return (int64_t)seq;
      }
      continue;
    }
    if (!ring.block || ring.stuck || waits++ > LONGEST_WAITS) {
      if (ring.block) ring.stuck = true;
      ring.dropped++;
      return -1;
    }
    if (waits == 1) ring.waits++;
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    seq = atomic_load_explicit(&ring.tail, memory_order_relaxed);
  }
}

int64_t tdbg_push(tdbg_record *record) {
  if (!ring.slots) return -1;
  record->time = now();
  record->thread = thread_id();
  record->step = atomic_load_explicit(&tdbg_step, memory_order_relaxed);
  int64_t seq = reserve();
  if (seq < 0) return -1;
  tdbg_record *slot = &ring.slots[(uint64_t)seq % ring.capacity];
  atomic_store_explicit(&slot->ready, 0, memory_order_release);
  memcpy((char *)slot + sizeof slot->ready, (char *)record + sizeof record->ready, sizeof *record - sizeof slot->ready);
  atomic_store_explicit(&slot->ready, (uint64_t)seq + 1, memory_order_release);
  return seq;
}

uint64_t tdbg_ring_drain(tdbg_record *out, uint64_t most) {
  if (!ring.slots) return 0;
  if (ring.overwrite && ring.tail > ring.capacity && ring.head < ring.tail - ring.capacity)
    ring.head = ring.tail - ring.capacity;
  uint64_t head = ring.head, taken = 0;
  while (taken < most) {
    tdbg_record *slot = &ring.slots[(head + taken) % ring.capacity];
    if (atomic_load_explicit(&slot->ready, memory_order_acquire) != head + taken + 1) break;
    memcpy(&out[taken], slot, sizeof *slot);
    taken++;
  }
  atomic_store_explicit(&ring.head, head + taken, memory_order_release);
  return taken;
}

uint64_t tdbg_ring_pending(void) { return ring.tail - ring.head; }

tdbg_counters tdbg_ring_counters(void) {
  return (tdbg_counters){ring.tail, ring.dropped, ring.values_dropped, ring.waits};
}

/* ---- executions ---------------------------------------------------------------------------------------------- */

/* TensorFlow gives every run of a function's executor a run id that Python never sees, and nested calls that were
   not inlined get their own. So the first event of an unknown run picks the open execution it must belong to: one
   that began with this very graph and has no run yet, else the latest. */

enum { OPEN = 64, RUNS = 256 };

static pthread_mutex_t executions_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int64_t execution;
  int32_t graph;
  bool claimed;
} open_calls[OPEN];
static int open_count;
static struct {
  int64_t run, execution;
} runs[RUNS]; /* round robin: a run older than 256 other runs is over */
static unsigned next_run;
static _Atomic int64_t next_execution = 0;

int64_t tdbg_execution_next(void) { return atomic_fetch_add(&next_execution, 1); }

void tdbg_execution_begin(int64_t execution, int32_t graph) {
  pthread_mutex_lock(&executions_lock);
  if (open_count < OPEN) {
    open_calls[open_count].execution = execution;
    open_calls[open_count].graph = graph;
    open_calls[open_count].claimed = false;
    open_count++;
  }
  pthread_mutex_unlock(&executions_lock);
}

void tdbg_execution_end(int64_t execution) {
  pthread_mutex_lock(&executions_lock);
  for (int i = open_count - 1; i >= 0; i--)
    if (open_calls[i].execution == execution) {
      memmove(&open_calls[i], &open_calls[i + 1], (size_t)(open_count - i - 1) * sizeof open_calls[0]);
      open_count--;
      break;
    }
  pthread_mutex_unlock(&executions_lock);
}

static int64_t claim(int64_t run, int32_t graph) {
  for (int i = 0; i < RUNS; i++)
    if (runs[i].run == run && run) return runs[i].execution;
  if (!open_count) return -1;
  int chosen = -1;
  for (int i = 0; i < open_count && chosen < 0; i++)
    if (open_calls[i].graph == graph && !open_calls[i].claimed) chosen = i;
  for (int i = open_count - 1; i >= 0 && chosen < 0; i--)
    if (!open_calls[i].claimed) chosen = i;
  if (chosen < 0) chosen = open_count - 1;
  open_calls[chosen].claimed = true;
  runs[next_run].run = run;
  runs[next_run].execution = open_calls[chosen].execution;
  next_run = (next_run + 1) % RUNS;
  return open_calls[chosen].execution;
}

int64_t tdbg_execution_of(int64_t run, int32_t graph) {
  static _Thread_local struct {
    int64_t run, execution;
  } last;
  if (last.run == run && run) return last.execution;
  pthread_mutex_lock(&executions_lock);
  int64_t execution = claim(run, graph);
  pthread_mutex_unlock(&executions_lock);
  if (execution >= 0) {
    last.run = run;
    last.execution = execution;
  }
  return execution;
}

/* ---- shapes -------------------------------------------------------------------------------------------------- */

static pthread_mutex_t shapes_lock = PTHREAD_MUTEX_INITIALIZER;
static tdbg_shape **shapes;
static int32_t *shape_table; /* open addressing, id + 1 */
static int32_t shape_count, shape_capacity;

static uint64_t shape_hash(int rank, const int64_t *dims) {
  uint64_t hash = 1469598103934665603ull + (uint64_t)rank;
  for (int i = 0; i < rank; i++) hash = (hash ^ (uint64_t)dims[i]) * 1099511628211ull;
  return hash ^ (hash >> 29);
}

static void shape_grow(void) {
  int32_t capacity = shape_capacity ? shape_capacity * 2 : 1024;
  int32_t *table = calloc((size_t)capacity, sizeof *table);
  for (int32_t i = 0; i < shape_count; i++) {
    uint64_t at = shapes[i]->hash;
    while (table[at % (uint64_t)capacity]) at++;
    table[at % (uint64_t)capacity] = i + 1;
  }
  free(shape_table);
  shape_table = table;
  shapes = realloc(shapes, (size_t)capacity * sizeof *shapes);
  shape_capacity = capacity;
}

const tdbg_shape *tdbg_shape_intern(int rank, const int64_t *dims) {
  if (rank > TDBG_MAX_RANK) rank = TDBG_MAX_RANK;
  uint64_t hash = shape_hash(rank, dims);
  pthread_mutex_lock(&shapes_lock);
  if (shape_count * 2 >= shape_capacity) shape_grow();
  uint64_t at = hash;
  tdbg_shape *found = NULL;
  for (int32_t id; !found && (id = shape_table[at % (uint64_t)shape_capacity]); at++) {
    tdbg_shape *shape = shapes[id - 1];
    if (shape->hash == hash && shape->rank == rank && !memcmp(shape->dims, dims, (size_t)rank * sizeof *dims))
      found = shape;
  }
  if (!found) {
    found = malloc(sizeof *found + (size_t)rank * sizeof *dims);
    *found = (tdbg_shape){.id = shape_count, .rank = rank, .elements = 1, .hash = hash};
    for (int i = 0; i < rank; i++) found->elements *= found->dims[i] = dims[i];
    shape_table[at % (uint64_t)shape_capacity] = shape_count + 1;
    shapes[shape_count++] = found;
  }
  pthread_mutex_unlock(&shapes_lock);
  return found;
}

int32_t tdbg_shape_count(void) {
  pthread_mutex_lock(&shapes_lock);
  int32_t count = shape_count;
  pthread_mutex_unlock(&shapes_lock);
  return count;
}

const tdbg_shape *tdbg_shape_get(int32_t id) {
  pthread_mutex_lock(&shapes_lock);
  const tdbg_shape *shape = id >= 0 && id < shape_count ? shapes[id] : NULL;
  pthread_mutex_unlock(&shapes_lock);
  return shape;
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
    if (!must_wait || ring.stuck || waits > LONGEST_WAITS) {
      ring.values_dropped++;
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
    ring.values_dropped++;
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

void tdbg_measure(tdbg_observation *seen) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  int64_t elements = seen->shape->elements;
  if (mode == TDBG_MODE_NUMERICS || mode == TDBG_MODE_FULL) {
    if (tdbg_summarize(seen->data, elements, seen->dtype, &seen->numbers) == 0) {
      seen->flags |= TDBG_NUMBERS;
      if (seen->numbers.nan || seen->numbers.pos_inf || seen->numbers.neg_inf) seen->flags |= TDBG_BAD;
    }
    return;
  }
  memset(&seen->numbers, 0, sizeof seen->numbers);
  seen->numbers.elements = elements;
  if (mode == TDBG_MODE_HEALTH && tdbg_has_bad(seen->data, elements, seen->dtype) == 1) seen->flags |= TDBG_BAD;
}

int64_t tdbg_emit(const tdbg_observation *seen) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  if (mode == TDBG_MODE_NONE) return -1;
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
  if (mode == TDBG_MODE_FULL || seen->keep)
    record.value = tdbg_value_keep(seen->data, seen->bytes, seen->dtype, seen->shape, mode == TDBG_MODE_FULL);
  return tdbg_push(&record);
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

void tdbg_ring_close(void) {
  tdbg_recording = 0;
  /* Observers of other threads may still be inside tdbg_push: the memory stays until the next open. */
}

void tdbg_after_fork(void) {
  pthread_mutex_init(&executions_lock, NULL);
  pthread_mutex_init(&shapes_lock, NULL);
  pthread_mutex_init(&values_lock, NULL);
  open_count = 0;
  while (first_value) free(tdbg_value_take());
  if (ring.overwrite) { /* the file is the parent's */
    munmap(ring.mapping, ring.mapping_bytes);
    ring.mapping = NULL;
    ring.slots = NULL;
  }
  ring.head = ring.tail;
  this_thread = 0;
  tdbg_recording = 0;
}
