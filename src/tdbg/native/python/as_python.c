/* Shapes and summaries as tuples. */
#include "python/as_python.h"

PyObject *tdbg_dims_as_tuple(const tdbg_shape *shape) {
  PyObject *dims = PyTuple_New(shape->rank);
  for (int i = 0; dims && i < shape->rank; i++) PyTuple_SET_ITEM(dims, i, PyLong_FromLongLong(shape->dims[i]));
  return dims;
}

PyObject *tdbg_summary_as_tuple(const tdbg_summary *summary) {
  PyObject *tuple = PyTuple_New(TDBG_NUMBER_COUNT);
  int at = 0;
  if (!tuple) return NULL;
#define COUNT(name) PyTuple_SET_ITEM(tuple, at++, PyLong_FromLongLong(summary->name));
#define STATISTIC(name) PyTuple_SET_ITEM(tuple, at++, PyFloat_FromDouble(summary->name));
  TDBG_EACH_NUMBER(COUNT, STATISTIC)
#undef COUNT
#undef STATISTIC
  if (PyErr_Occurred()) Py_CLEAR(tuple);
  return tuple;
}

bool tdbg_summary_from_tuple(PyObject *tuple, tdbg_summary *summary) {
  int at = 0;
  if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != TDBG_NUMBER_COUNT) {
    PyErr_Format(PyExc_TypeError, "a summary is a tuple of %d numbers", TDBG_NUMBER_COUNT);
    return false;
  }
#define COUNT(name) summary->name = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, at++));
#define STATISTIC(name) summary->name = PyFloat_AsDouble(PyTuple_GET_ITEM(tuple, at++));
  TDBG_EACH_NUMBER(COUNT, STATISTIC)
#undef COUNT
#undef STATISTIC
  return !PyErr_Occurred();
}

PyObject *tdbg_number_names(void) {
  PyObject *names = PyList_New(0);
#define ADD(name, is_count)                                                                                          \
  if (names) {                                                                                                       \
    PyObject *one = Py_BuildValue("sO", #name, is_count);                                                            \
    if (!one || PyList_Append(names, one) < 0) Py_CLEAR(names);                                                      \
    Py_XDECREF(one);                                                                                                 \
  }
#define COUNT(name) ADD(name, Py_True)
#define STATISTIC(name) ADD(name, Py_False)
  TDBG_EACH_NUMBER(COUNT, STATISTIC)
#undef COUNT
#undef STATISTIC
#undef ADD
  return names;
}
