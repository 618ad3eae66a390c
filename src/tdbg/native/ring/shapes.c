/* Shapes as small numbers: each distinct one is kept once, for the life of the process. */
#include "ring/shapes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ring/forks.h"

pthread_mutex_t tdbg_shapes_lock = PTHREAD_MUTEX_INITIALIZER;
static tdbg_shape **shapes;
static int32_t *shape_table; /* open addressing, id + 1 */
static int32_t shape_count, shape_capacity;

static uint64_t shape_hash(int rank, const int64_t *dims) {
  uint64_t hash = 1469598103934665603ull + (uint64_t)rank;
  for (int i = 0; i < rank; i++) hash = (hash ^ (uint64_t)dims[i]) * 1099511628211ull;
  return hash ^ (hash >> 29);
}

static tdbg_shape unknown_shape = {.id = -1, .elements = 0}; /* when there is no memory left for a new one */

static bool shape_grow(void) {
  int32_t capacity = shape_capacity ? shape_capacity * 2 : 1024;
  int32_t *table = calloc((size_t)capacity, sizeof *table);
  tdbg_shape **more = table ? realloc(shapes, (size_t)capacity * sizeof *shapes) : NULL;
  if (!more) return free(table), false;
  shapes = more;
  for (int32_t i = 0; i < shape_count; i++) {
    uint64_t at = shapes[i]->hash;
    while (table[at % (uint64_t)capacity]) at++;
    table[at % (uint64_t)capacity] = i + 1;
  }
  free(shape_table);
  shape_table = table;
  shape_capacity = capacity;
  return true;
}

const tdbg_shape *tdbg_shape_intern(int rank, const int64_t *dims) {
  if (rank > TDBG_MAX_RANK) rank = TDBG_MAX_RANK;
  uint64_t hash = shape_hash(rank, dims);
  pthread_mutex_lock(&tdbg_shapes_lock);
  tdbg_shape *found = NULL;
  if (shape_count * 2 >= shape_capacity && !shape_grow()) found = &unknown_shape;
  uint64_t at = hash;
  for (int32_t id; !found && (id = shape_table[at % (uint64_t)shape_capacity]); at++) {
    tdbg_shape *shape = shapes[id - 1];
    if (shape->hash == hash && shape->rank == rank && !memcmp(shape->dims, dims, (size_t)rank * sizeof *dims))
      found = shape;
  }
  if (!found) {
    found = malloc(sizeof *found + (size_t)rank * sizeof *dims);
    if (found) {
      *found = (tdbg_shape){.id = shape_count, .rank = rank, .elements = 1, .hash = hash};
      for (int i = 0; i < rank; i++) found->elements *= found->dims[i] = dims[i];
      shape_table[at % (uint64_t)shape_capacity] = shape_count + 1;
      shapes[shape_count++] = found;
    } else {
      found = &unknown_shape;
    }
  }
  pthread_mutex_unlock(&tdbg_shapes_lock);
  return found;
}

int32_t tdbg_shape_count(void) {
  pthread_mutex_lock(&tdbg_shapes_lock);
  int32_t count = shape_count;
  pthread_mutex_unlock(&tdbg_shapes_lock);
  return count;
}

const tdbg_shape *tdbg_shape_get(int32_t id) {
  pthread_mutex_lock(&tdbg_shapes_lock);
  const tdbg_shape *shape = id >= 0 && id < shape_count ? shapes[id] : NULL;
  pthread_mutex_unlock(&tdbg_shapes_lock);
  return shape;
}
