/* One tensor of whatever origin on its way into the ring: measured as the mode says, then pushed. */
#ifndef TDBG_OBSERVATIONS_H
#define TDBG_OBSERVATIONS_H

#include "ring/kept_values.h"
#include "ring/ring.h"

typedef struct {
  const void *data;
  int64_t bytes;
  const tdbg_shape *shape;
  int dtype;
  int32_t op, graph, iteration;
  uint16_t slot, flags;
  int64_t execution, tensor;
  bool keep; /* its full value, whatever the mode */
  tdbg_summary numbers;
} tdbg_observation;

void tdbg_measure(tdbg_observation *seen); /* fills numbers, sets TDBG_NUMBERS and TDBG_BAD */
int64_t tdbg_emit(const tdbg_observation *seen, bool may_wait);
/* A bad output, with its op's inputs (data, bytes, dtype and shape filled; `all`: there are no others). If they are good
   this op is where it began: then output and inputs are kept whole. May wait. */
void tdbg_emit_bad(tdbg_observation *output, tdbg_observation *inputs, int count, bool all);

#endif
