/* Tensors that are kept whole, queued for the writer within limits. */
#ifndef TDBG_KEPT_VALUES_H
#define TDBG_KEPT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/shapes.h"

typedef struct tdbg_value {
  struct tdbg_value *next;
  int64_t token;
  int64_t bytes;
  const tdbg_shape *shape;
  int dtype;
  char data[];
} tdbg_value;

int64_t tdbg_value_keep(const void *data, int64_t bytes, int dtype, const tdbg_shape *shape, bool must_wait);
tdbg_value *tdbg_value_take(void); /* the caller frees it */
bool tdbg_value_allowed(int32_t op);
void tdbg_value_limits(int64_t queue_bytes, int64_t bad_bytes, int per_op);

#endif
