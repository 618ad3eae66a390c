/* Events from any thread to one reader: a bounded ring of fixed-size records, and the small state that stamps them
   (current step, open executions, interned shapes, kept values). */
#ifndef TDBG_EVENTS_H
#define TDBG_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "summary.h"

enum { TDBG_KIND_TENSOR = 0, TDBG_KIND_EXECUTION = 1, TDBG_KIND_MORE = 2, TDBG_KIND_END = 3, TDBG_KIND_FAILED = 4 };
enum { TDBG_BAD = 1, TDBG_NUMBERS = 2, TDBG_INPUT = 4, TDBG_ORIGIN = 8, TDBG_EVIDENCE = 16 };
enum { TDBG_MODE_NONE = 0, TDBG_MODE_HEALTH = 1, TDBG_MODE_NUMERICS = 2, TDBG_MODE_SHAPE = 3, TDBG_MODE_FULL = 4 };
enum { TDBG_INLINE_INPUTS = 11, TDBG_MAX_RANK = 32 };

/* 160 bytes; the layout is part of the ring file's format (store/ring.py reads it). */
typedef struct {
  _Atomic uint64_t ready; /* sequence number + 1 once the record is whole, 0 while it is being written */
  int64_t time;           /* ns since the epoch */
  int64_t execution;
  int64_t tensor; /* the eager tensor's id, -1 in graphs */
  int32_t op;
  int32_t step;
  int32_t iteration; /* of the innermost loop, -1 outside loops */
  int32_t thread;
  int32_t shape;
  uint16_t slot;
  uint8_t dtype;
  uint8_t kind;
  uint16_t flags;
  uint16_t count; /* execution records: how many of inputs[] are filled */
  int32_t graph;
  union {
    tdbg_summary numbers;
    int64_t inputs[TDBG_INLINE_INPUTS];
  };
  int64_t value; /* token of a kept value, 0 for none */
} tdbg_record;

typedef struct {
  int32_t id;
  int32_t rank;
  int64_t elements;
  uint64_t hash;
  int64_t dims[];
} tdbg_shape;

typedef struct tdbg_value {
  struct tdbg_value *next;
  int64_t token;
  int64_t bytes;
  const tdbg_shape *shape;
  int dtype;
  char data[];
} tdbg_value;

typedef struct {
  uint64_t produced, dropped, values_dropped;
  uint64_t waits; /* how often a producer had to wait for the writer */
} tdbg_counters;

/* Ring. With a file, the last `capacity` records live in a memory-mapped file and old ones are overwritten. */
int tdbg_ring_open(uint64_t capacity, const char *file, bool block);
uint64_t tdbg_ring_drain(tdbg_record *out, uint64_t most);
uint64_t tdbg_ring_pending(void);
tdbg_counters tdbg_ring_counters(void);
uint64_t tdbg_bad_events(void); /* a cheap sign that something went wrong, for whoever watches while it runs */
/* Stamps time, thread and step. Returns the sequence number, -1 when the record was dropped (and counted), or
   TDBG_WOULD_WAIT when the ring is full and the caller may not wait (it holds the GIL, which the reader needs). */
enum { TDBG_WOULD_WAIT = -2 };
int64_t tdbg_push(tdbg_record *record, bool may_wait);
void tdbg_guard_forks(void);
void tdbg_after_fork(void); /* in a child: forget everything that belonged to the parent */

/* What is on. Read by every observer on every call, so plain atomics. */
extern _Atomic int tdbg_mode;      /* TDBG_MODE_* */
extern _Atomic int32_t tdbg_first_op; /* observers of ops before it belong to an earlier recording */
extern _Atomic int tdbg_recording; /* 0 while off, or outside the steps asked for */
extern _Atomic int tdbg_step;
extern _Atomic int tdbg_values_when_bad;

/* Executions: which call of a function an event inside a graph belongs to. */
int64_t tdbg_execution_next(void);
void tdbg_execution_begin(int64_t execution, int32_t graph); /* may wait a little: call it without the GIL */
bool tdbg_execution_end(int64_t execution);
int64_t tdbg_execution_of(int64_t run, int32_t graph);
void tdbg_executions_forget(void);

/* Shapes and values. */
const tdbg_shape *tdbg_shape_intern(int rank, const int64_t *dims);
const tdbg_shape *tdbg_shape_get(int32_t id);
int32_t tdbg_shape_count(void);
int64_t tdbg_value_keep(const void *data, int64_t bytes, int dtype, const tdbg_shape *shape, bool must_wait);
tdbg_value *tdbg_value_take(void); /* the caller frees it */
bool tdbg_value_allowed(int32_t op);
void tdbg_value_limits(int64_t queue_bytes, int64_t bad_bytes, int per_op);

/* One tensor of whatever origin: measured as the mode says, then pushed. */
typedef struct {
  const void *data;
  int64_t bytes;
  const tdbg_shape *shape;
  int dtype;
  int32_t op, graph, iteration;
  uint16_t slot, flags;
  int64_t execution, tensor;
  bool keep; /* its full value, whatever the mode */
  tdbg_summary numbers;
} tdbg_observation;
void tdbg_measure(tdbg_observation *seen); /* fills numbers, sets TDBG_NUMBERS and TDBG_BAD */
int64_t tdbg_emit(const tdbg_observation *seen, bool may_wait);
/* A bad output, with its op's inputs (data, bytes, dtype and shape filled; `all`: there are no others). If they are good
   this op is where it began: then output and inputs are kept whole. May wait. */
void tdbg_emit_bad(tdbg_observation *output, tdbg_observation *inputs, int count, bool all);

#endif
