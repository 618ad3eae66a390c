/* What the parts of the extension's Python face share. Arguments are checked there and nowhere deeper. */
#ifndef TDBG_PART_H
#define TDBG_PART_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define METHOD(name) static PyObject *name(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs)
#define EXPECT(n)                                                                                                    \
  if (nargs != (n)) return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %zd", __func__, (n), nargs)

#define ENTRY(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
#define NO_MORE {NULL, NULL, 0, NULL}

/* By subject; the module has them all. */
extern PyMethodDef tdbg_summary_methods[], tdbg_ring_methods[], tdbg_observing_methods[], tdbg_stack_methods[],
    tdbg_stopping_methods[], tdbg_terminal_methods[], tdbg_debug_events_methods[];

#endif
