/* Events from any thread to one reader: a bounded ring of records of one size. */
#ifndef TDBG_RING_H
#define TDBG_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "summaries/summary.h"

enum { TDBG_KIND_TENSOR = 0, TDBG_KIND_EXECUTION = 1, TDBG_KIND_MORE = 2, TDBG_KIND_END = 3, TDBG_KIND_FAILED = 4 };
enum { TDBG_BAD = 1, TDBG_NUMBERS = 2, TDBG_INPUT = 4, TDBG_ORIGIN = 8, TDBG_EVIDENCE = 16 };
enum { TDBG_INLINE_INPUTS = TDBG_NUMBER_COUNT }; /* as many as take the room of a summary */

/* 160 bytes while a summary has 11 numbers; the layout is part of the ring file's format (store/ring.py reads it). */
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
  uint64_t produced, dropped, values_dropped;
  uint64_t waits; /* how often a producer had to wait for the writer */
} tdbg_counters;

/* With a file, the last `capacity` records live in a memory-mapped file and old ones are overwritten. */
int tdbg_ring_open(uint64_t capacity, const char *file, bool block);
uint64_t tdbg_ring_drain(tdbg_record *out, uint64_t most);
uint64_t tdbg_ring_pending(void);
tdbg_counters tdbg_ring_counters(void);
/* Tensors with NaN or infinity since the ring was opened: a cheap sign, for whoever watches while it runs. */
uint64_t tdbg_bad_events(void);
void tdbg_count_bad_event(void);
/* Stamps time, thread and step. Returns the sequence number, -1 when the record was dropped (and counted), or
   TDBG_WOULD_WAIT when the ring is full and the caller may not wait (it holds the GIL, which the reader needs). */
enum { TDBG_WOULD_WAIT = -2 };
int64_t tdbg_push(tdbg_record *record, bool may_wait);
void tdbg_ring_after_fork(void); /* in a child: what waits is the parent's */

/* For what waits for the same reader as the ring does. */
enum { TDBG_WAIT_NS = 50000, TDBG_LONGEST_WAITS = 40000 /* 2 s */ };
bool tdbg_ring_is_stuck(void); /* there is none, or its reader did not come for that long */
void tdbg_count_dropped_value(void);

#endif
