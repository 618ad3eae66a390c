"""The functions of the compiled extension in Python and numpy: slower, for machines where it cannot be built.

They have the names of those in native/python/*.c and frameworks/tensorflow/native/*.c, which say what each one takes.
What they record is the same, too, but for one thing: ``graph_tensor`` stands for TensorFlow's ops.
"""

from __future__ import annotations

from tdbg.native.fallback.calls import call_begin, call_end, call_lost
from tdbg.native.fallback.eager_ops import call_tensors, eager
from tdbg.native.fallback.events import after_fork, bad_events, counters, ring_drain, ring_open
from tdbg.native.fallback.kept_values import take_value
from tdbg.native.fallback.makers import forget_makers, maker_of
from tdbg.native.fallback.observations import graph_tensor, push_rows, tensor
from tdbg.native.fallback.shapes import shapes_since
from tdbg.native.fallback.stacks import stack_get, stack_here
from tdbg.native.fallback.stopping import add_break, note_input, set_breaks, set_check
from tdbg.native.fallback.summaries import has_bad, kernel_name, number_names, summarize, use_kernel
from tdbg.native.fallback.switches import set_first_op, set_mode, set_recording, set_step
from tdbg.native.fallback.tensorflow import not_dumped, not_held, register_tensorflow, session_end, set_session
from tdbg.native.record import RECORD

IS_NATIVE = 0
RECORD_BYTES = RECORD.itemsize

__all__ = [
    "IS_NATIVE",
    "RECORD_BYTES",
    "add_break",
    "after_fork",
    "bad_events",
    "call_begin",
    "call_end",
    "call_lost",
    "call_tensors",
    "counters",
    "eager",
    "forget_makers",
    "graph_tensor",
    "has_bad",
    "kernel_name",
    "maker_of",
    "not_dumped",
    "not_held",
    "note_input",
    "number_names",
    "push_rows",
    "register_tensorflow",
    "ring_drain",
    "ring_open",
    "session_end",
    "set_breaks",
    "set_check",
    "set_first_op",
    "set_mode",
    "set_recording",
    "set_session",
    "set_step",
    "shapes_since",
    "stack_get",
    "stack_here",
    "summarize",
    "take_value",
    "tensor",
    "use_kernel",
]
