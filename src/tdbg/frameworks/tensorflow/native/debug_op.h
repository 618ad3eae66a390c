/* What the ops share that TensorFlow's runtime itself puts behind the tensors of a Session's run, when the debug options
   of the run ask for an op of that name. */
#ifndef TDBG_DEBUG_OP_H
#define TDBG_DEBUG_OP_H

#include "api.h"

enum { LONGEST_ATTRIBUTE = 4096 };

/* Both leave `text` (of LONGEST_ATTRIBUTE bytes) as it is when the attribute is missing or too long. */
void tdbg_text_attribute(TF_OpKernelConstruction *construction, const char *name, char *text, TF_Status *status);
void tdbg_first_url(TF_OpKernelConstruction *construction, char *text, TF_Status *status);
/* The op gets the attributes that the runtime gives to every debug op. */
void tdbg_register_debug_op(const char *name, void *(*make)(TF_OpKernelConstruction *),
                            void (*compute)(void *, TF_OpKernelContext *), void (*take_away)(void *), TF_Status *status);

#endif
