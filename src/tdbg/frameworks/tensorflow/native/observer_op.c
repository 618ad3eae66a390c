/* The two TensorFlow ops that are put into functions as they are traced.

   TdbgObserve passes its input through unchanged and records its summary; it also takes along the inputs of the op it
   observes (`evidence`), which are looked at only when the output is bad. TdbgWatch does the same without an output,
   for tensors whose consumers must not be rewired (function arguments). */
#define _GNU_SOURCE
#include "observer_op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api.h"
#include "dump_op.h"
#include "ring/executions.h"
#include "ring/switches.h"
#include "session_op.h"
#include "stopping/breaks.h"
#include "stopping/input_notes.h"

typedef struct {
  int32_t op, graph;
  uint16_t slot, flags;
  bool detached, passes_through;
  bool unrecorded; /* there to be checked only */
  int32_t check;   /* which check gave the op its number; 0: not checked */
  tdbg_notes *notes; /* where the check notes what it saw, for the ops that take this tensor; or NULL */
  const tdbg_noted_inputs *inputs; /* of the op, that are known without being taken along; or NULL */
  _Atomic(const tdbg_shape *) last_shape; /* most ops see one shape for ever */
  tdbg_own_break condition;               /* that holds the program */
} observer;

static void *observer_new(TF_OpKernelConstruction *construction, bool passes_through) {
  observer *self = calloc(1, sizeof *self);
  TF_Status *status = TF_NewStatus();
  int64_t where = -1, how = 0; /* packed: each attribute costs TensorFlow time whenever it copies a graph */
  TF_OpKernelConstruction_GetAttrInt64(construction, "where", &where, status);
  TF_OpKernelConstruction_GetAttrInt64(construction, "how", &how, status);
  TF_DeleteStatus(status);
  self->op = (int32_t)where;
  self->graph = (int32_t)(where >> 32);
  self->slot = (uint16_t)how;
  self->flags = (uint16_t)(how >> 16);
  self->detached = how >> 32 & 1;
  self->unrecorded = how >> 33 & 1;
  self->check = (int32_t)(how >> 40);
  self->passes_through = passes_through;
  self->notes = self->check ? tdbg_notes_of(self->op, self->slot) : NULL;
  self->inputs = self->check ? tdbg_noted_inputs_of(self->op) : NULL;
  return self;
}

static void *observe_new(TF_OpKernelConstruction *construction) { return observer_new(construction, true); }
static void *watch_new(TF_OpKernelConstruction *construction) { return observer_new(construction, false); }
static void observer_delete(void *self) { free(self); }

/* The output is bad: look at the inputs that were taken along. */
static void record_bad(TF_OpKernelContext *context, TF_Status *status, tdbg_observation *output, int inputs) {
  TF_Tensor *tensors[TDBG_INLINE_INPUTS];
  tdbg_observation seen[TDBG_INLINE_INPUTS];
  if (inputs > TDBG_INLINE_INPUTS) inputs = TDBG_INLINE_INPUTS;
  int got = 0;
  for (; got < inputs; got++) {
    TF_GetInput(context, got + 1, &tensors[got], status);
    if (TF_GetCode(status)) break;
    tdbg_describe(tensors[got], NULL, &seen[got]);
  }
  tdbg_emit_bad(output, seen, got, got == inputs);
  for (int i = 0; i < got; i++) TF_DeleteTensor(tensors[i]);
}

/* The message that stops the program when this op made a bad value out of good ones; else NULL. */
static char *complaint(const observer *self, TF_OpKernelContext *context, TF_Status *status,
                       const tdbg_observation *seen) {
  tdbg_finding finding = {.check = self->check, .op = self->op, .slot = self->slot, .iteration = seen->iteration};
  tdbg_finding_output(&finding, seen);
  if (self->inputs && !tdbg_recall(self->inputs, TF_GetStepId(context), seen->iteration, &finding))
    return NULL; /* nobody can say who made it */
  int count = TF_NumInputs(context);
  for (int i = 1; i < count && !finding.nan_went_in; i++) {
    TF_Tensor *tensor = NULL;
    TF_GetInput(context, i, &tensor, status);
    if (TF_GetCode(status)) return NULL;
    tdbg_observation input;
    tdbg_describe(tensor, NULL, &input);
    tdbg_finding_input(&finding, input.data, input.shape, input.dtype);
    TF_DeleteTensor(tensor);
  }
  return tdbg_finding_is_made(&finding) ? tdbg_finding_message(&finding) : NULL;
}

/* Far below what overflows: whatever made a greater one was looked at, so that its numbers are known exactly. */
static double safe_magnitude(int dtype) {
  return dtype == TDBG_FLOAT32 || dtype == TDBG_BFLOAT16 ? 1e15 : dtype == TDBG_FLOAT64 ? 1e100 : -1;
}

/* Whether the tensor cannot be bad, by what went into its op. */
static bool is_bounded(const observer *self, TF_OpKernelContext *context, const tdbg_observation *seen) {
  if (!self->inputs) return false;
  int64_t run = TF_GetStepId(context);
  tdbg_fact fact = {.dtype = seen->dtype, .shape = seen->shape, .numbers.elements = seen->shape->elements};
  fact.magnitude = tdbg_bound(self->inputs, run, seen->iteration);
  if (fact.magnitude > safe_magnitude(seen->dtype)) return false;
  if (self->notes) tdbg_note(self->notes, run, seen->iteration, &fact);
  return true;
}

/* What the check looks at; noted where other ops will ask for it. */
static bool is_bad(const observer *self, TF_OpKernelContext *context, tdbg_observation *seen, bool recording) {
  bool has_numbers = recording && seen->flags & TDBG_NUMBERS;
  if (!has_numbers && is_bounded(self, context, seen)) return false;
  if (self->notes) {
    int64_t elements = seen->shape->elements;
    tdbg_fact fact = {.dtype = seen->dtype, .shape = seen->shape, .numbers.elements = elements, .magnitude = NAN};
    int bad = has_numbers ? -1 : tdbg_magnitude(seen->data, elements, seen->dtype, &fact.magnitude);
    if (has_numbers) fact.numbers = seen->numbers;
    else if (bad && tdbg_summarize(seen->data, elements, seen->dtype, &fact.numbers)) return false;
    tdbg_note(self->notes, TF_GetStepId(context), seen->iteration, &fact);
    return tdbg_is_bad(&fact.numbers);
  }
  if (has_numbers || (recording && tdbg_mode == TDBG_MODE_HEALTH)) return seen->flags & TDBG_BAD;
  return tdbg_has_bad(seen->data, seen->shape->elements, seen->dtype) == 1;
}

/* The output met a condition: holds the program with it, and with the inputs that were taken along. */
static char *hold(TF_OpKernelContext *context, TF_Status *status, const tdbg_observation *output) {
  TF_Tensor *tensors[TDBG_MOST_SHOWN];
  tdbg_observation seen[TDBG_MOST_SHOWN];
  int inputs = TF_NumInputs(context) - 1, got = 0;
  if (inputs > TDBG_MOST_SHOWN) inputs = TDBG_MOST_SHOWN;
  for (; got < inputs; got++) {
    TF_GetInput(context, got + 1, &tensors[got], status);
    if (TF_GetCode(status)) break;
    tdbg_describe(tensors[got], NULL, &seen[got]);
  }
  char *why = tdbg_hold_program(output, seen, got);
  for (int i = 0; i < got; i++) TF_DeleteTensor(tensors[i]);
  return why;
}

/* What stops the program, or NULL. */
static char *look(observer *self, TF_OpKernelContext *context, const TF_Tensor *tensor, TF_Status *status,
                  bool recording, bool checking, const tdbg_break *condition) {
  const tdbg_shape *last = atomic_load_explicit(&self->last_shape, memory_order_acquire);
  tdbg_observation seen;
  seen.op = self->op;
  seen.graph = self->graph;
  seen.slot = self->slot;
  seen.flags = self->flags;
  seen.execution = seen.tensor = -1;
  seen.keep = false;
  tdbg_describe(tensor, last, &seen);
  if (seen.shape != last) atomic_store_explicit(&self->last_shape, seen.shape, memory_order_release);
  /* The root frame's id is 0; a while loop runs in a frame of its own. */
  seen.iteration = TF_GetFrameId(context) ? (int32_t)TF_GetIterId(context) : -1;
  if (recording) {
    seen.execution = self->detached ? -1 : tdbg_execution_of(TF_GetStepId(context), self->graph);
    tdbg_measure(&seen);
    int evidence = seen.flags & TDBG_BAD && !self->inputs ? TF_NumInputs(context) - 1 : 0;
    if (seen.flags & TDBG_BAD && seen.flags & TDBG_INPUT) /* bad data: which sample is it? */
      seen.keep = tdbg_values_when_bad && tdbg_value_allowed(seen.op);
    if (evidence > 0)
      record_bad(context, status, &seen, evidence);
    else
      tdbg_emit(&seen, true);
  }
  if (condition && tdbg_break_met(condition, &seen)) {
    char *why = hold(context, status, &seen);
    if (why) return why;
  }
  return checking && is_bad(self, context, &seen, recording) ? complaint(self, context, status, &seen) : NULL;
}

static void observer_compute(void *kernel, TF_OpKernelContext *context) {
  observer *self = kernel;
  TF_Status *status = tdbg_clean_status();
  TF_Tensor *tensor = NULL;
  TF_GetInput(context, 0, &tensor, status);
  if (TF_GetCode(status)) {
    TF_OpKernelContext_Failure(context, status);
    return;
  }
  bool recording = !self->unrecorded && atomic_load_explicit(&tdbg_recording, memory_order_relaxed) &&
                   self->op >= atomic_load_explicit(&tdbg_first_op, memory_order_relaxed);
  bool checking = self->check && atomic_load_explicit(&tdbg_check, memory_order_relaxed);
  const tdbg_break *condition = tdbg_break_of(&self->condition, self->op, self->slot);
  char *stop = NULL;
  if (recording || checking || condition) stop = look(self, context, tensor, status, recording, checking, condition);
  if (stop) {
    TF_SetStatus(status, 3 /* INVALID_ARGUMENT */, stop);
    TF_OpKernelContext_Failure(context, status);
    free(stop);
  } else if (self->passes_through) {
    if (TF_GetCode(status)) TF_SetStatus(status, 0, "");
    TF_SetOutput(context, 0, tensor, status);
  }
  TF_DeleteTensor(tensor);
}

static void no_output(TF_ShapeInferenceContext *context, TF_Status *status) { (void)context, (void)status; }

static void register_op(const char *name, bool passes_through, TF_Status *status) {
  TF_OpDefinitionBuilder *op = TF_NewOpDefinitionBuilder(name);
  /* where: op, graph << 32; how: slot, flags << 16, detached << 32, unrecorded << 33, check << 40 */
  static const char *const attrs[] = {"T: type", "E: list(type) >= 0", "where: int", "how: int"};
  for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) TF_OpDefinitionBuilderAddAttr(op, attrs[i]);
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddInput(op, "evidence: E");
  if (passes_through) TF_OpDefinitionBuilderAddOutput(op, "y: T");
  /* A pass-through lives or dies with its consumers, as the plain program's tensor does; a watch must be kept. */
  if (!passes_through) TF_OpDefinitionBuilderSetIsStateful(op, true); /* sets it whatever the argument says */
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, passes_through ? tdbg_same_shape : no_output);
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status)) return;
  TF_KernelBuilder *kernel =
      TF_NewKernelBuilder(name, "CPU", passes_through ? observe_new : watch_new, observer_compute, observer_delete);
  TF_RegisterKernelBuilder(name, kernel, status);
}

const char *tdbg_register_tensorflow(const char *library) {
  static bool done;
  static char problem[512];
  if (done) return NULL;
  const char *missing = tdbg_resolve_tensorflow(library);
  if (missing) return missing;
  TF_Status *status = TF_NewStatus();
  register_op("TdbgObserve", true, status);
  if (!TF_GetCode(status)) register_op("TdbgWatch", false, status);
  if (!TF_GetCode(status)) tdbg_register_session_op(status);
  if (!TF_GetCode(status)) tdbg_register_dump_op(status);
  if (TF_GetCode(status)) snprintf(problem, sizeof problem, "%s", TF_Message(status));
  done = TF_GetCode(status) == 0;
  TF_DeleteStatus(status);
  return done ? NULL : problem;
}
