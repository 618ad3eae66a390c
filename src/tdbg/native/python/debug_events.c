/* The columns of TensorFlow's DebugEvents files, for Python. */
#include "debug_events/columns.h"
#include "python/part.h"

static PyObject *taken(tdbg_growing *bytes) {
  PyObject *result = PyBytes_FromStringAndSize((const char *)bytes->data, (Py_ssize_t)bytes->size);
  tdbg_release(bytes);
  return result;
}

METHOD(masked_crc32c) { /* (buffer) -> the checksum of a TFRecord */
  EXPECT(1);
  Py_buffer view;
  if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  uint32_t crc;
  Py_BEGIN_ALLOW_THREADS;
  crc = tdbg_masked_crc32c(view.buf, (size_t)view.len);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  return PyLong_FromUnsignedLong(crc);
}

METHOD(read_records) { /* (buffer, begin, most) -> (spans, next, lost records, lost bytes, tail) */
  EXPECT(3);
  Py_buffer view;
  int64_t begin = PyLong_AsLongLong(args[1]), most = PyLong_AsLongLong(args[2]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  tdbg_records found;
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = tdbg_read_records(view.buf, view.len, begin < 0 ? 0 : begin, most, &found);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  PyObject *spans = taken(&found.spans);
  if (failed) {
    Py_XDECREF(spans);
    return PyErr_NoMemory();
  }
  return Py_BuildValue("NLLLL", spans, found.next, found.lost_records, found.lost_bytes, found.tail);
}

METHOD(read_debug_events) { /* (buffer, spans) -> (events, tensors, ids, list of strings, unreadable) */
  EXPECT(2);
  Py_buffer view, spans;
  if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  if (PyObject_GetBuffer(args[1], &spans, PyBUF_SIMPLE) < 0) {
    PyBuffer_Release(&view);
    return NULL;
  }
  tdbg_debug_columns found;
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = tdbg_read_debug_events(view.buf, view.len, spans.buf, spans.len / (Py_ssize_t)sizeof(tdbg_span), &found);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&spans);
  PyObject *strings = PyList_New(0);
  const tdbg_span *text = (const tdbg_span *)found.strings.data;
  for (size_t i = 0; strings && i < found.strings.size / sizeof *text; i++) {
    PyObject *one = PyBytes_FromStringAndSize((const char *)view.buf + text[i].offset, (Py_ssize_t)text[i].length);
    if (!one || PyList_Append(strings, one) < 0) Py_CLEAR(strings);
    Py_XDECREF(one);
  }
  PyBuffer_Release(&view);
  tdbg_release(&found.strings);
  PyObject *events = taken(&found.events), *tensors = taken(&found.tensors), *ids = taken(&found.ids);
  if (failed) PyErr_NoMemory();
  if (failed || !events || !tensors || !ids || !strings) {
    Py_XDECREF(events);
    Py_XDECREF(tensors);
    Py_XDECREF(ids);
    Py_XDECREF(strings);
    return NULL;
  }
  return Py_BuildValue("NNNNL", events, tensors, ids, strings, found.unreadable);
}

PyMethodDef tdbg_debug_events_methods[] = {
    ENTRY(masked_crc32c),
    ENTRY(read_records),
    ENTRY(read_debug_events),
    NO_MORE,
};
