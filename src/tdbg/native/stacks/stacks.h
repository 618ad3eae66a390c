/* Python stacks as interned parent-pointer chains of (code, instruction): a whole stack is one number.

   Equal stacks are equal numbers, so an eager op in a loop costs no new rows, and lines and files are worked out once for
   each new stack. */
#ifndef TDBG_STACKS_H
#define TDBG_STACKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The stack of the running thread without its `skip` innermost frames. -1 with an exception set on failure. */
int64_t tdbg_stack_here(int skip);
/* (parent, code, line) of stack `id`, a new reference. */
PyObject *tdbg_stack_get(int64_t id);

#endif
