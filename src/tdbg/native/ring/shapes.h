/* Shapes as small numbers. */
#ifndef TDBG_SHAPES_H
#define TDBG_SHAPES_H

#include <stdint.h>

enum { TDBG_MAX_RANK = 32 };

typedef struct {
  int32_t id;
  int32_t rank;
  int64_t elements;
  uint64_t hash;
  int64_t dims[];
} tdbg_shape;

const tdbg_shape *tdbg_shape_intern(int rank, const int64_t *dims);
const tdbg_shape *tdbg_shape_get(int32_t id);
int32_t tdbg_shape_count(void);

#endif
