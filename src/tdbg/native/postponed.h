/* Exceptions of the program that struck where C has to answer TensorFlow. */
#ifndef TDBG_POSTPONED_H
#define TDBG_POSTPONED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Takes the exception that is set, if any, and raises it as soon as the main thread runs Python again. */
void tdbg_postpone_error(void);
/* The same for an exception that is at hand; takes the reference. */
void tdbg_postpone(PyObject *error);

#endif
