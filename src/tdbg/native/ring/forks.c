/* Locks of lists and tables that a fork would copy half changed. */
#include "ring/forks.h"

#include <stdlib.h>

#include "ring/executions.h"
#include "ring/kept_values.h"
#include "ring/ring.h"
#include "ring/switches.h"

static pthread_mutex_t *const *locks;
static int lock_count;

static void lock_all(void) {
  for (int i = 0; i < lock_count; i++) pthread_mutex_lock(locks[i]);
}

static void unlock_all(void) {
  for (int i = lock_count - 1; i >= 0; i--) pthread_mutex_unlock(locks[i]);
}

/* No other thread may be inside a list or table at the moment of a fork: the child would keep it half changed. */
void tdbg_guard_forks(pthread_mutex_t *const *all, int count) {
  if (locks) return;
  locks = all;
  lock_count = count;
  pthread_atfork(lock_all, unlock_all, unlock_all);
}

void tdbg_after_fork(void) {
  tdbg_recording = 0;
  tdbg_executions_forget();
  for (tdbg_value *value; (value = tdbg_value_take());) free(value);
  tdbg_ring_after_fork();
}
