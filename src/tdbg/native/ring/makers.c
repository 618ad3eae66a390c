/* A direct-mapped cache by tensor number. A collision only means that a tensor is described once more. */
#include "ring/makers.h"

#include <string.h>

enum { KNOWN = 1 << 18 };

static struct {
  int64_t tensor; /* + 1 */
  int32_t op;
} makers[KNOWN];

void tdbg_made(int64_t tensor, int32_t op) {
  makers[tensor & (KNOWN - 1)].tensor = tensor + 1;
  makers[tensor & (KNOWN - 1)].op = op;
}

bool tdbg_has_maker(int64_t tensor) { return makers[tensor & (KNOWN - 1)].tensor == tensor + 1; }

int32_t tdbg_maker_of(int64_t tensor) { return tdbg_has_maker(tensor) ? makers[tensor & (KNOWN - 1)].op : -1; }

void tdbg_makers_forget(void) { memset(makers, 0, sizeof makers); }
