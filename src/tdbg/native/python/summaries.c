/* Summaries of buffers, for Python. */
#include "python/as_python.h"
#include "python/part.h"
#include "summaries/summary.h"

METHOD(summarize) { /* (contiguous buffer, dtype code) -> the fields of model.Summary, or None */
  EXPECT(2);
  Py_buffer view;
  int dtype = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  int size = tdbg_dtype_size(dtype);
  tdbg_summary s;
  int failed = size ? 0 : -1;
  if (size) {
    Py_BEGIN_ALLOW_THREADS;
    failed = tdbg_summarize(view.buf, view.len / size, dtype, &s);
    Py_END_ALLOW_THREADS;
  }
  PyBuffer_Release(&view);
  if (failed) Py_RETURN_NONE;
  return tdbg_summary_as_tuple(&s);
}

METHOD(has_bad) {
  EXPECT(2);
  Py_buffer view;
  int dtype = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  int size = tdbg_dtype_size(dtype), bad = 0;
  Py_BEGIN_ALLOW_THREADS;
  if (size) bad = tdbg_has_bad(view.buf, view.len / size, dtype);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  return PyBool_FromLong(bad == 1);
}

METHOD(kernel_name) {
  (void)args;
  EXPECT(0);
  return PyUnicode_FromString(tdbg_kernel_name());
}

METHOD(use_kernel) {
  EXPECT(1);
  const char *name = PyUnicode_AsUTF8(args[0]);
  if (!name) return NULL;
  return PyBool_FromLong(tdbg_use_kernel(name) == 0);
}

METHOD(number_names) { /* -> [(name, whether it is a count)]: what a summary has, in its order */
  (void)args;
  EXPECT(0);
  return tdbg_number_names();
}

PyMethodDef tdbg_summary_methods[] = {
    ENTRY(summarize),
    ENTRY(has_bad),
    ENTRY(kernel_name),
    ENTRY(use_kernel),
    ENTRY(number_names),
    NO_MORE,
};
