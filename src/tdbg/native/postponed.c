/* A signal handler of the program may raise while Python answers a kernel that TensorFlow runs on the main thread.
   TensorFlow has no place for that exception, and the program waits for it: it is raised when the kernel is done. */
#include "postponed.h"

static int raise_now(void *given) {
  PyObject *error = given;
  PyErr_SetObject((PyObject *)Py_TYPE(error), error); /* with the traceback that it has */
  Py_DECREF(error);
  return -1;
}

void tdbg_postpone(PyObject *error) {
  if (Py_AddPendingCall(raise_now, error) < 0) Py_DECREF(error); /* 32 of them wait already */
}

void tdbg_postpone_error(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (!type) return;
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace && value) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  if (value) tdbg_postpone(value);
}
