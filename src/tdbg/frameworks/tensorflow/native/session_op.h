/* TdbgSession: the op that TensorFlow's runtime puts behind every tensor of a Session's run, when its debug options ask
   for an op of this name. */
#ifndef TDBG_SESSION_OP_H
#define TDBG_SESSION_OP_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "api.h"

void tdbg_register_session_op(TF_Status *status);
/* function(url, device, tensor name) -> None, or (op, slot, graph, flags, has row, readers, inputs): see session_op.c */
PyObject *tdbg_set_session(PyObject *function);

#endif
