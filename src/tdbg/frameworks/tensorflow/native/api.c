/* TensorFlow's functions by name, and what all of tdbg's ops do with its tensors. */
#define _GNU_SOURCE
#include "api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEFINE(result, name, arguments) result(*name) arguments;
TENSORFLOW_FUNCTIONS(DEFINE)
#undef DEFINE

const char *tdbg_resolve_tensorflow(const char *library) {
  static char problem[512];
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
  return NULL;
}

/* Index: TensorFlow's DataType (types.proto); value: tdbg.model.DType. */
static const unsigned char DTYPES[64] = {
    [1] = 3,  [2] = 4,  [3] = 14, [4] = 16, [5] = 13,  [6] = 12,  [7] = 21, [8] = 10, [9] = 15, [10] = 20, [14] = 2,
    [17] = 17, [18] = 11, [19] = 1, [20] = 22, [21] = 23, [22] = 18, [23] = 19, [24] = 6, [25] = 5, [26] = 7, [27] = 8,
    [28] = 9};

int tdbg_dtype_of_tensorflow(int type) { return type > 0 && type < 64 ? DTYPES[type] : 0; }

static const tdbg_shape *shape_of(const TF_Tensor *tensor, const tdbg_shape *guess) {
  int rank = TF_NumDims(tensor);
  if (rank > TDBG_MAX_RANK) rank = TDBG_MAX_RANK;
  int64_t dims[TDBG_MAX_RANK];
  for (int i = 0; i < rank; i++) dims[i] = TF_Dim(tensor, i);
  if (guess && guess->rank == rank && !memcmp(guess->dims, dims, (size_t)rank * sizeof *dims)) return guess;
  return tdbg_shape_intern(rank, dims);
}

void tdbg_describe(const TF_Tensor *tensor, const tdbg_shape *guess, tdbg_observation *seen) {
  seen->data = TF_TensorData(tensor);
  seen->bytes = (int64_t)TF_TensorByteSize(tensor);
  seen->dtype = tdbg_dtype_of_tensorflow(TF_TensorType(tensor));
  seen->shape = shape_of(tensor, guess);
}

/* One status per thread, made once: TF_NewStatus allocates, and an observer runs a thousand times a step. */
TF_Status *tdbg_clean_status(void) {
  static _Thread_local TF_Status *status;
  if (!status) status = TF_NewStatus();
  if (TF_GetCode(status)) TF_SetStatus(status, 0, "");
  return status;
}

void tdbg_same_shape(TF_ShapeInferenceContext *context, TF_Status *status) {
  TF_ShapeHandle *shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(context, 0, shape, status);
  if (!TF_GetCode(status)) TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  TF_DeleteShapeHandle(shape);
}
