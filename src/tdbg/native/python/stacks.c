/* Interned stacks, for Python. */
#include "python/part.h"
#include "stacks/stacks.h"

METHOD(stack_here) {
  EXPECT(1);
  int64_t stack = tdbg_stack_here((int)PyLong_AsLong(args[0]));
  return PyErr_Occurred() ? NULL : PyLong_FromLongLong(stack);
}

METHOD(stack_get) {
  EXPECT(1);
  return tdbg_stack_get(PyLong_AsLongLong(args[0]));
}

PyMethodDef tdbg_stack_methods[] = {
    ENTRY(stack_here),
    ENTRY(stack_get),
    NO_MORE,
};
