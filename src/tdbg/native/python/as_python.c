/* Shapes and summaries as tuples. */
#include "python/as_python.h"

PyObject *tdbg_dims_as_tuple(const tdbg_shape *shape) {
  PyObject *dims = PyTuple_New(shape->rank);
  for (int i = 0; dims && i < shape->rank; i++) PyTuple_SET_ITEM(dims, i, PyLong_FromLongLong(shape->dims[i]));
  return dims;
}

PyObject *tdbg_summary_as_tuple(const tdbg_summary *s) {
  return Py_BuildValue("LLLLLLLdddd", s->elements, s->negative, s->zero, s->positive, s->neg_inf, s->pos_inf, s->nan,
                       s->min, s->max, s->mean, s->std);
}
