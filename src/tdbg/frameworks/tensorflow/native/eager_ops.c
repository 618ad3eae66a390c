/* Eager ops as TensorFlow's callback tells of them, with their inputs and outputs. */
#include "calls.h"
#include "eager_tensors.h"
#include "part.h"
#include "python/observing.h"
#include "python/part.h"
#include "ring/executions.h"
#include "ring/makers.h"
#include "ring/switches.h"
#include "stopping/breaks.h"
#include "stopping/check.h"

/* Bit N for dtype code N: float16 to complex128. */
static const uint64_t FLOATING = ((1u << 12) - 1) & ~1u;

typedef struct {
  PyObject *const *items;
  Py_ssize_t count;
} tensors;

/* An eager op gave a bad output. If every input is good the op is where it began: keep it all. */
static void record_bad(tdbg_observation *output, tensors inputs, PyObject *as_buffer) {
  bool origin = true, made_nan = output->numbers.nan > 0; /* a NaN out of infinities begins here as well */
  tdbg_tensor_bytes bytes;
  for (Py_ssize_t i = 0; i < inputs.count && (origin || made_nan); i++) {
    int dtype = tdbg_dtype_of(inputs.items[i]);
    if (!tdbg_dtype_size(dtype) || !tdbg_hold_bytes(inputs.items[i], as_buffer, &bytes)) continue;
    if (tdbg_has_bad(bytes.view.buf, bytes.view.len / tdbg_dtype_size(dtype), dtype) == 1) {
      origin = false;
      tdbg_observation seen = {.flags = 0};
      tdbg_describe_buffer(&bytes.view, dtype, &seen);
      tdbg_measure_with_gil(&seen);
      made_nan = made_nan && !seen.numbers.nan;
    }
    tdbg_release_bytes(&bytes);
  }
  if (origin) output->flags |= TDBG_ORIGIN;
  output->keep = (origin || made_nan) && tdbg_values_when_bad && tdbg_value_allowed(output->op);
  tdbg_emit_with_gil(output);
  for (Py_ssize_t i = 0; i < inputs.count && output->keep; i++) {
    int dtype = tdbg_dtype_of(inputs.items[i]);
    if (!tdbg_dtype_size(dtype) || !tdbg_hold_bytes(inputs.items[i], as_buffer, &bytes)) continue;
    tdbg_observation seen = *output;
    tdbg_describe_buffer(&bytes.view, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = TDBG_EVIDENCE;
    seen.tensor = tdbg_id_of(inputs.items[i]);
    tdbg_measure_with_gil(&seen);
    tdbg_emit_with_gil(&seen);
    tdbg_release_bytes(&bytes);
  }
}

/* Values that no op made (arrays and constants from Python) are described where they are first used. */
static void record_new_inputs(tdbg_observation seen, tensors inputs, uint64_t dtypes, PyObject *as_buffer) {
  tdbg_tensor_bytes bytes;
  for (Py_ssize_t i = 0; i < inputs.count; i++) {
    int64_t id = tdbg_id_of(inputs.items[i]);
    if (id < 0 || tdbg_has_maker(id)) continue;
    tdbg_made(id, -1); /* no op made it */
    int dtype = tdbg_dtype_of(inputs.items[i]);
    if (!tdbg_is_wanted(dtype, dtypes) || !tdbg_hold_bytes(inputs.items[i], as_buffer, &bytes)) continue;
    tdbg_describe_buffer(&bytes.view, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.tensor = id;
    seen.flags = TDBG_INPUT;
    tdbg_measure_with_gil(&seen);
    seen.keep = seen.flags & TDBG_BAD && tdbg_values_when_bad && tdbg_value_allowed(seen.op);
    tdbg_emit_with_gil(&seen);
    tdbg_release_bytes(&bytes);
  }
}

enum { SOME_ARE_BAD = 1, SOME_MEET = 2 };

/* Whether an output is bad, as far as they were looked at: those of `dtypes`, which get rows if any do, and those that
   can be bad, if the program is to stop at the first one. And whether one meets the condition of the op, if it has one. */
static int record_outputs(tdbg_observation seen, tensors inputs, tensors outputs, uint64_t dtypes, PyObject *as_buffer,
                          bool recording) {
  bool checking = tdbg_check;
  const tdbg_break *condition = tdbg_break_at(seen.op, TDBG_EVERY_SLOT);
  int found = 0;
  tdbg_tensor_bytes bytes;
  for (Py_ssize_t i = 0; i < outputs.count; i++) {
    seen.tensor = tdbg_id_of(outputs.items[i]);
    if (seen.tensor >= 0) tdbg_made(seen.tensor, seen.op);
    int dtype = tdbg_dtype_of(outputs.items[i]);
    bool has_row = recording && tdbg_is_wanted(dtype, dtypes), checked = checking && tdbg_is_wanted(dtype, FLOATING);
    bool asked = condition && tdbg_dtype_size(dtype);
    if ((!has_row && !checked && !asked) || !tdbg_hold_bytes(outputs.items[i], as_buffer, &bytes)) continue;
    tdbg_describe_buffer(&bytes.view, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = 0;
    seen.keep = false;
    if (has_row) {
      tdbg_measure_with_gil(&seen);
      if (seen.flags & TDBG_BAD)
        record_bad(&seen, inputs, as_buffer);
      else
        tdbg_emit_with_gil(&seen);
    }
    bool was_looked_at = has_row && (seen.flags & TDBG_NUMBERS || tdbg_mode == TDBG_MODE_HEALTH);
    if (checked && !was_looked_at && tdbg_has_bad(seen.data, seen.shape->elements, dtype) == 1) seen.flags |= TDBG_BAD;
    if (seen.flags & TDBG_BAD) found |= SOME_ARE_BAD;
    if (asked && tdbg_break_met(condition, &seen)) found |= SOME_MEET;
    tdbg_release_bytes(&bytes);
  }
  return found;
}

/* One eager op: (op, inputs, outputs, dtypes bit mask, input dtypes bit mask, as_buffer) -> 1 when an output is bad, and
   2 when one meets the op's condition. */
METHOD(eager) {
  EXPECT(6);
  int32_t op = (int32_t)PyLong_AsLong(args[0]);
  uint64_t dtypes = PyLong_AsUnsignedLongLong(args[3]), input_dtypes = PyLong_AsUnsignedLongLong(args[4]);
  if (PyErr_Occurred()) return NULL;
  PyObject *in = PySequence_Fast(args[1], "inputs"), *out = in ? PySequence_Fast(args[2], "outputs") : NULL;
  bool recording = tdbg_recording;
  int found = 0;
  if (out) {
    tensors inputs = {PySequence_Fast_ITEMS(in), PySequence_Fast_GET_SIZE(in)};
    tensors outputs = {PySequence_Fast_ITEMS(out), PySequence_Fast_GET_SIZE(out)};
    tdbg_observation seen = {.op = op, .graph = -1, .iteration = -1};
    if (recording) {
      seen.execution = tdbg_execution_next();
      record_new_inputs(seen, inputs, input_dtypes, args[5]);
      tdbg_push_call(TDBG_KIND_EXECUTION, seen.execution, op, -1, inputs.items, inputs.count);
    }
    found = record_outputs(seen, inputs, outputs, dtypes, args[5], recording);
  }
  Py_XDECREF(in);
  Py_XDECREF(out);
  return out ? PyLong_FromLong(found) : NULL;
}

PyMethodDef tdbg_tensorflow_eager_methods[] = {
    ENTRY(eager),
    NO_MORE,
};
