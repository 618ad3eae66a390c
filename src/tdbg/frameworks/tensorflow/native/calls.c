/* Calls of functions: their beginnings, what went in and came out, their ends. */
#include "calls.h"

#include "eager_tensors.h"
#include "part.h"
#include "python/observing.h"
#include "python/part.h"
#include "ring/executions.h"
#include "ring/makers.h"

void tdbg_push_call(int kind, int64_t execution, int32_t op, int32_t graph, PyObject *const *tensors, Py_ssize_t n) {
  tdbg_record record = {.execution = execution, .op = op, .graph = graph, .kind = (uint8_t)kind, .tensor = -1};
  if (n > UINT16_MAX) n = UINT16_MAX;
  record.slot = (uint16_t)n; /* so that the reader knows when the list is whole */
  Py_ssize_t done = 0;
  do {
    record.count = 0;
    while (done < n && record.count < TDBG_INLINE_INPUTS)
      record.inputs[record.count++] = tdbg_id_of(tensors[done++]);
    tdbg_push_with_gil(&record);
    record.kind = TDBG_KIND_MORE;
  } while (done < n);
}

/* (op, graph, inputs, list) -> execution. It is put into the list as well: an exception of a signal handler may strike
   before the caller has what is returned. */
METHOD(call_begin) {
  EXPECT(4);
  int32_t op = (int32_t)PyLong_AsLong(args[0]), graph = (int32_t)PyLong_AsLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  PyObject *inputs = PySequence_Fast(args[2], "inputs");
  if (!inputs) return NULL;
  int64_t execution = tdbg_execution_next();
  PyObject *number = PyLong_FromLongLong(execution);
  if (!number || PyList_Append(args[3], number) < 0) {
    Py_XDECREF(number);
    Py_DECREF(inputs);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  tdbg_execution_begin(execution, graph);
  Py_END_ALLOW_THREADS;
  tdbg_push_call(TDBG_KIND_EXECUTION, execution, op, graph, PySequence_Fast_ITEMS(inputs),
                 PySequence_Fast_GET_SIZE(inputs));
  Py_DECREF(inputs);
  return number;
}

/* What went into or came out of a call that cannot be looked into: (op, execution, flags, tensors, dtypes bit mask,
   as_buffer). */
METHOD(call_tensors) {
  EXPECT(6);
  tdbg_observation seen = {.op = (int32_t)PyLong_AsLong(args[0]), .execution = PyLong_AsLongLong(args[1]), .graph = -1,
                           .iteration = -1};
  uint16_t flags = (uint16_t)PyLong_AsLong(args[2]);
  uint64_t dtypes = PyLong_AsUnsignedLongLong(args[4]);
  PyObject *list = PyErr_Occurred() ? NULL : PySequence_Fast(args[3], "tensors");
  if (!list) return NULL;
  tdbg_tensor_bytes bytes;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
    PyObject *item = PySequence_Fast_GET_ITEM(list, i);
    int64_t id = tdbg_id_of(item);
    if (flags & TDBG_INPUT) { /* what an op made has a row already */
      if (id < 0 || tdbg_has_maker(id)) continue;
      tdbg_made(id, -1);
    }
    int dtype = tdbg_dtype_of(item);
    if (!tdbg_is_wanted(dtype, dtypes) || !tdbg_hold_bytes(item, args[5], &bytes)) continue;
    tdbg_describe_buffer(&bytes.view, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = flags;
    seen.tensor = id;
    tdbg_measure_with_gil(&seen);
    tdbg_emit_with_gil(&seen);
    tdbg_release_bytes(&bytes);
  }
  Py_DECREF(list);
  Py_RETURN_NONE;
}

METHOD(call_end) { /* (execution, op, outputs or None when it failed) */
  EXPECT(3);
  int64_t execution = PyLong_AsLongLong(args[0]);
  int32_t op = (int32_t)PyLong_AsLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  tdbg_execution_end(execution);
  if (args[2] == Py_None) {
    tdbg_push_call(TDBG_KIND_FAILED, execution, op, -1, NULL, 0);
    Py_RETURN_NONE;
  }
  PyObject *outputs = PySequence_Fast(args[2], "outputs");
  if (!outputs) return NULL;
  PyObject *const *items = PySequence_Fast_ITEMS(outputs);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(outputs); i++) {
    int64_t id = tdbg_id_of(items[i]);
    if (id >= 0) tdbg_made(id, op);
  }
  tdbg_push_call(TDBG_KIND_END, execution, op, -1, items, PySequence_Fast_GET_SIZE(outputs));
  Py_DECREF(outputs);
  Py_RETURN_NONE;
}

METHOD(call_lost) { /* (execution): an exception ended it, before or while its end was told */
  EXPECT(1);
  int64_t execution = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_execution_end(execution)) tdbg_push_call(TDBG_KIND_FAILED, execution, -1, -1, NULL, 0);
  Py_RETURN_NONE;
}

PyMethodDef tdbg_tensorflow_call_methods[] = {
    ENTRY(call_begin),
    ENTRY(call_tensors),
    ENTRY(call_end),
    ENTRY(call_lost),
    NO_MORE,
};
