/* Reads the attributes and the buffers of eager tensors. */
#include "eager_tensors.h"

#include "api.h"
#include "part.h"
#include "python/asking.h"

static PyObject *name_id, *name_dtype;

int tdbg_start_tensorflow(void) {
  name_id = PyUnicode_InternFromString("_id");
  name_dtype = PyUnicode_InternFromString("_datatype_enum");
  return name_id && name_dtype;
}

static int64_t long_attribute(PyObject *object, PyObject *name, bool call) {
  PyObject *number = call ? PyObject_CallMethodNoArgs(object, name) : PyObject_GetAttr(object, name);
  int64_t result = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  if (PyErr_Occurred()) PyErr_Clear();
  return result;
}

int64_t tdbg_id_of(PyObject *tensor) { return long_attribute(tensor, name_id, false); }

int tdbg_dtype_of(PyObject *tensor) {
  return tdbg_dtype_of_tensorflow((int)long_attribute(tensor, name_dtype, true));
}

bool tdbg_hold_bytes(PyObject *tensor, PyObject *as_buffer, tdbg_tensor_bytes *bytes) {
  bytes->holder = NULL;
  if (PyObject_GetBuffer(tensor, &bytes->view, PyBUF_ND) == 0) return true;
  PyErr_Clear(); /* bfloat16 and the 8-bit floats: numpy has no buffer format for them */
  bytes->holder = PyObject_CallOneArg(as_buffer, tensor);
  if (bytes->holder && PyObject_GetBuffer(bytes->holder, &bytes->view, PyBUF_ND) == 0) return true;
  if (bytes->holder && PyExceptionInstance_Check(bytes->holder)) { /* the program's own: see as_buffer */
    tdbg_postpone(bytes->holder);
    bytes->holder = NULL;
  }
  Py_CLEAR(bytes->holder);
  PyErr_Clear();
  return false;
}

void tdbg_release_bytes(tdbg_tensor_bytes *bytes) {
  PyBuffer_Release(&bytes->view);
  Py_XDECREF(bytes->holder);
}
