"""A stack frame in, the phase of training that it tells out."""

from __future__ import annotations

import os

from tdbg.model import Phase

_SEP = os.sep

_PYTHON = f"tensorflow{_SEP}python{_SEP}"
_BACKWARD = (
    (
        f"{_PYTHON}eager{_SEP}backprop.py",
        ("GradientTape.gradient", "GradientTape.jacobian", "_gradient_function"),
    ),
    (f"{_PYTHON}eager{_SEP}imperative_grad.py", ("imperative_grad",)),
    (f"{_PYTHON}ops{_SEP}gradients_util.py", ("_GradientsHelper",)),
)
_UPDATE = ("apply_gradients", "apply", "_internal_apply_gradients", "_backend_apply_gradients", "update_step")
_CREATION = (f"{_PYTHON}ops{_SEP}resource_variable_ops.py", "ResourceVariable._init_from_args")


def phase_of(file: str, function: str) -> Phase | None:
    """BACKWARD inside gradient code, UPDATE inside an optimizer's apply, OTHER while a variable is made."""
    for suffix, functions in _BACKWARD:
        if file.endswith(suffix) and function in functions:
            return Phase.BACKWARD
    if f"{_SEP}optimizers{_SEP}" in file or file.endswith(f"training{_SEP}optimizer.py"):
        return Phase.UPDATE if function.rsplit(".", 1)[-1] in _UPDATE else None
    if file.endswith(_CREATION[0]) and function == _CREATION[1]:
        return Phase.OTHER
    return None
