/* Holds the program at tensors that meet the condition of their op's output: Python is called, and holds the thread.

   A kernel keeps its condition and asks again only when the generation of the table has changed, so conditions change
   while graphs run, without tracing. */
#ifndef TDBG_BREAKS_H
#define TDBG_BREAKS_H

#include <pthread.h>
#include <stdatomic.h>

#include "ring/observations.h"
#include "stopping/condition.h"

enum { TDBG_MOST_SHOWN = 16 }; /* inputs that a held program can show */

extern pthread_mutex_t tdbg_breaks_lock; /* see ring/forks.h */

/* Never freed: a kernel may be about to ask it. */
typedef struct tdbg_break {
  struct tdbg_break *next;
  int generation, count;
  tdbg_test tests[];
} tdbg_break;

/* 0 while nothing can hold the program; another number whenever the conditions have changed. */
extern _Atomic int tdbg_breaks;

/* What a kernel keeps of its own condition, and asks for again when they have changed. NULL: it has none. */
typedef _Atomic(const tdbg_break *) tdbg_own_break;
const tdbg_break *tdbg_break_of(tdbg_own_break *own, int32_t op, uint16_t slot);

/* The same without keeping it; of eager ops, whose outputs are all asked the same, the slot is TDBG_EVERY_SLOT. */
enum { TDBG_EVERY_SLOT = UINT16_MAX };
const tdbg_break *tdbg_break_at(int32_t op, uint16_t slot);

/* Whether the tensor meets it; `seen` was measured, or not. */
bool tdbg_break_met(const tdbg_break *condition, const tdbg_observation *seen);

/* Holds the calling thread at the prompt: `seen` met a condition of its op, whose inputs are these as far as they are at
   hand. NULL: go on; else why the program is to end, for the caller to free. May be called without the GIL. */
char *tdbg_hold_program(const tdbg_observation *seen, const tdbg_observation *inputs, int count);

#endif
