"""A dump and a user's filter in; the tensors that pass it out. A filter that fails is said once and passes nothing."""

from __future__ import annotations

from typing import Any

from tensorflow.python.eager import context

from tdbg.capture import faults
from tdbg.tensorflow.session.dump_dir import DebugDumpDir, DebugTensorDatum, InconvertibleTensorProto
from tdbg.tensorflow.session.prompt import Filter


class TensorFilter:
    """A filter of the user's, which may call TensorFlow on the arrays that it is given: it is called eagerly."""

    def __init__(self, name: str, function: Filter) -> None:
        self.name, self._function, self._has_failed = name, function, False

    def find(self, dump: DebugDumpDir, first_n: int = 0, exclude_nodes: str = "") -> list[DebugTensorDatum]:
        with context.eager_mode():
            return dump.find(self._passes, first_n=first_n, exclude_node_names=exclude_nodes or None)

    def _passes(self, datum: DebugTensorDatum, tensor: Any) -> bool:
        try:
            return bool(self._function(datum, tensor))
        except Exception as error:  # of whatever the user's function makes of a string or an integer
            if not self._has_failed and not isinstance(tensor, InconvertibleTensorProto):
                self._has_failed = True
                text = str(error).splitlines()[0] if str(error) else ""
                faults.say(
                    f"filter {self.name} failed on {datum.tensor_name} ({type(error).__name__}: {text}); tensors on "
                    "which it fails do not pass"
                )
            return False
