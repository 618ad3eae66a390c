/* What the check saw of a tensor a moment ago, for the ops that take it.

   An op's message tells of its inputs. To hand them to its observer as well would keep them in memory, and the op from
   computing in place: a tenth of a training step. So where an input was looked at anyhow when it was made, its numbers
   are noted here, and the tensor is not held. From the notes also follows how great the result of a sum or a product can
   be; while that is far from overflowing, nobody has to look at it. */
#ifndef TDBG_INPUT_NOTES_H
#define TDBG_INPUT_NOTES_H

#include <pthread.h>

#include "stopping/check.h"

extern pthread_mutex_t tdbg_notes_lock; /* see ring/forks.h */

/* What follows from the inputs' magnitudes: nothing; their sum; their product; the square of their sum. */
enum { TDBG_BOUND_NONE = 0, TDBG_BOUND_SUM = 1, TDBG_BOUND_PRODUCT = 2, TDBG_BOUND_SQUARE = 3 };

typedef struct tdbg_notes tdbg_notes; /* of one output of one op, of its last few runs */
typedef struct tdbg_noted_inputs tdbg_noted_inputs; /* the inputs of one op that are known without holding them */

/* An input of `op` is output `slot` of `maker`, which is noted; or (maker -1) a constant of this magnitude. `rule`: what
   the op's magnitude follows from, when all its inputs are given this way. -1 when there is no memory. */
int tdbg_note_input(int32_t op, int32_t maker, uint16_t slot, double magnitude, int rule);

/* Both are looked up once, when a kernel is made; NULL: there is none. */
tdbg_notes *tdbg_notes_of(int32_t op, uint16_t slot);
const tdbg_noted_inputs *tdbg_noted_inputs_of(int32_t op);

void tdbg_note(tdbg_notes *notes, int64_t run, int32_t iteration, const tdbg_fact *fact);

/* Hands what is known of each input in this run, constants apart, to the finding; false: one is no longer known. */
bool tdbg_recall(const tdbg_noted_inputs *inputs, int64_t run, int32_t iteration, tdbg_finding *finding);

/* How great the output can be; infinite when that is not known. */
double tdbg_bound(const tdbg_noted_inputs *inputs, int64_t run, int32_t iteration);

#endif
