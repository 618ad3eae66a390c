/* TensorFlow's ops and Sessions, for Python. */
#include "dump_op.h"
#include "held_inputs.h"
#include "observer_op.h"
#include "part.h"
#include "python/part.h"
#include "session_op.h"

METHOD(register_tensorflow) { /* (path) -> None or what failed */
  EXPECT(1);
  const char *path = PyUnicode_AsUTF8(args[0]);
  if (!path) return NULL;
  const char *problem = tdbg_register_tensorflow(path);
  return problem ? PyUnicode_FromString(problem) : Py_NewRef(Py_None);
}

METHOD(set_session) { /* (resolve(url, device, tensor name)) */
  EXPECT(1);
  return tdbg_set_session(args[0]);
}

METHOD(session_end) { /* (execution): nothing of this run is needed any more */
  EXPECT(1);
  int64_t execution = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  tdbg_let_go_all(execution);
  Py_RETURN_NONE;
}

METHOD(not_held) { /* -> inputs that could not be held until their op's output was looked at */
  (void)args;
  EXPECT(0);
  return PyLong_FromLongLong(tdbg_not_held());
}

METHOD(not_dumped) { /* -> tensors that were not, the errno of the last one */
  (void)args;
  EXPECT(0);
  int why = 0;
  int64_t count = tdbg_not_dumped(&why);
  return Py_BuildValue("Li", (long long)count, why);
}

PyMethodDef tdbg_tensorflow_op_methods[] = {
    ENTRY(register_tensorflow),
    ENTRY(set_session),
    ENTRY(session_end),
    ENTRY(not_held),
    ENTRY(not_dumped),
    NO_MORE,
};
