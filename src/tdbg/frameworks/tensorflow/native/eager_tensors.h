/* Eager tensors of TensorFlow, as Python has them. */
#ifndef TDBG_EAGER_TENSORS_H
#define TDBG_EAGER_TENSORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* TensorFlow's number of the tensor; -1 when it is none. */
int64_t tdbg_id_of(PyObject *tensor);
/* tdbg's type of its elements, 0 when it is not known. */
int tdbg_dtype_of(PyObject *tensor);

/* Its bytes, for as long as they are held. Strings, resources and the like have none. */
typedef struct {
  Py_buffer view;
  PyObject *holder;
} tdbg_tensor_bytes;

bool tdbg_hold_bytes(PyObject *tensor, PyObject *as_buffer, tdbg_tensor_bytes *bytes);
void tdbg_release_bytes(tdbg_tensor_bytes *bytes);

/* Whether the bit of this type is set. */
static inline bool tdbg_is_wanted(int dtype, uint64_t dtypes) { return dtype > 0 && (dtypes >> dtype & 1); }

#endif
