/* What tdbg uses of TensorFlow's C API, as libtensorflow_framework exports it.

   Nothing here includes a TensorFlow header: the few functions are looked up by name, so one binary serves every
   TensorFlow that has them (2.15 to 2.21 were tried) and importing it needs no TensorFlow. */
#ifndef TDBG_TENSORFLOW_API_H
#define TDBG_TENSORFLOW_API_H

#include <stddef.h>

#include "ring/observations.h"

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
  F(void, TF_OpKernelConstruction_GetAttrType, (TF_OpKernelConstruction *, const char *, int *, TF_Status *))        \
  F(void, TF_OpKernelConstruction_Failure, (TF_OpKernelConstruction *, TF_Status *))                                 \
  F(void, TF_OpKernelConstruction_GetAttrSize,                                                                       \
    (TF_OpKernelConstruction *, const char *, int32_t *, int32_t *, TF_Status *))                                    \
  F(void, TF_OpKernelConstruction_GetAttrString, (TF_OpKernelConstruction *, const char *, char *, size_t, TF_Status *)) \
  F(void, TF_OpKernelConstruction_GetAttrStringList,                                                                 \
    (TF_OpKernelConstruction *, const char *, char **, size_t *, int, void *, size_t, TF_Status *))                  \
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

/* Hidden: they bear the names of the very functions that they point to, and must not be taken for them. */
#define DECLARE(result, name, arguments) extern __attribute__((visibility("hidden"))) result(*name) arguments;
TENSORFLOW_FUNCTIONS(DECLARE)
#undef DECLARE

/* Finds them all in `library`, the path of libtensorflow_framework. Returns NULL, or a sentence that says what failed. */
const char *tdbg_resolve_tensorflow(const char *library);
/* TensorFlow's DataType number -> tdbg's, 0 when unknown. */
int tdbg_dtype_of_tensorflow(int tf_type);
/* Fills data, bytes, dtype and shape; `guess` is the shape that it had before, or NULL. */
void tdbg_describe(const TF_Tensor *tensor, const tdbg_shape *guess, tdbg_observation *seen);
/* The calling thread's own status, without an error. */
TF_Status *tdbg_clean_status(void);
/* A shape function: the output is like the input. */
void tdbg_same_shape(TF_ShapeInferenceContext *context, TF_Status *status);

#endif
