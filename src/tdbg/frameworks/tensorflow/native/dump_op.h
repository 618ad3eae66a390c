/* TdbgDump: the op that writes a tensor of a Session's run to a file of its own, as TensorFlow's DebugIdentity does. */
#ifndef TDBG_DUMP_OP_H
#define TDBG_DUMP_OP_H

#include "api.h"

void tdbg_register_dump_op(TF_Status *status);
/* Tensors of which no file could be written; ``why`` is the errno of the last one, EFBIG for one of 2 GiB and more,
   which no file of this format can hold. */
int64_t tdbg_not_dumped(int *why);

#endif
