/* The notes, by op, output, run and iteration. */
#define _GNU_SOURCE
#include "stopping/input_notes.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 16, ROWS = 4096 }; /* a loop may run ten iterations at once */

typedef struct {
  atomic_flag busy;
  int64_t run;
  int32_t iteration;
  bool known;
  tdbg_fact fact;
} note;

struct tdbg_notes {
  tdbg_notes *next; /* the next output of the same op */
  uint16_t slot;
  note latest[RUNS];
};

typedef struct {
  tdbg_notes *notes; /* NULL: a constant */
  double magnitude;
} input;

struct tdbg_noted_inputs {
  int count, rule;
  input given[];
};

typedef struct {
  tdbg_notes *outputs; /* of this op, that are noted */
  tdbg_noted_inputs *inputs;
} entry;

/* By op number. Only ever grows; the lock is for finding an entry, which happens when graphs and kernels are made. */
pthread_mutex_t tdbg_notes_lock = PTHREAD_MUTEX_INITIALIZER;
static entry **rows;
static int row_count;

static entry *find(int32_t op, bool make) {
  int row = op / ROWS;
  if (op < 0) return NULL;
  if (row >= row_count) {
    if (!make) return NULL;
    entry **more = realloc(rows, (size_t)(row + 1) * sizeof *rows);
    if (!more) return NULL;
    rows = more;
    memset(rows + row_count, 0, (size_t)(row + 1 - row_count) * sizeof *rows);
    row_count = row + 1;
  }
  if (!rows[row] && make) rows[row] = calloc(ROWS, sizeof **rows);
  return rows[row] ? &rows[row][op % ROWS] : NULL;
}

static tdbg_notes *output_of(entry *maker, uint16_t slot) {
  tdbg_notes *found = maker->outputs;
  while (found && found->slot != slot) found = found->next;
  return found;
}

static tdbg_notes *noted_output(int32_t op, uint16_t slot) {
  entry *maker = find(op, true);
  if (!maker) return NULL;
  tdbg_notes *notes = output_of(maker, slot);
  if (notes || !(notes = calloc(1, sizeof *notes))) return notes;
  notes->slot = slot;
  notes->next = maker->outputs;
  return maker->outputs = notes;
}

static int add_input(int32_t op, input given, int rule) {
  entry *taker = find(op, true);
  if (!taker) return -1;
  int count = taker->inputs ? taker->inputs->count : 0;
  tdbg_noted_inputs *more = realloc(taker->inputs, sizeof *more + (size_t)(count + 1) * sizeof given);
  if (!more) return -1;
  more->given[count] = given;
  more->count = count + 1;
  more->rule = rule;
  taker->inputs = more;
  return 0;
}

int tdbg_note_input(int32_t op, int32_t maker, uint16_t slot, double magnitude, int rule) {
  pthread_mutex_lock(&tdbg_notes_lock);
  tdbg_notes *notes = maker < 0 ? NULL : noted_output(maker, slot);
  int failed = maker >= 0 && !notes ? -1 : add_input(op, (input){notes, magnitude}, rule);
  pthread_mutex_unlock(&tdbg_notes_lock);
  return failed;
}

tdbg_notes *tdbg_notes_of(int32_t op, uint16_t slot) {
  pthread_mutex_lock(&tdbg_notes_lock);
  entry *maker = find(op, false);
  tdbg_notes *found = maker ? output_of(maker, slot) : NULL;
  pthread_mutex_unlock(&tdbg_notes_lock);
  return found;
}

const tdbg_noted_inputs *tdbg_noted_inputs_of(int32_t op) {
  pthread_mutex_lock(&tdbg_notes_lock);
  entry *taker = find(op, false);
  const tdbg_noted_inputs *found = taker ? taker->inputs : NULL;
  pthread_mutex_unlock(&tdbg_notes_lock);
  return found;
}

static note *note_of(tdbg_notes *notes, int64_t run, int32_t iteration) {
  return &notes->latest[((uint32_t)iteration + (uint32_t)(run & 3) * 4) % RUNS];
}

static void take(note *one) {
  while (atomic_flag_test_and_set_explicit(&one->busy, memory_order_acquire)) sched_yield();
}

static void give(note *one) { atomic_flag_clear_explicit(&one->busy, memory_order_release); }

void tdbg_note(tdbg_notes *notes, int64_t run, int32_t iteration, const tdbg_fact *fact) {
  note *one = note_of(notes, run, iteration);
  take(one);
  one->run = run;
  one->iteration = iteration;
  one->known = true;
  one->fact = *fact;
  give(one);
}

static bool read_note(tdbg_notes *notes, int64_t run, int32_t iteration, tdbg_fact *fact) {
  note *one = note_of(notes, run, iteration);
  take(one);
  bool is_it = one->known && one->run == run && one->iteration == iteration;
  if (is_it) *fact = one->fact;
  give(one);
  return is_it;
}

bool tdbg_recall(const tdbg_noted_inputs *inputs, int64_t run, int32_t iteration, tdbg_finding *finding) {
  for (int i = 0; i < inputs->count; i++) {
    tdbg_fact fact;
    if (!inputs->given[i].notes) continue;
    if (!read_note(inputs->given[i].notes, run, iteration, &fact)) return false;
    tdbg_finding_fact(finding, &fact);
  }
  return true;
}

static double magnitude_of(const tdbg_fact *fact) {
  const tdbg_summary *numbers = &fact->numbers;
  if (!isnan(fact->magnitude)) return fact->magnitude;
  if (tdbg_is_bad(numbers)) return INFINITY;
  return numbers->negative || numbers->zero || numbers->positive ? fmax(fabs(numbers->min), fabs(numbers->max)) : 0;
}

double tdbg_bound(const tdbg_noted_inputs *inputs, int64_t run, int32_t iteration) {
  if (inputs->rule == TDBG_BOUND_NONE) return INFINITY;
  double bound = inputs->rule == TDBG_BOUND_PRODUCT ? 1 : 0;
  for (int i = 0; i < inputs->count; i++) {
    const input *given = &inputs->given[i];
    tdbg_fact fact;
    if (given->notes && !read_note(given->notes, run, iteration, &fact)) return INFINITY;
    double magnitude = given->notes ? magnitude_of(&fact) : given->magnitude;
    if (isinf(magnitude)) return INFINITY;
    bound = inputs->rule == TDBG_BOUND_PRODUCT ? bound * magnitude : bound + magnitude;
  }
  return inputs->rule == TDBG_BOUND_SQUARE ? bound * bound : bound;
}
