/* The kernel of TdbgSession records the summary of its input, as an observer does.

   It is made once for each tensor, when a Session builds the executor for a set of fetches and feeds. Then it asks Python
   which op the tensor is an output of. The runtime lets no op begin before the kernels behind its inputs are done, so
   when an output turns out bad, its op's inputs are held still (held_inputs.h). */
#include "session_op.h"

#include <stdlib.h>

#include "debug_op.h"
#include "held_inputs.h"
#include "python/asking.h"
#include "ring/executions.h"
#include "ring/switches.h"
#include "stopping/breaks.h"

typedef struct {
  int32_t op, graph;
  uint16_t slot, flags;
  bool has_row;
  int readers; /* ops that can make bad values and read this tensor */
  int inputs;  /* for the output of such an op: the tensors that it reads, op << 16 | slot */
  int64_t input[TDBG_INLINE_INPUTS];
  _Atomic(const tdbg_shape *) last_shape;
  tdbg_own_break condition; /* that holds the program */
} probe;

static PyObject *resolve; /* see tdbg_set_session */

PyObject *tdbg_set_session(PyObject *function) {
  Py_XSETREF(resolve, function == Py_None ? NULL : Py_NewRef(function));
  Py_RETURN_NONE;
}

static void read_answer(probe *self, PyObject *answer) {
  int op, slot, graph, flags, has_row, readers;
  PyObject *inputs;
  if (!PyArg_ParseTuple(answer, "iiiipiO!", &op, &slot, &graph, &flags, &has_row, &readers, &PyTuple_Type, &inputs)) return;
  Py_ssize_t count = PyTuple_GET_SIZE(inputs);
  if (count > TDBG_INLINE_INPUTS) count = 0; /* half of the inputs prove nothing */
  for (Py_ssize_t i = 0; i < count; i++) self->input[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(inputs, i));
  if (PyErr_Occurred()) return;
  self->op = op;
  self->slot = (uint16_t)slot;
  self->graph = graph;
  self->flags = (uint16_t)flags;
  self->has_row = has_row;
  self->readers = readers;
  self->inputs = (int)count;
}

static void ask_python(probe *self, const char *url, const char *device, const char *tensor) {
  tdbg_asking asking;
  if (!tdbg_begin_asking(&asking)) return;
  PyObject *function = Py_XNewRef(resolve);
  PyObject *answer = function ? PyObject_CallFunction(function, "sss", url, device, tensor) : NULL;
  if (!answer) tdbg_postpone_error();
  if (answer && answer != Py_None) read_answer(self, answer);
  PyErr_Clear(); /* Python says its own faults */
  Py_XDECREF(answer);
  Py_XDECREF(function);
  tdbg_end_asking(&asking);
}

static void *probe_new(TF_OpKernelConstruction *construction) {
  probe *self = calloc(1, sizeof *self);
  char url[LONGEST_ATTRIBUTE] = "", device[LONGEST_ATTRIBUTE] = "", tensor[LONGEST_ATTRIBUTE] = "";
  TF_Status *status = TF_NewStatus();
  tdbg_first_url(construction, url, status);
  tdbg_text_attribute(construction, "device_name", device, status);
  tdbg_text_attribute(construction, "tensor_name", tensor, status);
  self->op = -1;
  if (!TF_GetCode(status)) ask_python(self, url, device, tensor);
  TF_DeleteStatus(status);
  return self;
}

static void probe_delete(void *self) { free(self); }

/* The output of an op that can make bad values: with its inputs if it is bad, and they are let go in any case. */
static void with_inputs(const probe *self, tdbg_held_key key, tdbg_observation *output) {
  tdbg_observation seen[TDBG_INLINE_INPUTS];
  int got = 0;
  for (int i = 0; i < self->inputs && output->flags & TDBG_BAD; i++) {
    key.tensor = self->input[i];
    TF_Tensor *tensor = tdbg_held(&key);
    if (!tensor) break;
    tdbg_describe(tensor, NULL, &seen[got++]);
  }
  if (output->flags & TDBG_BAD)
    tdbg_emit_bad(output, seen, got, got == self->inputs);
  else
    tdbg_emit(output, true);
  for (int i = 0; i < self->inputs; i++) {
    key.tensor = self->input[i];
    tdbg_let_go(&key);
  }
}

/* The tensor met a condition: holds the program, and fails the kernel when that is to end. */
static void hold(TF_OpKernelContext *context, const tdbg_observation *seen, TF_Status *status) {
  char *why = tdbg_hold_program(seen, NULL, 0);
  if (!why) return;
  TF_SetStatus(status, 1 /* CANCELLED */, why);
  TF_OpKernelContext_Failure(context, status);
  free(why);
}

/* Whether the tensor is held, and so no longer the caller's. */
static bool look(probe *self, TF_OpKernelContext *context, TF_Tensor *tensor, TF_Status *status) {
  uint64_t frame = TF_GetFrameId(context);
  tdbg_held_key key = {TF_GetStepId(context), frame, frame ? TF_GetIterId(context) : -1, 0};
  int64_t execution = tdbg_execution_of(key.run, self->graph);
  if (self->has_row) {
    const tdbg_shape *last = atomic_load_explicit(&self->last_shape, memory_order_acquire);
    tdbg_observation seen = {.op = self->op, .graph = self->graph, .slot = self->slot, .flags = self->flags,
                             .iteration = (int32_t)key.iteration, .execution = execution, .tensor = -1};
    tdbg_describe(tensor, last, &seen);
    if (seen.shape != last) atomic_store_explicit(&self->last_shape, seen.shape, memory_order_release);
    tdbg_measure(&seen);
    if (self->inputs) {
      with_inputs(self, key, &seen);
    } else {
      if (seen.flags & TDBG_BAD && seen.flags & TDBG_INPUT) /* bad data: which sample is it? */
        seen.keep = tdbg_values_when_bad && tdbg_value_allowed(seen.op);
      tdbg_emit(&seen, true);
    }
    const tdbg_break *condition = tdbg_break_of(&self->condition, self->op, self->slot);
    if (condition && tdbg_break_met(condition, &seen)) hold(context, &seen, status);
  }
  key.tensor = (int64_t)self->op << 16 | self->slot;
  return self->readers && execution >= 0 && tdbg_values_when_bad &&
         tdbg_hold(&key, execution, tensor, self->readers);
}

/* Nobody reads the output, so none is set; the runtime asks for none then. */
static void probe_compute(void *kernel, TF_OpKernelContext *context) {
  probe *self = kernel;
  bool recording = self->op >= 0 && (self->has_row || self->readers) &&
                   atomic_load_explicit(&tdbg_recording, memory_order_relaxed) &&
                   self->op >= atomic_load_explicit(&tdbg_first_op, memory_order_relaxed);
  if (!recording) return;
  TF_Tensor *tensor = NULL;
  TF_Status *status = tdbg_clean_status();
  TF_GetInput(context, 0, &tensor, status);
  if (!TF_GetCode(status) && !look(self, context, tensor, status)) TF_DeleteTensor(tensor);
}

void tdbg_register_session_op(TF_Status *status) {
  tdbg_register_debug_op("TdbgSession", probe_new, probe_compute, probe_delete, status);
}
