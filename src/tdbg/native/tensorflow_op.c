/* Two TensorFlow ops, registered through the C API that libtensorflow_framework exports.

   TdbgObserve passes its input through unchanged and records its summary; it also takes along the inputs of the op it
   observes (`evidence`), which are looked at only when the output is bad. TdbgWatch does the same without an output,
   for tensors whose consumers must not be rewired (function arguments).

   Nothing here includes a TensorFlow header: the few functions are looked up by name, so one binary serves every
   TensorFlow that has them (2.15 to 2.21 were tried) and importing it needs no TensorFlow. */
#define _GNU_SOURCE
#include "tensorflow_op.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "events.h"

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;

#define TENSORFLOW_FUNCTIONS(F)                                                                                      \
  F(TF_Status *, TF_NewStatus, (void))                                                                               \
  F(void, TF_DeleteStatus, (TF_Status *))                                                                            \
  F(int, TF_GetCode, (const TF_Status *))                                                                            \
  F(void, TF_SetStatus, (TF_Status *, int, const char *))                                                            \
  F(const char *, TF_Message, (const TF_Status *))                                                                   \
  F(TF_OpDefinitionBuilder *, TF_NewOpDefinitionBuilder, (const char *))                                             \
  F(void, TF_OpDefinitionBuilderAddAttr, (TF_OpDefinitionBuilder *, const char *))                                   \
  F(void, TF_OpDefinitionBuilderAddInput, (TF_OpDefinitionBuilder *, const char *))                                  \
  F(void, TF_OpDefinitionBuilderAddOutput, (TF_OpDefinitionBuilder *, const char *))                                 \
  F(void, TF_OpDefinitionBuilderSetIsStateful, (TF_OpDefinitionBuilder *, bool))                                     \
  F(void, TF_OpDefinitionBuilderSetShapeInferenceFunction,                                                           \
    (TF_OpDefinitionBuilder *, void (*)(TF_ShapeInferenceContext *, TF_Status *)))                                   \
  F(void, TF_RegisterOpDefinition, (TF_OpDefinitionBuilder *, TF_Status *))                                          \
  F(TF_ShapeHandle *, TF_NewShapeHandle, (void))                                                                     \
  F(void, TF_DeleteShapeHandle, (TF_ShapeHandle *))                                                                  \
  F(void, TF_ShapeInferenceContextGetInput, (TF_ShapeInferenceContext *, int, TF_ShapeHandle *, TF_Status *))        \
  F(void, TF_ShapeInferenceContextSetOutput, (TF_ShapeInferenceContext *, int, TF_ShapeHandle *, TF_Status *))       \
  F(TF_KernelBuilder *, TF_NewKernelBuilder,                                                                         \
    (const char *, const char *, void *(*)(TF_OpKernelConstruction *), void (*)(void *, TF_OpKernelContext *),       \
     void (*)(void *)))                                                                                              \
  F(void, TF_RegisterKernelBuilder, (const char *, TF_KernelBuilder *, TF_Status *))                                 \
  F(void, TF_OpKernelConstruction_GetAttrInt64, (TF_OpKernelConstruction *, const char *, int64_t *, TF_Status *))   \
  F(int, TF_NumInputs, (TF_OpKernelContext *))                                                                       \
  F(void, TF_GetInput, (TF_OpKernelContext *, int, TF_Tensor **, TF_Status *))                                       \
  F(void, TF_SetOutput, (TF_OpKernelContext *, int, const TF_Tensor *, TF_Status *))                                 \
  F(int64_t, TF_GetStepId, (TF_OpKernelContext *))                                                                   \
  F(int64_t, TF_GetIterId, (TF_OpKernelContext *))                                                                   \
  F(uint64_t, TF_GetFrameId, (TF_OpKernelContext *))                                                                 \
  F(void, TF_OpKernelContext_Failure, (TF_OpKernelContext *, TF_Status *))                                           \
  F(void, TF_DeleteTensor, (TF_Tensor *))                                                                            \
  F(int, TF_TensorType, (const TF_Tensor *))                                                                         \
  F(int, TF_NumDims, (const TF_Tensor *))                                                                            \
  F(int64_t, TF_Dim, (const TF_Tensor *, int))                                                                       \
  F(size_t, TF_TensorByteSize, (const TF_Tensor *))                                                                  \
  F(void *, TF_TensorData, (const TF_Tensor *))

#define DECLARE(result, name, arguments) static result(*name) arguments;
TENSORFLOW_FUNCTIONS(DECLARE)
#undef DECLARE

/* Index: TensorFlow's DataType (types.proto); value: tdbg.model.DType. */
static const unsigned char DTYPES[64] = {
    [1] = 3,  [2] = 4,  [3] = 14, [4] = 16, [5] = 13,  [6] = 12,  [7] = 21, [8] = 10, [9] = 15, [10] = 20, [14] = 2,
    [17] = 17, [18] = 11, [19] = 1, [20] = 22, [21] = 23, [22] = 18, [23] = 19, [24] = 6, [25] = 5, [26] = 7, [27] = 8,
    [28] = 9};

int tdbg_dtype_of_tensorflow(int type) { return type > 0 && type < 64 ? DTYPES[type] : 0; }

typedef struct {
  int32_t op, graph;
  uint16_t slot, flags;
  bool detached, passes_through;
  bool unrecorded; /* there to be checked only */
  int32_t check;   /* which check gave the op its number; 0: not checked */
  _Atomic(const tdbg_shape *) last_shape; /* most ops see one shape for ever */
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
  return self;
}

static void *observe_new(TF_OpKernelConstruction *construction) { return observer_new(construction, true); }
static void *watch_new(TF_OpKernelConstruction *construction) { return observer_new(construction, false); }
static void observer_delete(void *self) { free(self); }

static const tdbg_shape *shape_of(const TF_Tensor *tensor, const tdbg_shape *guess) {
  int rank = TF_NumDims(tensor);
  if (rank > TDBG_MAX_RANK) rank = TDBG_MAX_RANK;
  int64_t dims[TDBG_MAX_RANK];
  for (int i = 0; i < rank; i++) dims[i] = TF_Dim(tensor, i);
  if (guess && guess->rank == rank && !memcmp(guess->dims, dims, (size_t)rank * sizeof *dims)) return guess;
  return tdbg_shape_intern(rank, dims);
}

static void describe(const TF_Tensor *tensor, const tdbg_shape *guess, tdbg_observation *seen) {
  seen->data = TF_TensorData(tensor);
  seen->bytes = (int64_t)TF_TensorByteSize(tensor);
  seen->dtype = tdbg_dtype_of_tensorflow(TF_TensorType(tensor));
  seen->shape = shape_of(tensor, guess);
}

/* The output is bad. Were the inputs good? Then this op is where it began: keep output and inputs whole. */
static void record_bad(TF_OpKernelContext *context, TF_Status *status, tdbg_observation *output, int inputs) {
  TF_Tensor *tensors[TDBG_INLINE_INPUTS];
  tdbg_observation seen[TDBG_INLINE_INPUTS];
  if (inputs > TDBG_INLINE_INPUTS) inputs = TDBG_INLINE_INPUTS;
  bool origin = true;
  int got = 0;
  for (; got < inputs; got++) {
    TF_GetInput(context, got + 1, &tensors[got], status);
    if (TF_GetCode(status)) break;
    seen[got] = *output;
    describe(tensors[got], NULL, &seen[got]);
    seen[got].slot = (uint16_t)got;
    seen[got].flags = TDBG_EVIDENCE;
    if (tdbg_has_bad(seen[got].data, seen[got].shape->elements, seen[got].dtype) == 1) origin = false;
  }
  origin = origin && got == inputs;
  if (origin) output->flags |= TDBG_ORIGIN;
  bool keep = output->keep = origin && tdbg_values_when_bad && tdbg_value_allowed(output->op);
  tdbg_emit(output, true);
  for (int i = 0; i < got; i++) {
    if (keep) {
      seen[i].keep = true;
      tdbg_measure(&seen[i]);
      tdbg_emit(&seen[i], true);
    }
    TF_DeleteTensor(tensors[i]);
  }
}

/* One status per thread, made once: TF_NewStatus allocates, and an observer runs a thousand times a step. */
static TF_Status *clean_status(void) {
  static _Thread_local TF_Status *status;
  if (!status) status = TF_NewStatus();
  if (TF_GetCode(status)) TF_SetStatus(status, 0, "");
  return status;
}

/* The message that stops the program when this op made a bad value out of good ones; else NULL. */
static char *complaint(const observer *self, TF_OpKernelContext *context, TF_Status *status,
                       const tdbg_observation *seen) {
  tdbg_finding finding = {.check = self->check, .op = self->op, .slot = self->slot, .iteration = seen->iteration};
  tdbg_finding_output(&finding, seen);
  int count = TF_NumInputs(context);
  for (int i = 1; i < count && !finding.nan_went_in; i++) {
    TF_Tensor *tensor = NULL;
    TF_GetInput(context, i, &tensor, status);
    if (TF_GetCode(status)) return NULL;
    tdbg_observation input;
    describe(tensor, NULL, &input);
    tdbg_finding_input(&finding, input.data, input.shape, input.dtype);
    TF_DeleteTensor(tensor);
  }
  return tdbg_finding_is_made(&finding) ? tdbg_finding_message(&finding) : NULL;
}

/* What stops the program, or NULL. */
static char *look(observer *self, TF_OpKernelContext *context, const TF_Tensor *tensor, TF_Status *status,
                  bool recording, bool checking) {
  const tdbg_shape *last = atomic_load_explicit(&self->last_shape, memory_order_acquire);
  tdbg_observation seen;
  seen.op = self->op;
  seen.graph = self->graph;
  seen.slot = self->slot;
  seen.flags = self->flags;
  seen.tensor = -1;
  seen.keep = false;
  describe(tensor, last, &seen);
  if (seen.shape != last) atomic_store_explicit(&self->last_shape, seen.shape, memory_order_release);
  /* The root frame's id is 0; a while loop runs in a frame of its own. */
  seen.iteration = TF_GetFrameId(context) ? (int32_t)TF_GetIterId(context) : -1;
  if (recording) {
    seen.execution = self->detached ? -1 : tdbg_execution_of(TF_GetStepId(context), self->graph);
    tdbg_measure(&seen);
    int evidence = seen.flags & TDBG_BAD ? TF_NumInputs(context) - 1 : 0;
    if (evidence > 0)
      record_bad(context, status, &seen, evidence);
    else
      tdbg_emit(&seen, true);
  }
  bool was_measured = recording && (seen.flags & TDBG_NUMBERS || tdbg_mode == TDBG_MODE_HEALTH);
  bool bad = checking && (was_measured ? seen.flags & TDBG_BAD
                                       : tdbg_has_bad(seen.data, seen.shape->elements, seen.dtype) == 1);
  return bad ? complaint(self, context, status, &seen) : NULL;
}

static void observer_compute(void *kernel, TF_OpKernelContext *context) {
  observer *self = kernel;
  TF_Status *status = clean_status();
  TF_Tensor *tensor = NULL;
  TF_GetInput(context, 0, &tensor, status);
  if (TF_GetCode(status)) {
    TF_OpKernelContext_Failure(context, status);
    return;
  }
  bool recording = !self->unrecorded && atomic_load_explicit(&tdbg_recording, memory_order_relaxed) &&
                   self->op >= atomic_load_explicit(&tdbg_first_op, memory_order_relaxed);
  bool checking = self->check && atomic_load_explicit(&tdbg_check, memory_order_relaxed);
  char *stop = recording || checking ? look(self, context, tensor, status, recording, checking) : NULL;
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

static void same_shape(TF_ShapeInferenceContext *context, TF_Status *status) {
  TF_ShapeHandle *shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(context, 0, shape, status);
  if (!TF_GetCode(status)) TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  TF_DeleteShapeHandle(shape);
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
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, passes_through ? same_shape : no_output);
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
  void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  if (!handle) handle = dlopen(library, RTLD_NOW);
  if (!handle) {
    snprintf(problem, sizeof problem, "TensorFlow's library could not be opened: %s", dlerror());
    return problem;
  }
#define RESOLVE(result, name, arguments)                                                                             \
  *(void **)&name = dlsym(handle, #name);                                                                            \
  if (!name) {                                                                                                       \
    snprintf(problem, sizeof problem, "this TensorFlow does not export " #name);                                     \
    return problem;                                                                                                  \
  }
  TENSORFLOW_FUNCTIONS(RESOLVE)
#undef RESOLVE
  TF_Status *status = TF_NewStatus();
  register_op("TdbgObserve", true, status);
  if (!TF_GetCode(status)) register_op("TdbgWatch", false, status);
  if (TF_GetCode(status)) snprintf(problem, sizeof problem, "%s", TF_Message(status));
  done = TF_GetCode(status) == 0;
  TF_DeleteStatus(status);
  return done ? NULL : problem;
}
