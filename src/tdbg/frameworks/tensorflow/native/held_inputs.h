/* Tensors of a Session's run that an op which can make bad values is about to read. They are held until that op's output
   was looked at, so that they can be kept whole if it is bad. */
#ifndef TDBG_HELD_INPUTS_H
#define TDBG_HELD_INPUTS_H

#include <pthread.h>

#include "api.h"

extern pthread_mutex_t tdbg_held_inputs_lock; /* see ring/forks.h */

typedef struct {
  int64_t run;
  uint64_t frame; /* loops: all inputs of an op are of its own frame and iteration */
  int64_t iteration;
  int64_t tensor; /* op << 16 | slot */
} tdbg_held_key;

/* Takes the tensor over for `readers` ops; false when there is no room for it (counted). */
bool tdbg_hold(const tdbg_held_key *key, int64_t execution, TF_Tensor *tensor, int readers);
/* The tensor, or NULL; it stays held until let go by as many readers as it was held for. */
TF_Tensor *tdbg_held(const tdbg_held_key *key);
void tdbg_let_go(const tdbg_held_key *key);
/* The run is over: what is left of it was for ops that did not run. */
void tdbg_let_go_all(int64_t execution);
int64_t tdbg_not_held(void); /* how many there was no room for */

#endif
