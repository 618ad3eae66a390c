/* The conditions of this process, by op and output. Python fills them, kernels ask for theirs once. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "stopping/breaks.h"

#include <stdlib.h>
#include <string.h>

#include "python/as_python.h"
#include "python/asking.h"
#include "ring/switches.h"
#include "stopping/from_python.h"

typedef struct place {
  struct place *next;
  uint16_t slot;
  const tdbg_break *condition;
} place;

_Atomic int tdbg_breaks = 0;
pthread_mutex_t tdbg_breaks_lock = PTHREAD_MUTEX_INITIALIZER;

/* All under the lock. */
static int generation;
static place **by_op;
static int32_t room;
static tdbg_break *known; /* of this generation; the last one is the condition of those that have none */

static PyObject *hold; /* (op, slot, iteration, execution, output, inputs) -> text or None; read and set under the GIL */

static const tdbg_break *intern(const tdbg_test *tests, int count) {
  size_t bytes = (size_t)count * sizeof *tests;
  for (tdbg_break *one = known; one; one = one->next)
    if (one->count == count && (!count || !memcmp(one->tests, tests, bytes))) return one;
  tdbg_break *made = malloc(sizeof *made + bytes);
  if (!made) return NULL;
  made->generation = generation;
  made->count = count;
  if (bytes) memcpy(made->tests, tests, bytes);
  made->next = known;
  return known = made;
}

static void forget(void) {
  for (int32_t op = 0; op < room; op++)
    for (place *one = by_op[op], *next; one; one = next) {
      next = one->next;
      free(one);
    }
  free(by_op);
  by_op = NULL;
  room = 0;
  known = NULL;
}

static bool add(int32_t op, uint16_t slot, const tdbg_test *tests, int count) {
  if (op >= room) {
    int32_t larger = op + op / 2 + 1024;
    place **grown = realloc(by_op, (size_t)larger * sizeof *grown);
    if (!grown) return false;
    memset(grown + room, 0, (size_t)(larger - room) * sizeof *grown);
    by_op = grown;
    room = larger;
  }
  place *one = malloc(sizeof *one);
  if (!one) return false;
  *one = (place){by_op[op], slot, intern(tests, count)};
  by_op[op] = one;
  return one->condition != NULL;
}

static const tdbg_break *look_up(int32_t op, uint16_t slot) {
  pthread_mutex_lock(&tdbg_breaks_lock);
  const tdbg_break *found = NULL;
  for (place *one = op >= 0 && op < room ? by_op[op] : NULL; one && !found; one = one->next)
    if (one->slot == slot) found = one->condition;
  if (!found) found = intern(NULL, 0);
  pthread_mutex_unlock(&tdbg_breaks_lock);
  return found;
}

const tdbg_break *tdbg_break_of(tdbg_own_break *own, int32_t op, uint16_t slot) {
  int now = atomic_load_explicit(&tdbg_breaks, memory_order_relaxed);
  if (!now) return NULL;
  const tdbg_break *found = atomic_load_explicit(own, memory_order_acquire);
  if (!found || found->generation != now) {
    found = look_up(op, slot);
    atomic_store_explicit(own, found, memory_order_release);
  }
  return found && found->count ? found : NULL;
}

const tdbg_break *tdbg_break_at(int32_t op, uint16_t slot) {
  if (!atomic_load_explicit(&tdbg_breaks, memory_order_relaxed)) return NULL;
  const tdbg_break *found = look_up(op, slot);
  return found && found->count ? found : NULL;
}

bool tdbg_break_met(const tdbg_break *condition, const tdbg_observation *seen) {
  tdbg_tested tensor = {.numbers = &seen->numbers, .elements = seen->shape->elements, .iteration = seen->iteration,
                        .step = atomic_load_explicit(&tdbg_step, memory_order_relaxed)};
  tdbg_summary numbers;
  if (!(seen->flags & TDBG_NUMBERS))
    tensor.numbers = tdbg_summarize(seen->data, seen->shape->elements, seen->dtype, &numbers) ? NULL : &numbers;
  return tdbg_tests_met(condition->tests, condition->count, &tensor) == TDBG_TRUE;
}

/* ---- to Python ---- */

static PyObject *as_tuple(const tdbg_observation *seen) { /* (dtype, dims, bytes) */
  PyObject *dims = tdbg_dims_as_tuple(seen->shape);
  if (!dims) return NULL;
  bool is_number = tdbg_dtype_size(seen->dtype) != 0; /* the bytes of others are not their elements */
  return Py_BuildValue("iNy#", seen->dtype, dims, (const char *)(is_number ? seen->data : ""),
                       (Py_ssize_t)(is_number ? seen->bytes : 0));
}

static char *ask(const tdbg_observation *seen, const tdbg_observation *inputs, int count) {
  PyObject *given = PyList_New(0), *output = given ? as_tuple(seen) : NULL, *answer = NULL;
  for (int i = 0; given && i < count; i++) {
    PyObject *one = as_tuple(&inputs[i]);
    if (!one || PyList_Append(given, one) < 0) Py_CLEAR(given);
    Py_XDECREF(one);
  }
  PyObject *function = Py_XNewRef(hold);
  if (output && given && function)
    answer = PyObject_CallFunction(function, "iiiLOO", seen->op, (int)seen->slot, seen->iteration,
                                   (long long)seen->execution, output, given);
  if (!answer) tdbg_postpone_error();
  const char *text = answer && answer != Py_None ? PyUnicode_AsUTF8(answer) : NULL;
  char *why = text ? strdup(text) : NULL;
  PyErr_Clear(); /* Python says its own faults */
  Py_XDECREF(function);
  Py_XDECREF(answer);
  Py_XDECREF(output);
  Py_XDECREF(given);
  return why;
}

char *tdbg_hold_program(const tdbg_observation *seen, const tdbg_observation *inputs, int count) {
  tdbg_asking asking;
  if (!tdbg_begin_asking(&asking)) return NULL;
  char *why = ask(seen, inputs, count);
  tdbg_end_asking(&asking);
  return why;
}

/* ---- from Python ---- */

static bool add_from(PyObject *item) { /* (op, slot, tests) */
  int op, slot;
  Py_buffer tests;
  if (!PyArg_ParseTuple(item, "iiy*", &op, &slot, &tests)) return false;
  int count = (int)(tests.len / (Py_ssize_t)sizeof(tdbg_test));
  bool fits = op >= 0 && slot >= 0 && tests.len % (Py_ssize_t)sizeof(tdbg_test) == 0 &&
              tdbg_tests_are_valid(tests.buf, count);
  bool done = fits && add(op, (uint16_t)slot, tests.buf, count);
  PyBuffer_Release(&tests);
  if (!fits)
    PyErr_SetString(PyExc_ValueError, "this is no condition that can be followed");
  else if (!done)
    PyErr_NoMemory();
  return done;
}

PyObject *tdbg_set_breaks(PyObject *function, PyObject *items) {
  PyObject *all = PySequence_Fast(items, "conditions");
  if (!all) return NULL;
  Py_XSETREF(hold, function == Py_None ? NULL : Py_NewRef(function));
  pthread_mutex_lock(&tdbg_breaks_lock); /* short, and nobody who has it waits for the GIL */
  forget();
  generation++;
  bool done = true;
  for (Py_ssize_t i = 0; done && i < PySequence_Fast_GET_SIZE(all); i++)
    done = add_from(PySequence_Fast_GET_ITEM(all, i));
  tdbg_breaks = hold && done ? generation : 0;
  pthread_mutex_unlock(&tdbg_breaks_lock);
  Py_DECREF(all);
  if (!done) return NULL;
  Py_RETURN_NONE;
}

PyObject *tdbg_add_break(PyObject *item) {
  pthread_mutex_lock(&tdbg_breaks_lock);
  bool done = add_from(item);
  pthread_mutex_unlock(&tdbg_breaks_lock);
  if (!done) return NULL;
  Py_RETURN_NONE;
}

PyObject *tdbg_tests_of(PyObject *tests, PyObject *summary, int step, int iteration, long long elements) {
  tdbg_summary s;
  bool is_measured = summary != Py_None;
  if (is_measured && !tdbg_summary_from_tuple(summary, &s)) return NULL;
  Py_buffer view;
  if (PyObject_GetBuffer(tests, &view, PyBUF_SIMPLE) < 0) return NULL;
  int count = (int)(view.len / (Py_ssize_t)sizeof(tdbg_test)), truth = TDBG_UNKNOWN;
  bool fits = tdbg_tests_are_valid(view.buf, count);
  tdbg_tested tensor = {is_measured ? &s : NULL, elements, step, iteration};
  if (fits) truth = tdbg_tests_met(view.buf, count, &tensor);
  PyBuffer_Release(&view);
  if (!fits) return PyErr_Format(PyExc_ValueError, "this is no condition that can be followed");
  if (truth == TDBG_UNKNOWN) Py_RETURN_NONE;
  return PyBool_FromLong(truth);
}
