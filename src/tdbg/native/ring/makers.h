/* Which op made a tensor of code that runs eagerly, by the framework's number of the tensor. Called with the GIL. */
#ifndef TDBG_MAKERS_H
#define TDBG_MAKERS_H

#include <stdbool.h>
#include <stdint.h>

/* `op` is -1 for a tensor that no op made. */
void tdbg_made(int64_t tensor, int32_t op);
/* Whether a maker was told, which may be none. */
bool tdbg_has_maker(int64_t tensor);
/* -1 when it is not known. */
int32_t tdbg_maker_of(int64_t tensor);
/* Ops are numbered anew. */
void tdbg_makers_forget(void);

#endif
