/* The queue of values that are kept whole, bounded by bytes; what is kept because it is bad is bounded once more. */
#define _GNU_SOURCE
#include "ring/kept_values.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/forks.h"
#include "ring/ring.h"

enum { COUNTED_OPS = 4096 };

pthread_mutex_t tdbg_values_lock = PTHREAD_MUTEX_INITIALIZER;
static tdbg_value *first_value, **last_value = &first_value;
static int64_t queued_bytes, queue_limit = 256 << 20, bad_bytes_left = 256 << 20, next_token = 1;
static int kept_per_op = 2;
static struct {
  int32_t op, count;
} kept[COUNTED_OPS];

void tdbg_value_limits(int64_t queue_bytes, int64_t bad_bytes, int per_op) {
  pthread_mutex_lock(&tdbg_values_lock);
  queue_limit = queue_bytes;
  bad_bytes_left = bad_bytes;
  kept_per_op = per_op;
  memset(kept, 0, sizeof kept);
  pthread_mutex_unlock(&tdbg_values_lock);
}

bool tdbg_value_allowed(int32_t op) {
  pthread_mutex_lock(&tdbg_values_lock);
  int at = (int)((uint32_t)op % COUNTED_OPS);
  if (kept[at].op != op + 1) kept[at].op = op + 1, kept[at].count = 0;
  bool allowed = bad_bytes_left > 0 && kept[at].count < kept_per_op;
  if (allowed) kept[at].count++;
  pthread_mutex_unlock(&tdbg_values_lock);
  return allowed;
}

int64_t tdbg_value_keep(const void *data, int64_t bytes, int dtype, const tdbg_shape *shape, bool must_wait) {
  for (int waits = 0;; waits++) {
    pthread_mutex_lock(&tdbg_values_lock);
    bool room = queued_bytes == 0 || queued_bytes + bytes <= queue_limit;
    if (!must_wait && bytes > bad_bytes_left) room = false;
    if (room) {
      queued_bytes += bytes;
      if (!must_wait) bad_bytes_left -= bytes;
    }
    pthread_mutex_unlock(&tdbg_values_lock);
    if (room) break;
    if (!must_wait || tdbg_ring_is_stuck() || waits > TDBG_LONGEST_WAITS) {
      tdbg_count_dropped_value();
      return 0;
    }
    nanosleep(&(struct timespec){0, TDBG_WAIT_NS}, NULL);
  }
  tdbg_value *value = malloc(sizeof *value + (size_t)bytes);
  if (value) {
    memcpy(value->data, data, (size_t)bytes);
    value->next = NULL;
    value->bytes = bytes;
    value->dtype = dtype;
    value->shape = shape;
  }
  pthread_mutex_lock(&tdbg_values_lock);
  int64_t token = 0;
  if (value) {
    token = value->token = next_token++;
    *last_value = value;
    last_value = &value->next;
  } else {
    queued_bytes -= bytes;
    tdbg_count_dropped_value();
  }
  pthread_mutex_unlock(&tdbg_values_lock);
  return token;
}

tdbg_value *tdbg_value_take(void) {
  pthread_mutex_lock(&tdbg_values_lock);
  tdbg_value *value = first_value;
  if (value) {
    first_value = value->next;
    if (!first_value) last_value = &first_value;
    queued_bytes -= value->bytes;
  }
  pthread_mutex_unlock(&tdbg_values_lock);
  return value;
}
