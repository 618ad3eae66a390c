/* Which call of a function an event inside a graph belongs to.

   An executor of graphs, such as TensorFlow's, gives every run a run id that Python never sees. So the first event of an
   unknown run picks the open call it must belong to: one of this very graph that has no run yet, else the latest without
   one. That there is only one such call is seen to when a call begins: it lets the calls of other threads come to their
   first event before. */
#define _GNU_SOURCE
#include "ring/executions.h"

#include <string.h>
#include <time.h>

#include "ring/forks.h"
#include "ring/switches.h"

enum { OPEN = 64, RUNS = 256, SILENT = 256, WAIT_NS = 50000, FIRST_EVENT_WAITS = 400 /* 20 ms */ };

typedef struct {
  int64_t execution;
  int32_t graph;
  bool claimed; /* its run is known */
  bool waited;  /* in vain: it computes something long before its first event */
} open_call;

pthread_mutex_t tdbg_executions_lock = PTHREAD_MUTEX_INITIALIZER;
static open_call open_calls[OPEN];
static int open_count;
static struct {
  int64_t run, execution;
} runs[RUNS]; /* round robin: a run older than 256 other runs is over */
static unsigned next_run;
static int32_t silent[SILENT]; /* graph + 1: its last call had no event, so none is waited for */
static _Atomic int64_t next_execution = 0;

int64_t tdbg_execution_next(void) { return atomic_fetch_add(&next_execution, 1); }

static bool is_awaited(const open_call *call) {
  return !call->claimed && !call->waited && silent[(uint32_t)call->graph % SILENT] != call->graph + 1;
}

static bool begin_now(int64_t execution, int32_t graph, bool patient) {
  pthread_mutex_lock(&tdbg_executions_lock);
  bool wait = false;
  for (int i = 0; i < open_count; i++)
    if (is_awaited(&open_calls[i])) {
      wait = patient;
      open_calls[i].waited = !patient;
    }
  if (!wait && open_count < OPEN) open_calls[open_count++] = (open_call){.execution = execution, .graph = graph};
  pthread_mutex_unlock(&tdbg_executions_lock);
  return !wait;
}

void tdbg_execution_begin(int64_t execution, int32_t graph) {
  for (int waits = 0; !begin_now(execution, graph, tdbg_recording && waits < FIRST_EVENT_WAITS); waits++)
    nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
}

bool tdbg_execution_end(int64_t execution) {
  bool was_open = false;
  pthread_mutex_lock(&tdbg_executions_lock);
  for (int i = open_count - 1; i >= 0; i--)
    if (open_calls[i].execution == execution) {
      if (!open_calls[i].claimed && tdbg_recording)
        silent[(uint32_t)open_calls[i].graph % SILENT] = open_calls[i].graph + 1;
      memmove(&open_calls[i], &open_calls[i + 1], (size_t)(open_count - i - 1) * sizeof open_calls[0]);
      open_count--;
      was_open = true;
      break;
    }
  pthread_mutex_unlock(&tdbg_executions_lock);
  return was_open;
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
  silent[(uint32_t)open_calls[chosen].graph % SILENT] = 0;
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
  pthread_mutex_lock(&tdbg_executions_lock);
  int64_t execution = claim(run, graph);
  pthread_mutex_unlock(&tdbg_executions_lock);
  if (execution >= 0) {
    last.run = run;
    last.execution = execution;
  }
  return execution;
}

void tdbg_executions_forget(void) {
  open_count = 0;
  memset(runs, 0, sizeof runs);
  memset(silent, 0, sizeof silent);
}
