/* As they are before anything is recorded. */
#include "ring/switches.h"

_Atomic int tdbg_mode = TDBG_MODE_NUMERICS;
_Atomic int32_t tdbg_first_op = 0;
_Atomic int tdbg_recording = 0;
_Atomic int tdbg_step = 0;
_Atomic int tdbg_values_when_bad = 1;
