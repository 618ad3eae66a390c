/* Executions: which call of a function an event inside a graph belongs to. */
#ifndef TDBG_EXECUTIONS_H
#define TDBG_EXECUTIONS_H

#include <stdbool.h>
#include <stdint.h>

int64_t tdbg_execution_next(void);
void tdbg_execution_begin(int64_t execution, int32_t graph); /* may wait a little: call it without the GIL */
bool tdbg_execution_end(int64_t execution);
int64_t tdbg_execution_of(int64_t run, int32_t graph);
void tdbg_executions_forget(void);

#endif
