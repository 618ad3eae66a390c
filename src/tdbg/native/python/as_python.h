/* What C knows of a tensor, as Python gets it. */
#ifndef TDBG_AS_PYTHON_H
#define TDBG_AS_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "ring/shapes.h"
#include "summaries/summary.h"

/* All give a new reference, or NULL with an exception set. */
PyObject *tdbg_dims_as_tuple(const tdbg_shape *shape);
PyObject *tdbg_summary_as_tuple(const tdbg_summary *summary); /* the numbers of model.Summary, in order */
PyObject *tdbg_number_names(void);                            /* [(name, whether it is a count)], in the same order */

/* False with an exception set when it is no such tuple. */
bool tdbg_summary_from_tuple(PyObject *tuple, tdbg_summary *summary);

#endif
