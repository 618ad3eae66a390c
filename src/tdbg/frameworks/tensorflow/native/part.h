/* What TensorFlow adds to the extension: its ops, its eager tensors, its calls. */
#ifndef TDBG_TENSORFLOW_PART_H
#define TDBG_TENSORFLOW_PART_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef tdbg_tensorflow_eager_methods[], tdbg_tensorflow_call_methods[], tdbg_tensorflow_op_methods[];

/* Once, before any of them is called. False with an exception set on failure. */
int tdbg_start_tensorflow(void);

#endif
