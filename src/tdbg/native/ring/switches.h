/* What is on. Read by every observer on every call, so plain atomics. */
#ifndef TDBG_SWITCHES_H
#define TDBG_SWITCHES_H

#include <stdatomic.h>
#include <stdint.h>

enum { TDBG_MODE_NONE = 0, TDBG_MODE_HEALTH = 1, TDBG_MODE_NUMERICS = 2, TDBG_MODE_SHAPE = 3, TDBG_MODE_FULL = 4 };

extern _Atomic int tdbg_mode;         /* TDBG_MODE_* */
extern _Atomic int32_t tdbg_first_op; /* observers of ops before it belong to an earlier recording */
extern _Atomic int tdbg_recording;    /* 0 while off, or outside the steps asked for */
extern _Atomic int tdbg_step;
extern _Atomic int tdbg_values_when_bad;

#endif
