/* Checks and conditions, for Python. */
#include "python/part.h"
#include "stopping/from_python.h"
#include "stopping/input_notes.h"

METHOD(set_check) { /* (on, explain(check, op, slot, iteration, output, inputs) -> text or None) */
  EXPECT(2);
  return tdbg_set_check(args[0], args[1]);
}

METHOD(note_input) { /* (op, maker or -1, slot, magnitude of a constant, rule): see input_notes.h */
  EXPECT(5);
  long op = PyLong_AsLong(args[0]), maker = PyLong_AsLong(args[1]), slot = PyLong_AsLong(args[2]);
  double magnitude = PyFloat_AsDouble(args[3]);
  long rule = PyLong_AsLong(args[4]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_note_input((int32_t)op, (int32_t)maker, (uint16_t)slot, magnitude, (int)rule)) return PyErr_NoMemory();
  Py_RETURN_NONE;
}

METHOD(set_breaks) { /* (hold(op, slot, iteration, execution, output, inputs) -> text or None, [(op, slot, tests)]) */
  EXPECT(2);
  return tdbg_set_breaks(args[0], args[1]);
}

METHOD(add_break) { /* ((op, slot, tests)): of an op that was made since */
  EXPECT(1);
  return tdbg_add_break(args[0]);
}

METHOD(tests_met) { /* (tests, fields of model.Summary or None, elements, step, iteration) -> True, False or None */
  EXPECT(5);
  long long v[3];
  for (int i = 0; i < 3; i++) v[i] = PyLong_AsLongLong(args[i + 2]);
  if (PyErr_Occurred()) return NULL;
  return tdbg_tests_of(args[0], args[1], (int)v[1], (int)v[2], v[0]);
}

PyMethodDef tdbg_stopping_methods[] = {
    ENTRY(set_check),
    ENTRY(note_input),
    ENTRY(set_breaks),
    ENTRY(add_break),
    ENTRY(tests_met),
    NO_MORE,
};
