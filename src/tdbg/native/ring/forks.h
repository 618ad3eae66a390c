/* What a fork must not tear, and what a child must forget. */
#ifndef TDBG_FORKS_H
#define TDBG_FORKS_H

#include <pthread.h>

/* The locks of these folders. */
extern pthread_mutex_t tdbg_executions_lock, tdbg_shapes_lock, tdbg_values_lock;

/* From here on a fork waits until nobody holds any of these locks. Once for the process; `locks` is not copied. */
void tdbg_guard_forks(pthread_mutex_t *const *locks, int count);
void tdbg_after_fork(void); /* in a child: forgets everything that belonged to the parent */

#endif
