/* tdbg.native._native: the parts of the extension together. */
#include "frameworks/tensorflow/native/held_inputs.h"
#include "frameworks/tensorflow/native/part.h"
#include "python/part.h"
#include "ring/forks.h"
#include "ring/ring.h"
#include "stopping/breaks.h"
#include "stopping/input_notes.h"

static PyMethodDef *const PARTS[] = {
    tdbg_summary_methods,
    tdbg_ring_methods,
    tdbg_observing_methods,
    tdbg_stack_methods,
    tdbg_stopping_methods,
    tdbg_terminal_methods,
    tdbg_debug_events_methods,
    tdbg_tensorflow_eager_methods,
    tdbg_tensorflow_call_methods,
    tdbg_tensorflow_op_methods,
};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static pthread_mutex_t *const LOCKS[] = {&tdbg_breaks_lock, &tdbg_executions_lock, &tdbg_held_inputs_lock,
                                         &tdbg_notes_lock,  &tdbg_shapes_lock,     &tdbg_values_lock};
enum { LOCK_COUNT = sizeof LOCKS / sizeof *LOCKS };

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
  tdbg_guard_forks(LOCKS, LOCK_COUNT);
  PyObject *module = tdbg_start_tensorflow() ? PyModule_Create(&definition) : NULL;
  if (!module) return NULL;
  int failed = PyModule_AddIntConstant(module, "RECORD_BYTES", sizeof(tdbg_record));
  failed |= PyModule_AddIntConstant(module, "IS_NATIVE", 1);
  for (int i = 0; i < PART_COUNT && !failed; i++) failed = PyModule_AddFunctions(module, PARTS[i]);
  if (!failed) return module;
  Py_DECREF(module);
  return NULL;
}
