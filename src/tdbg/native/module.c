/* The Python face of the native code: tdbg.native._native. Arguments are checked here and nowhere deeper. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "breaks.h"
#include "check.h"
#include "debug_events.h"
#include "dump_op.h"
#include "events.h"
#include "held.h"
#include "remembered.h"
#include "session_op.h"
#include "stacks.h"
#include "summary.h"
#include "tensorflow_op.h"
#include "terminal_guard.h"
#include "postponed.h"

#define METHOD(name) static PyObject *name(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t nargs)
#define EXPECT(n)                                                                                                    \
  if (nargs != (n)) return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %zd", __func__, (n), nargs)

enum { RELEASE_GIL_BYTES = 1 << 16 };

/* ---- the terminal ---- */

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

/* ---- summaries ---- */

METHOD(summarize) { /* (contiguous buffer, dtype code) -> the fields of model.Summary, or None */
  EXPECT(2);
  Py_buffer view;
  int dtype = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  int size = tdbg_dtype_size(dtype);
  tdbg_summary s;
  int failed = size ? 0 : -1;
  if (size) {
    Py_BEGIN_ALLOW_THREADS;
    failed = tdbg_summarize(view.buf, view.len / size, dtype, &s);
    Py_END_ALLOW_THREADS;
  }
  PyBuffer_Release(&view);
  if (failed) Py_RETURN_NONE;
  return Py_BuildValue("LLLLLLLdddd", s.elements, s.negative, s.zero, s.positive, s.neg_inf, s.pos_inf, s.nan, s.min,
                       s.max, s.mean, s.std);
}

METHOD(has_bad) {
  EXPECT(2);
  Py_buffer view;
  int dtype = (int)PyLong_AsLong(args[1]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  int size = tdbg_dtype_size(dtype), bad = 0;
  Py_BEGIN_ALLOW_THREADS;
  if (size) bad = tdbg_has_bad(view.buf, view.len / size, dtype);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  return PyBool_FromLong(bad == 1);
}

METHOD(kernel_name) {
  (void)args;
  EXPECT(0);
  return PyUnicode_FromString(tdbg_kernel_name());
}

METHOD(use_kernel) {
  EXPECT(1);
  const char *name = PyUnicode_AsUTF8(args[0]);
  if (!name) return NULL;
  return PyBool_FromLong(tdbg_use_kernel(name) == 0);
}

/* ---- ring ---- */

METHOD(ring_open) { /* (capacity, file or None, block) */
  EXPECT(3);
  uint64_t capacity = PyLong_AsUnsignedLongLong(args[0]);
  const char *file = args[1] == Py_None ? NULL : PyUnicode_AsUTF8(args[1]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_ring_open(capacity, file, PyObject_IsTrue(args[2])) < 0)
    return file ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, args[1]) : PyErr_NoMemory();
  Py_RETURN_NONE;
}

METHOD(ring_drain) { /* (most) -> bytes of whole records */
  EXPECT(1);
  uint64_t most = PyLong_AsUnsignedLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  uint64_t pending = tdbg_ring_pending();
  if (most > pending) most = pending;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(most * sizeof(tdbg_record)));
  if (!bytes) return NULL;
  uint64_t taken;
  Py_BEGIN_ALLOW_THREADS;
  taken = tdbg_ring_drain((tdbg_record *)PyBytes_AS_STRING(bytes), most);
  Py_END_ALLOW_THREADS;
  if (taken < most) _PyBytes_Resize(&bytes, (Py_ssize_t)(taken * sizeof(tdbg_record)));
  return bytes;
}

METHOD(counters) { /* -> (produced, dropped, values dropped, waits, pending) */
  (void)args;
  EXPECT(0);
  tdbg_counters c = tdbg_ring_counters();
  return Py_BuildValue("KKKKK", c.produced, c.dropped, c.values_dropped, c.waits, tdbg_ring_pending());
}

METHOD(bad_events) { /* -> how many tensors with NaN or infinity were seen since the ring was opened */
  (void)args;
  EXPECT(0);
  return PyLong_FromUnsignedLongLong(tdbg_bad_events());
}

METHOD(after_fork) {
  (void)args;
  EXPECT(0);
  tdbg_after_fork();
  Py_RETURN_NONE;
}

/* ---- switches ---- */

METHOD(set_mode) { /* (mode, values when bad, queue bytes, bad bytes, kept per op) */
  EXPECT(5);
  long long v[5];
  for (int i = 0; i < 5; i++) v[i] = PyLong_AsLongLong(args[i]);
  if (PyErr_Occurred()) return NULL;
  tdbg_mode = (int)v[0];
  tdbg_values_when_bad = (int)v[1];
  tdbg_value_limits(v[2], v[3], (int)v[4]);
  Py_RETURN_NONE;
}

METHOD(set_recording) {
  EXPECT(1);
  tdbg_recording = PyObject_IsTrue(args[0]);
  Py_RETURN_NONE;
}

PyObject *tdbg_set_check(PyObject *on, PyObject *function);

METHOD(set_check) { /* (on, explain(check, op, slot, iteration, output, inputs) -> text or None) */
  EXPECT(2);
  return tdbg_set_check(args[0], args[1]);
}

METHOD(remember_input) { /* (op, maker or -1, slot, magnitude of a constant, rule): see remembered.h */
  EXPECT(5);
  long op = PyLong_AsLong(args[0]), maker = PyLong_AsLong(args[1]), slot = PyLong_AsLong(args[2]);
  double magnitude = PyFloat_AsDouble(args[3]);
  long rule = PyLong_AsLong(args[4]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_remember((int32_t)op, (int32_t)maker, (uint16_t)slot, magnitude, (int)rule)) return PyErr_NoMemory();
  Py_RETURN_NONE;
}

PyObject *tdbg_set_breaks(PyObject *function, PyObject *items);
PyObject *tdbg_add_break(PyObject *item);
PyObject *tdbg_tests_of(PyObject *tests, PyObject *summary, int step, int iteration, long long elements);

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

METHOD(set_first_op) {
  EXPECT(1);
  long first = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  tdbg_first_op = (int32_t)first;
  Py_RETURN_NONE;
}

METHOD(set_step) {
  EXPECT(1);
  long step = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  tdbg_step = (int)step;
  Py_RETURN_NONE;
}

/* ---- shapes and values ---- */

static PyObject *dims_of(const tdbg_shape *shape) {
  PyObject *dims = PyTuple_New(shape->rank);
  for (int i = 0; dims && i < shape->rank; i++) PyTuple_SET_ITEM(dims, i, PyLong_FromLongLong(shape->dims[i]));
  return dims;
}

METHOD(shapes_since) { /* (first id) -> list of dims */
  EXPECT(1);
  long first = PyLong_AsLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  int32_t count = tdbg_shape_count();
  PyObject *list = PyList_New(0);
  for (int32_t id = (int32_t)first; list && id < count; id++) {
    PyObject *dims = dims_of(tdbg_shape_get(id));
    if (!dims || PyList_Append(list, dims) < 0) Py_CLEAR(list);
    Py_XDECREF(dims);
  }
  return list;
}

METHOD(take_value) { /* -> (token, dtype, dims, bytes) or None */
  (void)args;
  EXPECT(0);
  tdbg_value *value = tdbg_value_take();
  if (!value) Py_RETURN_NONE;
  PyObject *result = Py_BuildValue("LiNy#", value->token, value->dtype, dims_of(value->shape), value->data,
                                   (Py_ssize_t)value->bytes);
  free(value);
  return result;
}

/* ---- stacks ---- */

METHOD(stack_here) {
  EXPECT(1);
  int64_t stack = tdbg_stack_here((int)PyLong_AsLong(args[0]));
  return PyErr_Occurred() ? NULL : PyLong_FromLongLong(stack);
}

METHOD(stack_count) {
  (void)args;
  EXPECT(0);
  return PyLong_FromLongLong(tdbg_stack_count());
}

METHOD(stack_get) {
  EXPECT(1);
  return tdbg_stack_get(PyLong_AsLongLong(args[0]));
}

/* ---- executions ---- */

static PyObject *name_id, *name_dtype;

/* Which op made an eager tensor: a direct-mapped cache by tensor id. A collision only means that a tensor is
   described once more. */
enum { REMEMBERED = 1 << 18 };
static struct {
  int64_t tensor;
  int32_t op;
} makers[REMEMBERED];

static void remember(int64_t tensor, int32_t op) {
  makers[tensor & (REMEMBERED - 1)].tensor = tensor + 1;
  makers[tensor & (REMEMBERED - 1)].op = op;
}

static bool is_remembered(int64_t tensor) { return makers[tensor & (REMEMBERED - 1)].tensor == tensor + 1; }

METHOD(forget_makers) { /* ops are numbered anew */
  (void)args;
  EXPECT(0);
  memset(makers, 0, sizeof makers);
  Py_RETURN_NONE;
}

METHOD(maker_of) { /* (tensor id) -> op or -1 */
  EXPECT(1);
  int64_t tensor = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  return PyLong_FromLong(is_remembered(tensor) ? makers[tensor & (REMEMBERED - 1)].op : -1);
}

static int64_t long_attribute(PyObject *object, PyObject *name, bool call) {
  PyObject *number = call ? PyObject_CallMethodNoArgs(object, name) : PyObject_GetAttr(object, name);
  int64_t result = number ? PyLong_AsLongLong(number) : -1;
  Py_XDECREF(number);
  if (PyErr_Occurred()) PyErr_Clear();
  return result;
}

/* The writer needs the GIL to make room in a full ring: wait without it. */
static void push_record(tdbg_record *record) {
  if (tdbg_push(record, false) != TDBG_WOULD_WAIT) return;
  Py_BEGIN_ALLOW_THREADS;
  tdbg_push(record, true);
  Py_END_ALLOW_THREADS;
}

/* A call's beginning with its inputs' ids, or its end with its outputs'; long lists go on in further records. */
static void push_execution(int kind, int64_t execution, int32_t op, int32_t graph, PyObject *const *ids, Py_ssize_t n) {
  tdbg_record record = {.execution = execution, .op = op, .graph = graph, .kind = (uint8_t)kind, .tensor = -1};
  if (n > UINT16_MAX) n = UINT16_MAX;
  record.slot = (uint16_t)n; /* so that the reader knows when the list is whole */
  Py_ssize_t done = 0;
  do {
    record.count = 0;
    while (done < n && record.count < TDBG_INLINE_INPUTS)
      record.inputs[record.count++] = long_attribute(ids[done++], name_id, false);
    push_record(&record);
    record.kind = TDBG_KIND_MORE;
  } while (done < n);
}

/* An eager tensor's bytes, for as long as it is held. Strings, resources and the like have none. */
typedef struct {
  Py_buffer view;
  PyObject *holder;
} held;

static bool hold(PyObject *tensor, PyObject *as_buffer, held *bytes) {
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

static void release(held *bytes) {
  PyBuffer_Release(&bytes->view);
  Py_XDECREF(bytes->holder);
}

static void describe(const held *bytes, int dtype, tdbg_observation *seen) {
  const Py_buffer *view = &bytes->view;
  int64_t dims[TDBG_MAX_RANK];
  int rank = view->ndim > TDBG_MAX_RANK ? TDBG_MAX_RANK : view->ndim;
  for (int i = 0; i < rank; i++) dims[i] = view->shape[i];
  seen->data = view->buf;
  seen->bytes = view->len;
  seen->dtype = dtype;
  seen->shape = tdbg_shape_intern(rank, dims);
}

static void measure(tdbg_observation *seen) {
  if (seen->bytes > RELEASE_GIL_BYTES) {
    Py_BEGIN_ALLOW_THREADS;
    tdbg_measure(seen);
    Py_END_ALLOW_THREADS;
  } else {
    tdbg_measure(seen);
  }
}

static void emit(const tdbg_observation *seen) {
  if (tdbg_emit(seen, false) != TDBG_WOULD_WAIT) return;
  Py_BEGIN_ALLOW_THREADS;
  tdbg_emit(seen, true);
  Py_END_ALLOW_THREADS;
}

static int dtype_of(PyObject *tensor) {
  return tdbg_dtype_of_tensorflow((int)long_attribute(tensor, name_dtype, true));
}

static bool wanted(int dtype, uint64_t dtypes) { return dtype > 0 && (dtypes >> dtype & 1); }

/* Bit N for dtype code N: float16 to complex128. */
static const uint64_t FLOATING = ((1u << 12) - 1) & ~1u;

typedef struct {
  PyObject *const *items;
  Py_ssize_t count;
} tensors;

/* An eager op gave a bad output. If every input is good the op is where it began: keep it all. */
static void record_bad(tdbg_observation *output, tensors inputs, PyObject *as_buffer) {
  bool origin = true, made_nan = output->numbers.nan > 0; /* a NaN out of infinities begins here as well */
  held bytes;
  for (Py_ssize_t i = 0; i < inputs.count && (origin || made_nan); i++) {
    int dtype = dtype_of(inputs.items[i]);
    if (!tdbg_dtype_size(dtype) || !hold(inputs.items[i], as_buffer, &bytes)) continue;
    if (tdbg_has_bad(bytes.view.buf, bytes.view.len / tdbg_dtype_size(dtype), dtype) == 1) {
      origin = false;
      tdbg_observation seen = {.flags = 0};
      describe(&bytes, dtype, &seen);
      measure(&seen);
      made_nan = made_nan && !seen.numbers.nan;
    }
    release(&bytes);
  }
  if (origin) output->flags |= TDBG_ORIGIN;
  output->keep = (origin || made_nan) && tdbg_values_when_bad && tdbg_value_allowed(output->op);
  emit(output);
  for (Py_ssize_t i = 0; i < inputs.count && output->keep; i++) {
    int dtype = dtype_of(inputs.items[i]);
    if (!tdbg_dtype_size(dtype) || !hold(inputs.items[i], as_buffer, &bytes)) continue;
    tdbg_observation seen = *output;
    describe(&bytes, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = TDBG_EVIDENCE;
    seen.tensor = long_attribute(inputs.items[i], name_id, false);
    measure(&seen);
    emit(&seen);
    release(&bytes);
  }
}

/* Values that no op made (arrays and constants from Python) are described where they are first used. */
static void record_new_inputs(tdbg_observation seen, tensors inputs, uint64_t dtypes, PyObject *as_buffer) {
  held bytes;
  for (Py_ssize_t i = 0; i < inputs.count; i++) {
    int64_t id = long_attribute(inputs.items[i], name_id, false);
    if (id < 0 || is_remembered(id)) continue;
    remember(id, -1); /* no op made it */
    int dtype = dtype_of(inputs.items[i]);
    if (!wanted(dtype, dtypes) || !hold(inputs.items[i], as_buffer, &bytes)) continue;
    describe(&bytes, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.tensor = id;
    seen.flags = TDBG_INPUT;
    measure(&seen);
    seen.keep = seen.flags & TDBG_BAD && tdbg_values_when_bad && tdbg_value_allowed(seen.op);
    emit(&seen);
    release(&bytes);
  }
}

enum { SOME_ARE_BAD = 1, SOME_MEET = 2 };

/* Whether an output is bad, as far as they were looked at: those of `dtypes`, which get rows if any do, and those that
   can be bad, if the program is to stop at the first one. And whether one meets the condition of the op, if it has one. */
static int record_outputs(tdbg_observation seen, tensors inputs, tensors outputs, uint64_t dtypes,
                           PyObject *as_buffer, bool recording) {
  bool checking = tdbg_check;
  const tdbg_break *condition = tdbg_break_at(seen.op, TDBG_EVERY_SLOT);
  int found = 0;
  held bytes;
  for (Py_ssize_t i = 0; i < outputs.count; i++) {
    seen.tensor = long_attribute(outputs.items[i], name_id, false);
    if (seen.tensor >= 0) remember(seen.tensor, seen.op);
    int dtype = dtype_of(outputs.items[i]);
    bool has_row = recording && wanted(dtype, dtypes), checked = checking && wanted(dtype, FLOATING);
    bool asked = condition && tdbg_dtype_size(dtype);
    if ((!has_row && !checked && !asked) || !hold(outputs.items[i], as_buffer, &bytes)) continue;
    describe(&bytes, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = 0;
    seen.keep = false;
    if (has_row) {
      measure(&seen);
      if (seen.flags & TDBG_BAD)
        record_bad(&seen, inputs, as_buffer);
      else
        emit(&seen);
    }
    bool was_looked_at = has_row && (seen.flags & TDBG_NUMBERS || tdbg_mode == TDBG_MODE_HEALTH);
    if (checked && !was_looked_at && tdbg_has_bad(seen.data, seen.shape->elements, dtype) == 1) seen.flags |= TDBG_BAD;
    if (seen.flags & TDBG_BAD) found |= SOME_ARE_BAD;
    if (asked && tdbg_break_met(condition, &seen)) found |= SOME_MEET;
    release(&bytes);
  }
  return found;
}

/* One eager op: (op, inputs, outputs, dtypes bit mask, input dtypes bit mask, as_buffer) -> 1 when an output is bad, and 2 when
   one meets the op's condition. */
METHOD(eager) {
  EXPECT(6);
  int32_t op = (int32_t)PyLong_AsLong(args[0]);
  uint64_t dtypes = PyLong_AsUnsignedLongLong(args[3]), input_dtypes = PyLong_AsUnsignedLongLong(args[4]);
  if (PyErr_Occurred()) return NULL;
  PyObject *in = PySequence_Fast(args[1], "inputs"), *out = in ? PySequence_Fast(args[2], "outputs") : NULL;
  bool recording = tdbg_recording;
  int found = 0;
  if (out) {
    tensors inputs = {PySequence_Fast_ITEMS(in), PySequence_Fast_GET_SIZE(in)};
    tensors outputs = {PySequence_Fast_ITEMS(out), PySequence_Fast_GET_SIZE(out)};
    tdbg_observation seen = {.op = op, .graph = -1, .iteration = -1};
    if (recording) {
      seen.execution = tdbg_execution_next();
      record_new_inputs(seen, inputs, input_dtypes, args[5]);
      push_execution(TDBG_KIND_EXECUTION, seen.execution, op, -1, inputs.items, inputs.count);
    }
    found = record_outputs(seen, inputs, outputs, dtypes, args[5], recording);
  }
  Py_XDECREF(in);
  Py_XDECREF(out);
  return out ? PyLong_FromLong(found) : NULL;
}

METHOD(tensor) { /* one array of a graph: (op, slot, graph, flags, execution, array, dtype) */
  EXPECT(7);
  long long v[5];
  for (int i = 0; i < 5; i++) v[i] = PyLong_AsLongLong(args[i]);
  int dtype = (int)PyLong_AsLong(args[6]);
  if (PyErr_Occurred()) return NULL;
  tdbg_observation seen = {.op = (int32_t)v[0], .slot = (uint16_t)v[1], .graph = (int32_t)v[2],
                           .flags = (uint16_t)v[3], .execution = v[4], .iteration = -1, .tensor = -1};
  held bytes = {.holder = NULL};
  if (PyObject_GetBuffer(args[5], &bytes.view, PyBUF_ND) < 0) return NULL;
  describe(&bytes, dtype, &seen);
  measure(&seen);
  emit(&seen);
  release(&bytes);
  Py_RETURN_NONE;
}

/* (op, graph, inputs, list) -> execution. It is put into the list as well: an exception of a signal handler may strike
   before the caller has what is returned. */
METHOD(call_begin) {
  EXPECT(4);
  int32_t op = (int32_t)PyLong_AsLong(args[0]), graph = (int32_t)PyLong_AsLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  PyObject *inputs = PySequence_Fast(args[2], "inputs");
  if (!inputs) return NULL;
  int64_t execution = tdbg_execution_next();
  PyObject *number = PyLong_FromLongLong(execution);
  if (!number || PyList_Append(args[3], number) < 0) {
    Py_XDECREF(number);
    Py_DECREF(inputs);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  tdbg_execution_begin(execution, graph);
  Py_END_ALLOW_THREADS;
  push_execution(TDBG_KIND_EXECUTION, execution, op, graph, PySequence_Fast_ITEMS(inputs), PySequence_Fast_GET_SIZE(inputs));
  Py_DECREF(inputs);
  return number;
}

/* What went into or came out of a call that cannot be looked into: (op, execution, flags, tensors, dtypes bit mask,
   as_buffer). */
METHOD(call_tensors) {
  EXPECT(6);
  tdbg_observation seen = {.op = (int32_t)PyLong_AsLong(args[0]), .execution = PyLong_AsLongLong(args[1]), .graph = -1,
                           .iteration = -1};
  uint16_t flags = (uint16_t)PyLong_AsLong(args[2]);
  uint64_t dtypes = PyLong_AsUnsignedLongLong(args[4]);
  PyObject *list = PyErr_Occurred() ? NULL : PySequence_Fast(args[3], "tensors");
  if (!list) return NULL;
  held bytes;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
    PyObject *item = PySequence_Fast_GET_ITEM(list, i);
    int64_t id = long_attribute(item, name_id, false);
    if (flags & TDBG_INPUT) { /* what an op made has a row already */
      if (id < 0 || is_remembered(id)) continue;
      remember(id, -1);
    }
    int dtype = dtype_of(item);
    if (!wanted(dtype, dtypes) || !hold(item, args[5], &bytes)) continue;
    describe(&bytes, dtype, &seen);
    seen.slot = (uint16_t)i;
    seen.flags = flags;
    seen.tensor = id;
    measure(&seen);
    emit(&seen);
    release(&bytes);
  }
  Py_DECREF(list);
  Py_RETURN_NONE;
}

METHOD(call_end) { /* (execution, op, outputs or None when it failed) */
  EXPECT(3);
  int64_t execution = PyLong_AsLongLong(args[0]);
  int32_t op = (int32_t)PyLong_AsLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  tdbg_execution_end(execution);
  if (args[2] == Py_None) {
    push_execution(TDBG_KIND_FAILED, execution, op, -1, NULL, 0);
    Py_RETURN_NONE;
  }
  PyObject *outputs = PySequence_Fast(args[2], "outputs");
  if (!outputs) return NULL;
  PyObject *const *items = PySequence_Fast_ITEMS(outputs);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(outputs); i++) {
    int64_t id = long_attribute(items[i], name_id, false);
    if (id >= 0) remember(id, op);
  }
  push_execution(TDBG_KIND_END, execution, op, -1, items, PySequence_Fast_GET_SIZE(outputs));
  Py_DECREF(outputs);
  Py_RETURN_NONE;
}

METHOD(call_lost) { /* (execution): an exception ended it, before or while its end was told */
  EXPECT(1);
  int64_t execution = PyLong_AsLongLong(args[0]);
  if (PyErr_Occurred()) return NULL;
  if (tdbg_execution_end(execution)) push_execution(TDBG_KIND_FAILED, execution, -1, -1, NULL, 0);
  Py_RETURN_NONE;
}

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

/* ---- TensorFlow's DebugEvents files ---- */

static PyObject *taken(tdbg_growing *bytes) {
  PyObject *result = PyBytes_FromStringAndSize((const char *)bytes->data, (Py_ssize_t)bytes->size);
  tdbg_release(bytes);
  return result;
}

METHOD(masked_crc32c) { /* (buffer) -> the checksum of a TFRecord */
  EXPECT(1);
  Py_buffer view;
  if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  uint32_t crc;
  Py_BEGIN_ALLOW_THREADS;
  crc = tdbg_masked_crc32c(view.buf, (size_t)view.len);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  return PyLong_FromUnsignedLong(crc);
}

METHOD(read_records) { /* (buffer, begin, most) -> (spans, next, lost records, lost bytes, tail) */
  EXPECT(3);
  Py_buffer view;
  int64_t begin = PyLong_AsLongLong(args[1]), most = PyLong_AsLongLong(args[2]);
  if (PyErr_Occurred() || PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  tdbg_records found;
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = tdbg_read_records(view.buf, view.len, begin < 0 ? 0 : begin, most, &found);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&view);
  PyObject *spans = taken(&found.spans);
  if (failed) {
    Py_XDECREF(spans);
    return PyErr_NoMemory();
  }
  return Py_BuildValue("NLLLL", spans, found.next, found.lost_records, found.lost_bytes, found.tail);
}

METHOD(read_debug_events) { /* (buffer, spans) -> (events, tensors, ids, list of strings, unreadable) */
  EXPECT(2);
  Py_buffer view, spans;
  if (PyObject_GetBuffer(args[0], &view, PyBUF_SIMPLE) < 0) return NULL;
  if (PyObject_GetBuffer(args[1], &spans, PyBUF_SIMPLE) < 0) {
    PyBuffer_Release(&view);
    return NULL;
  }
  tdbg_debug_columns found;
  int failed;
  Py_BEGIN_ALLOW_THREADS;
  failed = tdbg_read_debug_events(view.buf, view.len, spans.buf, spans.len / (Py_ssize_t)sizeof(tdbg_span), &found);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&spans);
  PyObject *strings = PyList_New(0);
  const tdbg_span *text = (const tdbg_span *)found.strings.data;
  for (size_t i = 0; strings && i < found.strings.size / sizeof *text; i++) {
    PyObject *one = PyBytes_FromStringAndSize((const char *)view.buf + text[i].offset, (Py_ssize_t)text[i].length);
    if (!one || PyList_Append(strings, one) < 0) Py_CLEAR(strings);
    Py_XDECREF(one);
  }
  PyBuffer_Release(&view);
  tdbg_release(&found.strings);
  PyObject *events = taken(&found.events), *tensors = taken(&found.tensors), *ids = taken(&found.ids);
  if (failed) PyErr_NoMemory();
  if (failed || !events || !tensors || !ids || !strings) {
    Py_XDECREF(events);
    Py_XDECREF(tensors);
    Py_XDECREF(ids);
    Py_XDECREF(strings);
    return NULL;
  }
  return Py_BuildValue("NNNNL", events, tensors, ids, strings, found.unreadable);
}

/* Made-up events, for the store's benchmark and tests: (op, rows) from the calling thread, at full speed. */
METHOD(push_rows) {
  EXPECT(2);
  tdbg_observation seen = {.graph = -1, .iteration = -1, .execution = -1, .tensor = -1, .dtype = 3};
  seen.op = (int32_t)PyLong_AsLong(args[0]);
  long long rows = PyLong_AsLongLong(args[1]);
  if (PyErr_Occurred()) return NULL;
  float data[8] = {1, -2, 3, 0, 5, -6, 7, 8};
  int64_t dims[1] = {8};
  seen.data = data;
  seen.bytes = sizeof data;
  Py_BEGIN_ALLOW_THREADS;
  seen.shape = tdbg_shape_intern(1, dims);
  for (long long i = 0; i < rows; i++) {
    data[0] = (float)i;
    seen.flags = 0;
    tdbg_measure(&seen);
    tdbg_emit(&seen, true);
  }
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

#define ENTRY(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
static PyMethodDef methods[] = {
    ENTRY(summarize),     ENTRY(has_bad),       ENTRY(kernel_name), ENTRY(use_kernel),
    ENTRY(ring_open),     ENTRY(ring_drain),    ENTRY(counters),    ENTRY(after_fork),
    ENTRY(set_mode),      ENTRY(set_recording), ENTRY(set_step),    ENTRY(shapes_since),
    ENTRY(take_value),    ENTRY(stack_here),    ENTRY(stack_count), ENTRY(stack_get),
    ENTRY(maker_of),      ENTRY(eager),         ENTRY(call_begin),  ENTRY(call_end),    ENTRY(tensor),
    ENTRY(call_lost),     ENTRY(call_tensors),  ENTRY(set_check),     ENTRY(remember_input), ENTRY(forget_makers), ENTRY(bad_events),
    ENTRY(masked_crc32c), ENTRY(read_records),  ENTRY(read_debug_events),
    ENTRY(set_first_op),  ENTRY(push_rows),     ENTRY(register_tensorflow),
    ENTRY(set_breaks),    ENTRY(add_break),     ENTRY(tests_met),
    ENTRY(set_session),   ENTRY(session_end),   ENTRY(not_held),   ENTRY(not_dumped),
    ENTRY(guard_terminal), ENTRY(release_terminal),
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
  name_id = PyUnicode_InternFromString("_id");
  name_dtype = PyUnicode_InternFromString("_datatype_enum");
  if (!name_id || !name_dtype) return NULL;
  tdbg_guard_forks();
  PyObject *module = PyModule_Create(&definition);
  if (module) PyModule_AddIntConstant(module, "RECORD_BYTES", sizeof(tdbg_record));
  if (module) PyModule_AddIntConstant(module, "IS_NATIVE", 1);
  return module;
}
