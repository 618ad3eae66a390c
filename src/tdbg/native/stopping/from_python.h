/* What Python sets and asks here. Each returns a new reference, or NULL with an exception set. */
#ifndef TDBG_STOPPING_FROM_PYTHON_H
#define TDBG_STOPPING_FROM_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* explain(check, op, slot, iteration, output, inputs) -> text or None */
PyObject *tdbg_set_check(PyObject *on, PyObject *explain);

/* hold(op, slot, iteration, execution, output, inputs) -> text or None; items: (op, slot, tests) */
PyObject *tdbg_set_breaks(PyObject *hold, PyObject *items);
PyObject *tdbg_add_break(PyObject *item); /* of an op that was made since */

/* Whether a tensor meets tests: True, False or None. `summary`: the fields of model.Summary, or None. */
PyObject *tdbg_tests_of(PyObject *tests, PyObject *summary, int step, int iteration, long long elements);

#endif
