/* Calls of functions, and eager ops, as records with the numbers of their tensors. */
#ifndef TDBG_CALLS_H
#define TDBG_CALLS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* A beginning with the inputs' numbers, or an end with the outputs' (TDBG_KIND_*); long lists go on in more records. */
void tdbg_push_call(int kind, int64_t execution, int32_t op, int32_t graph, PyObject *const *tensors, Py_ssize_t n);

#endif
