/* The locks of the event code, named here so that a fork can hold them all (see events.c). */
#ifndef TDBG_LOCKS_H
#define TDBG_LOCKS_H

#include <pthread.h>

extern pthread_mutex_t tdbg_breaks_lock, tdbg_executions_lock, tdbg_held_lock, tdbg_remembered_lock, tdbg_shapes_lock;

#endif
