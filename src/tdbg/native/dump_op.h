/* TdbgDump: the op that writes a tensor of a Session's run to a file of its own, as TensorFlow's DebugIdentity does. */
#ifndef TDBG_DUMP_OP_H
#define TDBG_DUMP_OP_H

#include "tensorflow_api.h"

void tdbg_register_dump_op(TF_Status *status);
/* Tensors of which no file was written, because no reader of the format takes one so large. */
int64_t tdbg_too_large_to_dump(void);

#endif
