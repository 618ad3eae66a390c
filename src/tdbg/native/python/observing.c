/* Events from threads that hold the GIL, and arrays as events, for Python. */
#include "python/observing.h"

#include "python/part.h"

enum { RELEASE_GIL_BYTES = 1 << 16 };

void tdbg_describe_buffer(const Py_buffer *view, int dtype, tdbg_observation *seen) {
  int64_t dims[TDBG_MAX_RANK];
  int rank = view->ndim > TDBG_MAX_RANK ? TDBG_MAX_RANK : view->ndim;
  for (int i = 0; i < rank; i++) dims[i] = view->shape[i];
  seen->data = view->buf;
  seen->bytes = view->len;
  seen->dtype = dtype;
  seen->shape = tdbg_shape_intern(rank, dims);
}

void tdbg_measure_with_gil(tdbg_observation *seen) {
  if (seen->bytes > RELEASE_GIL_BYTES) {
    Py_BEGIN_ALLOW_THREADS;
    tdbg_measure(seen);
    Py_END_ALLOW_THREADS;
  } else {
    tdbg_measure(seen);
  }
}

void tdbg_emit_with_gil(const tdbg_observation *seen) {
  if (tdbg_emit(seen, false) != TDBG_WOULD_WAIT) return;
  Py_BEGIN_ALLOW_THREADS;
  tdbg_emit(seen, true);
  Py_END_ALLOW_THREADS;
}

void tdbg_push_with_gil(tdbg_record *record) {
  if (tdbg_push(record, false) != TDBG_WOULD_WAIT) return;
  Py_BEGIN_ALLOW_THREADS;
  tdbg_push(record, true);
  Py_END_ALLOW_THREADS;
}

METHOD(tensor) { /* one array of a graph: (op, slot, graph, flags, execution, array, dtype) */
  EXPECT(7);
  long long v[5];
  for (int i = 0; i < 5; i++) v[i] = PyLong_AsLongLong(args[i]);
  int dtype = (int)PyLong_AsLong(args[6]);
  if (PyErr_Occurred()) return NULL;
  tdbg_observation seen = {.op = (int32_t)v[0], .slot = (uint16_t)v[1], .graph = (int32_t)v[2],
                           .flags = (uint16_t)v[3], .execution = v[4], .iteration = -1, .tensor = -1};
  Py_buffer view;
  if (PyObject_GetBuffer(args[5], &view, PyBUF_ND) < 0) return NULL;
  tdbg_describe_buffer(&view, dtype, &seen);
  tdbg_measure_with_gil(&seen);
  tdbg_emit_with_gil(&seen);
  PyBuffer_Release(&view);
  Py_RETURN_NONE;
}

/* Made-up events, for the store's benchmark and tests: (op, rows) from the calling thread, at full speed. */
METHOD(push_rows) {
  EXPECT(2);
  tdbg_observation seen = {.graph = -1, .iteration = -1, .execution = -1, .tensor = -1, .dtype = 3};
  seen.op = (int32_t)PyLong_AsLong(args[0]);
  long long rows = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  float data[8] = {1, -2, 3, 0, 5, -6, 7, 8};
  int64_t dims[1] = {8};
  seen.data = data;
  seen.bytes = sizeof data;
  Py_BEGIN_ALLOW_THREADS;
  seen.shape = tdbg_shape_intern(1, dims);
  for (long long i = 0; i < rows; i++) {
    data[0] = (float)i;
    seen.flags = 0;
    tdbg_measure(&seen);
    tdbg_emit(&seen, true);
  }
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyMethodDef tdbg_observing_methods[] = {
    ENTRY(tensor),
    ENTRY(push_rows),
    NO_MORE,
};
