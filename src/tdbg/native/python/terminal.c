/* The guard of the terminal, for Python. */
#include "python/part.h"
#include "terminal/terminal_guard.h"

METHOD(guard_terminal) { /* (descriptor, descriptor of a file, bytes) -> whether it is guarded */
  EXPECT(3);
  char *leave;
  Py_ssize_t length;
  int terminal = (int)PyLong_AsLong(args[0]), caught = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || PyBytes_AsStringAndSize(args[2], &leave, &length) < 0) return NULL;
  return PyBool_FromLong(tdbg_guard_terminal(terminal, caught, leave, (size_t)length));
}

METHOD(release_terminal) {
  (void)args;
  EXPECT(0);
  tdbg_release_terminal();
  Py_RETURN_NONE;
}

PyMethodDef tdbg_terminal_methods[] = {
    ENTRY(guard_terminal),
    ENTRY(release_terminal),
    NO_MORE,
};
