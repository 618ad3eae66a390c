/* How threads that hold the GIL measure tensors and push events. */
#ifndef TDBG_PYTHON_OBSERVING_H
#define TDBG_PYTHON_OBSERVING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ring/observations.h"

/* Fills data, bytes, dtype and shape of what lies in a buffer. */
void tdbg_describe_buffer(const Py_buffer *view, int dtype, tdbg_observation *seen);
/* As without the suffix, but for long work, and where they have to wait, they let go of the GIL: the writer needs it to
   make room in a full ring. */
void tdbg_measure_with_gil(tdbg_observation *seen);
void tdbg_emit_with_gil(const tdbg_observation *seen);
void tdbg_push_with_gil(tdbg_record *record);

#endif
