/* Asking Python from a thread of the framework's, and the program's exceptions that strike meanwhile. */
#ifndef TDBG_ASKING_H
#define TDBG_ASKING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

typedef struct {
  PyGILState_STATE state;
  PyObject *type, *value, *trace;
} tdbg_asking;

/* Takes the GIL, and puts aside the exception that is set: the thread may be in the middle of something. False once
   Python ends: who would ask for the GIL then would not come back. */
bool tdbg_begin_asking(tdbg_asking *asking);
void tdbg_end_asking(tdbg_asking *asking);

/* Takes the exception that is set, if any, and raises it as soon as the main thread runs Python again. */
void tdbg_postpone_error(void);
/* The same for an exception that is at hand; takes the reference. */
void tdbg_postpone(PyObject *error);

#endif
