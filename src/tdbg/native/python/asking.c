/* A signal handler of the program may raise while Python answers a kernel that the framework runs on the main thread.
   The framework has no place for that exception, and the program waits for it: it is raised when the kernel is done. */
#include "python/asking.h"

static bool can_ask(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() && !Py_IsFinalizing();
#else
  return Py_IsInitialized() && !_Py_IsFinalizing();
#endif
}

bool tdbg_begin_asking(tdbg_asking *asking) {
  if (!can_ask()) return false;
  asking->state = PyGILState_Ensure();
  PyErr_Fetch(&asking->type, &asking->value, &asking->trace);
  return true;
}

void tdbg_end_asking(tdbg_asking *asking) {
  PyErr_Restore(asking->type, asking->value, asking->trace);
  PyGILState_Release(asking->state);
}

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
