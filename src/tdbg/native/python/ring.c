/* The ring, the switches, shapes, kept values and makers, for Python. */
#include "python/as_python.h"
#include "python/part.h"
#include "ring/forks.h"
#include "ring/kept_values.h"
#include "ring/makers.h"
#include "ring/ring.h"
#include "ring/switches.h"

/* ---- ring ---- */

METHOD(ring_open) { /* (capacity, file or None, block) */
  EXPECT(3);
  uint64_t capacity = PyLong_AsUnsignedLongLong(args[0]);
  const char *file = args[1] == Py_None ? NULL : PyUnicode_AsUTF8(args[1]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_ring_open(capacity, file, PyObject_IsTrue(args[2])) < 0)
    return file ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, args[1]) : PyErr_NoMemory();
  Py_RETURN_NONE;
}

METHOD(ring_drain) { /* (most) -> bytes of whole records */
  EXPECT(1);
  uint64_t most = PyLong_AsUnsignedLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  uint64_t pending = tdbg_ring_pending();
  if (most > pending) most = pending;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(most * sizeof(tdbg_record)));
  if (!bytes) return NULL;
  uint64_t taken;
  Py_BEGIN_ALLOW_THREADS;
  taken = tdbg_ring_drain((tdbg_record *)PyBytes_AS_STRING(bytes), most);
  Py_END_ALLOW_THREADS;
  if (taken < most) _PyBytes_Resize(&bytes, (Py_ssize_t)(taken * sizeof(tdbg_record)));
  return bytes;
}

METHOD(counters) { /* -> (produced, dropped, values dropped, waits, pending) */
  (void)args;
  EXPECT(0);
  tdbg_counters c = tdbg_ring_counters();
  return Py_BuildValue("KKKKK", c.produced, c.dropped, c.values_dropped, c.waits, tdbg_ring_pending());
}

METHOD(bad_events) { /* -> how many tensors with NaN or infinity were seen since the ring was opened */
  (void)args;
  EXPECT(0);
  return PyLong_FromUnsignedLongLong(tdbg_bad_events());
}

METHOD(after_fork) {
  (void)args;
  EXPECT(0);
  tdbg_after_fork();
  Py_RETURN_NONE;
}

/* ---- switches ---- */

METHOD(set_mode) { /* (mode, values when bad, queue bytes, bad bytes, kept per op) */
  EXPECT(5);
  long long v[5];
  for (int i = 0; i < 5; i++) v[i] = PyLong_AsLongLong(args[i]);
  if (PyErr_Occurred()) return NULL;
  tdbg_mode = (int)v[0];
  tdbg_values_when_bad = (int)v[1];
  tdbg_value_limits(v[2], v[3], (int)v[4]);
  Py_RETURN_NONE;
}

METHOD(set_recording) {
  EXPECT(1);
  tdbg_recording = PyObject_IsTrue(args[0]);
  Py_RETURN_NONE;
}

METHOD(set_first_op) {
  EXPECT(1);
  long first = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  tdbg_first_op = (int32_t)first;
  Py_RETURN_NONE;
}

METHOD(set_step) {
  EXPECT(1);
  long step = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  tdbg_step = (int)step;
  Py_RETURN_NONE;
}

/* ---- shapes, values, makers ---- */

METHOD(shapes_since) { /* (first id) -> list of dims */
  EXPECT(1);
  long first = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  int32_t count = tdbg_shape_count();
  PyObject *list = PyList_New(0);
  for (int32_t id = (int32_t)first; list && id < count; id++) {
    PyObject *dims = tdbg_dims_as_tuple(tdbg_shape_get(id));
    if (!dims || PyList_Append(list, dims) < 0) Py_CLEAR(list);
    Py_XDECREF(dims);
  }
  return list;
}

METHOD(take_value) { /* -> (token, dtype, dims, bytes) or None */
  (void)args;
  EXPECT(0);
  tdbg_value *value = tdbg_value_take();
  if (!value) Py_RETURN_NONE;
  PyObject *result = Py_BuildValue("LiNy#", value->token, value->dtype, tdbg_dims_as_tuple(value->shape), value->data,
                                   (Py_ssize_t)value->bytes);
  free(value);
  return result;
}

METHOD(forget_makers) { /* ops are numbered anew */
  (void)args;
  EXPECT(0);
  tdbg_makers_forget();
  Py_RETURN_NONE;
}

METHOD(maker_of) { /* (tensor id) -> op or -1 */
  EXPECT(1);
  int64_t tensor = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  return PyLong_FromLong(tdbg_maker_of(tensor));
}

PyMethodDef tdbg_ring_methods[] = {
    ENTRY(ring_open),
    ENTRY(ring_drain),
    ENTRY(counters),
    ENTRY(bad_events),
    ENTRY(after_fork),
    ENTRY(set_mode),
    ENTRY(set_recording),
    ENTRY(set_first_op),
    ENTRY(set_step),
    ENTRY(shapes_since),
    ENTRY(take_value),
    ENTRY(forget_makers),
    ENTRY(maker_of),
    NO_MORE,
};
