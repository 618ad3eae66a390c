/* A table of held tensors by run, frame, iteration and tensor; small, for most are let go at once. */
#include "held_inputs.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096 };
static const int64_t MOST_BYTES = 256 << 20;

typedef struct entry {
  struct entry *next;
  tdbg_held_key key;
  TF_Tensor *tensor;
  int64_t execution, bytes;
  int readers;
} entry;

pthread_mutex_t tdbg_held_inputs_lock = PTHREAD_MUTEX_INITIALIZER;
static entry *buckets[BUCKETS];
static int64_t held_bytes, held_count, refused;

static entry **place_of(const tdbg_held_key *key) {
  uint64_t hash = (uint64_t)key->tensor * 0x9E3779B97F4A7C15ull;
  hash ^= ((uint64_t)key->run * 31 + key->frame * 17 + (uint64_t)key->iteration) * 0xC2B2AE3D27D4EB4Full;
  entry **at = &buckets[(hash ^ hash >> 31) % BUCKETS];
  while (*at && memcmp(&(*at)->key, key, sizeof *key)) at = &(*at)->next;
  return at;
}

static TF_Tensor *take_out(entry **at) {
  entry *found = *at;
  TF_Tensor *tensor = found->tensor;
  *at = found->next;
  held_bytes -= found->bytes;
  held_count--;
  free(found);
  return tensor;
}

bool tdbg_hold(const tdbg_held_key *key, int64_t execution, TF_Tensor *tensor, int readers) {
  int64_t bytes = (int64_t)TF_TensorByteSize(tensor);
  entry *made = NULL;
  TF_Tensor *before = NULL;
  pthread_mutex_lock(&tdbg_held_inputs_lock);
  if (held_bytes + bytes <= MOST_BYTES) made = malloc(sizeof *made);
  if (made) {
    entry **at = place_of(key);
    if (*at) before = take_out(at);
    *made = (entry){NULL, *key, tensor, execution, bytes, readers};
    made->next = *(at = place_of(key));
    *at = made;
    held_bytes += bytes;
    held_count++;
  } else {
    refused++;
  }
  pthread_mutex_unlock(&tdbg_held_inputs_lock);
  if (before) TF_DeleteTensor(before);
  return made != NULL;
}

TF_Tensor *tdbg_held(const tdbg_held_key *key) {
  pthread_mutex_lock(&tdbg_held_inputs_lock);
  entry *found = *place_of(key);
  TF_Tensor *tensor = found ? found->tensor : NULL;
  pthread_mutex_unlock(&tdbg_held_inputs_lock);
  return tensor;
}

void tdbg_let_go(const tdbg_held_key *key) {
  TF_Tensor *last = NULL;
  pthread_mutex_lock(&tdbg_held_inputs_lock);
  entry **at = place_of(key);
  if (*at && --(*at)->readers <= 0) last = take_out(at);
  pthread_mutex_unlock(&tdbg_held_inputs_lock);
  if (last) TF_DeleteTensor(last);
}

static TF_Tensor *take_any(int64_t execution) {
  TF_Tensor *tensor = NULL;
  pthread_mutex_lock(&tdbg_held_inputs_lock);
  for (int i = 0; i < BUCKETS && held_count && !tensor; i++)
    for (entry **at = &buckets[i]; *at && !tensor; at = *at ? &(*at)->next : at)
      if ((*at)->execution == execution) {
        tensor = take_out(at);
        break;
      }
  pthread_mutex_unlock(&tdbg_held_inputs_lock);
  return tensor;
}

void tdbg_let_go_all(int64_t execution) {
  for (TF_Tensor *tensor; (tensor = take_any(execution));) TF_DeleteTensor(tensor);
}

int64_t tdbg_not_held(void) {
  pthread_mutex_lock(&tdbg_held_inputs_lock);
  int64_t count = refused;
  pthread_mutex_unlock(&tdbg_held_inputs_lock);
  return count;
}
