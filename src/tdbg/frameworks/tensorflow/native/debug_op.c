/* The attributes of debug ops, by the names that TensorFlow's runtime gives them. */
#include "debug_op.h"

#include <string.h>

void tdbg_text_attribute(TF_OpKernelConstruction *construction, const char *name, char *text, TF_Status *status) {
  int32_t list = 0, size = 0;
  TF_OpKernelConstruction_GetAttrSize(construction, name, &list, &size, status);
  if (TF_GetCode(status) || size < 0 || size >= LONGEST_ATTRIBUTE) return;
  TF_OpKernelConstruction_GetAttrString(construction, name, text, LONGEST_ATTRIBUTE - 1, status);
  text[size] = 0;
}

void tdbg_first_url(TF_OpKernelConstruction *construction, char *text, TF_Status *status) {
  enum { MOST = 4 };
  int32_t count = 0, size = 0;
  char *urls[MOST], bytes[LONGEST_ATTRIBUTE];
  size_t lengths[MOST];
  TF_OpKernelConstruction_GetAttrSize(construction, "debug_urls", &count, &size, status);
  if (TF_GetCode(status) || count < 1 || count > MOST || size >= LONGEST_ATTRIBUTE) return;
  TF_OpKernelConstruction_GetAttrStringList(construction, "debug_urls", urls, lengths, MOST, bytes, sizeof bytes, status);
  if (TF_GetCode(status)) return;
  memcpy(text, urls[0], lengths[0]);
  text[lengths[0]] = 0;
}

void tdbg_register_debug_op(const char *name, void *(*make)(TF_OpKernelConstruction *),
                            void (*compute)(void *, TF_OpKernelContext *), void (*take_away)(void *), TF_Status *status) {
  TF_OpDefinitionBuilder *op = TF_NewOpDefinitionBuilder(name);
  static const char *const attrs[] = {"T: type", "device_name: string = ''", "tensor_name: string = ''",
                                      "debug_urls: list(string) = []", "gated_grpc: bool = false"};
  for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) TF_OpDefinitionBuilderAddAttr(op, attrs[i]);
  TF_OpDefinitionBuilderAddInput(op, "input: T");
  TF_OpDefinitionBuilderAddOutput(op, "output: T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, tdbg_same_shape);
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status)) return;
  TF_RegisterKernelBuilder(name, TF_NewKernelBuilder(name, "CPU", make, compute, take_away), status);
}
