/* How one tensor becomes a record, and which tensors are kept beside it. */
#include "ring/observations.h"

#include <string.h>

#include "ring/switches.h"

static void look_at_numbers(tdbg_observation *seen) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  int size = tdbg_dtype_size(seen->dtype);
  int64_t elements = size ? seen->bytes / size : seen->shape->elements; /* never more than there are bytes for */
  if (mode == TDBG_MODE_NUMERICS || mode == TDBG_MODE_FULL) {
    if (tdbg_summarize(seen->data, elements, seen->dtype, &seen->numbers) == 0) {
      seen->flags |= TDBG_NUMBERS;
      if (tdbg_is_bad(&seen->numbers)) seen->flags |= TDBG_BAD;
      return;
    }
  }
  memset(&seen->numbers, 0, sizeof seen->numbers);
  seen->numbers.elements = elements;
  if (mode == TDBG_MODE_HEALTH && tdbg_has_bad(seen->data, elements, seen->dtype) == 1) seen->flags |= TDBG_BAD;
}

void tdbg_measure(tdbg_observation *seen) {
  look_at_numbers(seen);
  if (seen->flags & TDBG_BAD) tdbg_count_bad_event();
}

int64_t tdbg_emit(const tdbg_observation *seen, bool may_wait) {
  int mode = atomic_load_explicit(&tdbg_mode, memory_order_relaxed);
  if (mode == TDBG_MODE_NONE) return -1;
  /* The bytes of a string are not its text. */
  bool keep = (mode == TDBG_MODE_FULL || seen->keep) && tdbg_dtype_size(seen->dtype);
  if (keep && !may_wait) return TDBG_WOULD_WAIT;
  tdbg_record record;
  record.execution = seen->execution;
  record.tensor = seen->tensor;
  record.op = seen->op;
  record.graph = seen->graph;
  record.iteration = seen->iteration;
  record.shape = seen->shape->id;
  record.slot = seen->slot;
  record.dtype = (uint8_t)seen->dtype;
  record.kind = TDBG_KIND_TENSOR;
  record.flags = seen->flags;
  record.count = 0;
  record.numbers = seen->numbers;
  record.value = 0;
  if (keep)
    record.value = tdbg_value_keep(seen->data, seen->bytes, seen->dtype, seen->shape, mode == TDBG_MODE_FULL);
  return tdbg_push(&record, may_wait);
}

/* A NaN out of infinities (a softmax whose logits are all -inf) begins here as well, though its inputs are not good. */
static bool made_nan(const tdbg_observation *output, tdbg_observation *inputs, int count) {
  if (!output->numbers.nan) return false;
  for (int i = 0; i < count; i++) {
    tdbg_measure(&inputs[i]);
    if (inputs[i].numbers.nan) return false;
  }
  return true;
}

void tdbg_emit_bad(tdbg_observation *output, tdbg_observation *inputs, int count, bool all) {
  bool origin = all;
  for (int i = 0; i < count; i++) {
    tdbg_observation given = inputs[i];
    inputs[i] = *output;
    inputs[i].data = given.data;
    inputs[i].bytes = given.bytes;
    inputs[i].dtype = given.dtype;
    inputs[i].shape = given.shape;
    inputs[i].slot = (uint16_t)i;
    inputs[i].flags = TDBG_EVIDENCE;
    if (tdbg_has_bad(given.data, given.shape->elements, given.dtype) == 1) origin = false;
  }
  if (origin) output->flags |= TDBG_ORIGIN;
  output->keep = tdbg_values_when_bad && (origin || made_nan(output, inputs, count)) && tdbg_value_allowed(output->op);
  tdbg_emit(output, true);
  for (int i = 0; i < count && output->keep; i++) {
    inputs[i].keep = true;
    tdbg_measure(&inputs[i]);
    tdbg_emit(&inputs[i], true);
  }
}
